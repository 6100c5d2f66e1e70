package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/webhook"
)

// newStream returns a stream in its own bucket, so that tests do not interfere.
func (s *suite) newStream(roomID string) webhook.Stream {
	return webhook.Stream{
		ID:           NewID(),
		ProjectID:    s.project.ID,
		RoomID:       roomID,
		URL:          hookURL,
		Bucket:       "bucket " + NewID(),
		Enqueued:     1,
		LastSequence: 1,
	}
}

// leaseStreams leases at most n due streams of a bucket.
func (s *suite) leaseStreams(
	t *testing.T, bucket, leaseID string, n int, now, until time.Time,
) (got []webhook.Stream) {
	t.Helper()
	s.write(t, func(ctx context.Context) (err error) {
		got, err = s.db.LeaseStreams(ctx, bucket, n, leaseID, now, until)
		return err
	})
	return got
}

func (s *suite) isDue(t *testing.T, bucket string, now time.Time) bool {
	t.Helper()
	buckets, err := s.db.DueBuckets(patient(), now)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(buckets, bucket)
}

// A due stream is leased once until the lease expires. Its release makes it due
// again if deliveries were added, and fails after the lease was lost.
func (s *suite) testDueStreams(t *testing.T) {
	ctx := patient()
	st := s.newStream(NewID())
	s.write(t, func(ctx context.Context) error { return s.db.InsertStream(ctx, st, testTime(10)) })
	known, err := s.db.Streams(ctx, s.project.ID, st.RoomID)
	requireEqual(t, known, err, []webhook.Stream{st})
	if s.isDue(t, st.Bucket, testTime(9)) ||
		len(s.leaseStreams(t, st.Bucket, "early", 5, testTime(9), testTime(40))) > 0 {
		t.Error("before the due time: got a due stream, want none")
	}
	if !s.isDue(t, st.Bucket, testTime(10)) {
		t.Error("at the due time: got no due stream, want one")
	}
	want := st
	want.LeaseID = "first"
	requireEqual(t, s.leaseStreams(t, st.Bucket, "first", 5, testTime(10), testTime(40)), nil, []webhook.Stream{want})
	if s.isDue(t, st.Bucket, testTime(39)) ||
		len(s.leaseStreams(t, st.Bucket, "second", 5, testTime(39), testTime(70))) > 0 {
		t.Error("during a lease: got a due stream, want none")
	}
	want.LeaseID = "second"
	requireEqual(t, s.leaseStreams(t, st.Bucket, "second", 5, testTime(40), testTime(70)), nil, []webhook.Stream{want})
	lost := st
	lost.LeaseID = "first"
	err = s.db.Write(ctx, func(ctx context.Context) error {
		return s.db.ReleaseStream(ctx, lost, testTime(50), testTime(41))
	})
	requireFault(t, err, fault.Conflict, "lease_lost")

	// No delivery was added during the lease.
	release := func(leased webhook.Stream, due time.Time, now int) {
		t.Helper()
		s.write(t, func(ctx context.Context) error { return s.db.ReleaseStream(ctx, leased, due, testTime(now)) })
	}
	release(want, time.Time{}, 42)
	if s.isDue(t, st.Bucket, testTime(1000)) {
		t.Error("after the release without a new delivery: got a due stream, want none")
	}
	extend := func(n int64, now int) {
		st.Enqueued, st.LastSequence = n, n+1
		s.write(t, func(ctx context.Context) error { return s.db.ExtendStream(ctx, st, testTime(now)) })
	}
	extend(2, 50)
	if early, due := s.isDue(t, st.Bucket, testTime(49)), s.isDue(t, st.Bucket, testTime(50)); early || !due {
		t.Errorf("delivery added at 50: got due at 49 %v, at 50 %v, want false, true", early, due)
	}
	// A delivery is added during a lease.
	third := s.leaseStreams(t, st.Bucket, "third", 5, testTime(50), testTime(80))
	if len(third) != 1 || third[0].Enqueued != 2 || third[0].LastSequence != 3 {
		t.Fatalf("got %+v, want one stream with Enqueued 2 and LastSequence 3", third)
	}
	extend(3, 51)
	if s.isDue(t, st.Bucket, testTime(79)) {
		t.Error("after a new delivery during a lease: got a due stream, want none")
	}
	release(third[0], time.Time{}, 55)
	if early, due := s.isDue(t, st.Bucket, testTime(54)), s.isDue(t, st.Bucket, testTime(55)); early || !due {
		t.Errorf("delivery added during a lease until 55: got due at 54 %v, at 55 %v, want false, true", early, due)
	}
	fourth := s.leaseStreams(t, st.Bucket, "fourth", 5, testTime(55), testTime(85))
	release(fourth[0], testTime(60), 56)
	if early, due := s.isDue(t, st.Bucket, testTime(59)), s.isDue(t, st.Bucket, testTime(60)); early || !due {
		t.Errorf("ReleaseStream until 60: got due at 59 %v, at 60 %v, want false, true", early, due)
	}
}

// LeaseStreams returns the streams that are due for the longest time, at most n.
func (s *suite) testDueStreams_OldestFirst(t *testing.T) {
	bucket := "bucket " + NewID()
	var ids []string
	for i := range 3 {
		st := s.newStream(NewID())
		st.Bucket = bucket
		ids = append(ids, st.ID)
		s.write(t, func(ctx context.Context) error { return s.db.InsertStream(ctx, st, testTime(3-i)) })
	}
	var got []string
	for _, st := range s.leaseStreams(t, bucket, "lease", 2, testTime(5), testTime(40)) {
		got = append(got, st.ID)
	}
	slices.Sort(got)
	requireEqual(t, got, nil, []string{ids[1], ids[2]})
}

// Concurrent calls of LeaseStreams never lease the same stream.
func (s *suite) testDueStreams_Concurrent(t *testing.T) {
	bucket := "bucket " + NewID()
	for range 20 {
		st := s.newStream(NewID())
		st.Bucket = bucket
		s.write(t, func(ctx context.Context) error { return s.db.InsertStream(ctx, st, testTime(0)) })
	}
	var mu sync.Mutex
	seen := map[string]int{}
	var work sync.WaitGroup
	for i := range 16 {
		work.Go(func() {
			for _, st := range s.leaseStreams(t, bucket, fmt.Sprint(i), 3, testTime(1), testTime(40)) {
				mu.Lock()
				seen[st.ID]++
				mu.Unlock()
			}
		})
	}
	work.Wait()
	for id, n := range seen {
		if n != 1 {
			t.Errorf("stream %s: got %d leases, want one", id, n)
		}
	}
}
