package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/webhook"
)

const hookURL = "https://example.org/hook"

// newStream is one that is in nobody else's way: its lane is its own.
func (s *suite) newStream(roomID string) webhook.Stream {
	return webhook.Stream{ID: NewID(), ProjectID: s.project.ID, RoomID: roomID, URL: hookURL, Bucket: "lane of " + NewID(), Enqueued: 1, LastSequence: 1}
}

func (s *suite) newDelivery(st webhook.Stream, position int64) webhook.Delivery {
	return webhook.Delivery{ID: NewID(), StreamID: st.ID, Position: position, EventID: NewID(), ProjectID: st.ProjectID, RoomID: st.RoomID, URL: st.URL,
		Type: event.RoomOpened, Sequence: position + 1, Previous: position, Body: trickyTexts[0], State: webhook.Pending, CreatedAt: testTime(int(position))}
}

// leaseStreams claims what is due in a lane, as one does who says so.
func (s *suite) leaseStreams(t *testing.T, lane, claim string, n int, now, until time.Time) (got []webhook.Stream) {
	t.Helper()
	s.write(t, func(ctx context.Context) (err error) {
		got, err = s.db.LeaseStreams(ctx, lane, n, claim, now, until)
		return err
	})
	return got
}

func (s *suite) isDue(t *testing.T, lane string, now time.Time) bool {
	t.Helper()
	lanes, err := s.db.DueBuckets(context.Background(), now)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(lanes, lane)
}

// What is due is claimed once, until the claim ends; a release makes it due
// again when there is more, and only for who has the claim.
func (s *suite) TestDueStreams(t *testing.T) {
	ctx := context.Background()
	st := s.newStream(NewID())
	s.write(t, func(ctx context.Context) error { return s.db.InsertStream(ctx, st, testTime(10)) })
	known, err := s.db.Streams(ctx, s.project.ID, st.RoomID)
	requireEqual(t, known, err, []webhook.Stream{st})
	if s.isDue(t, st.Bucket, testTime(9)) || len(s.leaseStreams(t, st.Bucket, "early", 5, testTime(9), testTime(40))) > 0 {
		t.Error("due before its time")
	}
	if !s.isDue(t, st.Bucket, testTime(10)) {
		t.Error("not due at its time")
	}
	want := st
	want.LeaseID = "first"
	requireEqual(t, s.leaseStreams(t, st.Bucket, "first", 5, testTime(10), testTime(40)), nil, []webhook.Stream{want})
	if s.isDue(t, st.Bucket, testTime(39)) || len(s.leaseStreams(t, st.Bucket, "second", 5, testTime(39), testTime(70))) > 0 {
		t.Error("claimed twice")
	}
	want.LeaseID = "second"
	requireEqual(t, s.leaseStreams(t, st.Bucket, "second", 5, testTime(40), testTime(70)), nil, []webhook.Stream{want})
	lost := st
	lost.LeaseID = "first"
	requireFault(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.ReleaseStream(ctx, lost, testTime(50), testTime(41)) }), fault.Conflict, "claim_lost")

	// Nothing was added since it was claimed.
	release := func(claimed webhook.Stream, due time.Time, now int) {
		t.Helper()
		s.write(t, func(ctx context.Context) error { return s.db.ReleaseStream(ctx, claimed, due, testTime(now)) })
	}
	release(want, time.Time{}, 42)
	if s.isDue(t, st.Bucket, testTime(1000)) {
		t.Error("due with nothing to do")
	}
	extend := func(n int64, now int) {
		st.Enqueued, st.LastSequence = n, n+1
		s.write(t, func(ctx context.Context) error { return s.db.ExtendStream(ctx, st, testTime(now)) })
	}
	extend(2, 50)
	if s.isDue(t, st.Bucket, testTime(49)) || !s.isDue(t, st.Bucket, testTime(50)) {
		t.Error("not due when something was added")
	}
	// Something is added while it is claimed.
	third := s.leaseStreams(t, st.Bucket, "third", 5, testTime(50), testTime(80))
	if len(third) != 1 || third[0].Enqueued != 2 || third[0].LastSequence != 3 {
		t.Fatal(third)
	}
	extend(3, 51)
	if s.isDue(t, st.Bucket, testTime(79)) {
		t.Error("what is added breaks a claim")
	}
	release(third[0], time.Time{}, 55)
	if s.isDue(t, st.Bucket, testTime(54)) || !s.isDue(t, st.Bucket, testTime(55)) {
		t.Error("what was added meanwhile is forgotten")
	}
	fourth := s.leaseStreams(t, st.Bucket, "fourth", 5, testTime(55), testTime(85))
	release(fourth[0], testTime(60), 56)
	if s.isDue(t, st.Bucket, testTime(59)) || !s.isDue(t, st.Bucket, testTime(60)) {
		t.Error("not due when it was to be")
	}
}

// The longest due of a lane come first, and no more than asked for.
func (s *suite) TestDueStreams_OldestFirst(t *testing.T) {
	lane := "lane of " + NewID()
	var ids []string
	for i := range 3 {
		st := s.newStream(NewID())
		st.Bucket = lane
		ids = append(ids, st.ID)
		s.write(t, func(ctx context.Context) error { return s.db.InsertStream(ctx, st, testTime(3-i)) })
	}
	var got []string
	for _, st := range s.leaseStreams(t, lane, "claim", 2, testTime(5), testTime(40)) {
		got = append(got, st.ID)
	}
	slices.Sort(got)
	requireEqual(t, got, nil, []string{ids[1], ids[2]})
}

// Of many who claim at once, each stream has one.
func (s *suite) TestDueStreams_Concurrent(t *testing.T) {
	lane := "lane of " + NewID()
	for range 20 {
		st := s.newStream(NewID())
		st.Bucket = lane
		s.write(t, func(ctx context.Context) error { return s.db.InsertStream(ctx, st, testTime(0)) })
	}
	var mu sync.Mutex
	seen := map[string]int{}
	var work sync.WaitGroup
	for i := range 16 {
		work.Go(func() {
			for _, st := range s.leaseStreams(t, lane, fmt.Sprint(i), 3, testTime(1), testTime(40)) {
				mu.Lock()
				seen[st.ID]++
				mu.Unlock()
			}
		})
	}
	work.Wait()
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was claimed %d times", id, n)
		}
	}
}

func (s *suite) TestWebhookDeliveries(t *testing.T) {
	ctx := context.Background()
	st := s.newStream(NewID())
	first, second := s.newDelivery(st, 1), s.newDelivery(st, 2)
	second.Type, second.Replay = event.RoomEnded, true
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertDelivery(ctx, second); err != nil {
			return err
		}
		return s.db.InsertDelivery(ctx, first)
	})
	got, _, err := s.db.NextDelivery(ctx, st.ID)
	requireEqual(t, got, err, first)
	attempts := []webhook.Attempt{{N: 1, At: testTime(5), Duration: 15 * time.Second, Error: trickyTexts[2]}, {N: 2, At: testTime(9), Duration: time.Millisecond, Status: 204, ResponseBody: trickyTexts[3]}}
	for i, a := range attempts {
		first.Attempts, first.Step = i+1, i+1
		if i == 1 {
			first.State, first.DoneAt = webhook.Delivered, testTime(9)
		}
		s.write(t, func(ctx context.Context) error { return s.db.RecordAttempt(ctx, first, a) })
	}
	got, err = s.db.Delivery(ctx, first.ID)
	requireEqual(t, got, err, first)
	kept, err := s.db.Attempts(ctx, first.ID)
	requireEqual(t, kept, err, attempts)
	got, _, err = s.db.NextDelivery(ctx, st.ID)
	requireEqual(t, got, err, second)
	_, _, err = s.db.NextDelivery(ctx, NewID())
	requireFault(t, err, fault.NotFound, "delivery_not_found")
	_, err = s.db.Delivery(ctx, NewID())
	requireFault(t, err, fault.NotFound, "delivery_not_found")

	room := webhook.Filter{RoomID: st.RoomID, Limit: 10}
	for what, tc := range map[string]struct {
		change func(*webhook.Filter)
		want   []webhook.Delivery
	}{
		"all":       {func(*webhook.Filter) {}, []webhook.Delivery{second, first}},
		"oldest":    {func(f *webhook.Filter) { f.OldestFirst = true }, []webhook.Delivery{first, second}},
		"project":   {func(f *webhook.Filter) { f.ProjectID = NewID() }, nil},
		"event":     {func(f *webhook.Filter) { f.EventID = first.EventID }, []webhook.Delivery{first}},
		"url":       {func(f *webhook.Filter) { f.URL = hookURL + "/other" }, nil},
		"type":      {func(f *webhook.Filter) { f.Type = event.RoomEnded }, []webhook.Delivery{second}},
		"state":     {func(f *webhook.Filter) { f.State = webhook.Delivered }, []webhook.Delivery{first}},
		"since":     {func(f *webhook.Filter) { f.Since = testTime(2) }, []webhook.Delivery{second}},
		"before":    {func(f *webhook.Filter) { f.Before = testTime(2) }, []webhook.Delivery{first}},
		"cursor":    {func(f *webhook.Filter) { f.Cursor = second.ID }, []webhook.Delivery{first}},
		"limit":     {func(f *webhook.Filter) { f.Limit = 1 }, []webhook.Delivery{second}},
		"sent":      {func(f *webhook.Filter) { f.Sent = true }, []webhook.Delivery{first}},
		"from then": {func(f *webhook.Filter) { f.OldestFirst, f.Cursor = true, first.ID }, []webhook.Delivery{second}},
	} {
		f := room
		tc.change(&f)
		got, err := s.db.Deliveries(ctx, f)
		if err != nil || len(got) != len(tc.want) {
			t.Errorf("%s: %+v %v", what, got, err)
			continue
		}
		requireEqual(t, got, err, tc.want)
	}
}

func (s *suite) TestWebhookTargets(t *testing.T) {
	ctx := context.Background()
	url := hookURL + "/" + NewID()
	known, err := s.db.Target(ctx, s.project.ID, url)
	requireEqual(t, known, err, webhook.Target{})
	fail := func(at int) (got webhook.Target) {
		t.Helper()
		s.write(t, func(ctx context.Context) (err error) {
			got, err = s.db.RecordTargetFailure(ctx, s.project.ID, url, testTime(at))
			return err
		})
		return got
	}
	want := webhook.Target{ProjectID: s.project.ID, URL: url, Failures: 1, FailingSince: testTime(1)}
	requireEqual(t, fail(1), nil, want)
	want.Failures = 2
	requireEqual(t, fail(2), nil, want)
	want.PausedAt, want.ProbeAt, want.Notice = testTime(3), testTime(10), trickyTexts[0]
	s.write(t, func(ctx context.Context) error { return s.db.PauseTarget(ctx, want) })
	known, err = s.db.Target(ctx, s.project.ID, url)
	requireEqual(t, known, err, want)
	for _, of := range []string{s.project.ID, ""} {
		all, err := s.db.Targets(ctx, of)
		if i := slices.IndexFunc(all, func(t webhook.Target) bool { return t.URL == url }); err != nil || i < 0 {
			t.Errorf("%v %v", all, err)
		} else {
			requireEqual(t, all[i], nil, want)
		}
	}

	probe := func(now, next int) (turn bool) {
		t.Helper()
		s.write(t, func(ctx context.Context) (err error) {
			turn, err = s.db.AcquireProbe(ctx, s.project.ID, url, testTime(now), testTime(next))
			return err
		})
		return turn
	}
	if probe(9, 19) || !probe(10, 20) || probe(10, 20) {
		t.Error("a probe is not one turn at its time")
	}

	// What is due waits; what is claimed, or was postponed, does not move
	// until the target takes webhooks again.
	waiting, busy := s.newStream(NewID()), s.newStream(NewID())
	waiting.URL, busy.URL = url, url
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertStream(ctx, waiting, testTime(0)); err != nil {
			return err
		}
		if err := s.db.InsertStream(ctx, busy, testTime(0)); err != nil {
			return err
		}
		return s.db.InsertDelivery(ctx, s.newDelivery(waiting, 1))
	})
	want.ProbeAt = testTime(20)
	_, held, err := s.db.NextDelivery(ctx, waiting.ID)
	requireEqual(t, held, err, want)
	s.leaseStreams(t, busy.Bucket, "busy", 1, testTime(11), testTime(41))
	s.write(t, func(ctx context.Context) error {
		return s.db.Postpone(ctx, s.project.ID, url, testTime(11), testTime(20))
	})
	if s.isDue(t, waiting.Bucket, testTime(19)) || !s.isDue(t, waiting.Bucket, testTime(20)) || s.isDue(t, busy.Bucket, testTime(40)) {
		t.Error("not postponed")
	}
	s.write(t, func(ctx context.Context) error { return s.db.ClearTarget(ctx, s.project.ID, url, testTime(12)) })
	known, err = s.db.Target(ctx, s.project.ID, url)
	requireEqual(t, known, err, webhook.Target{})
	_, held, err = s.db.NextDelivery(ctx, waiting.ID)
	requireEqual(t, held, err, webhook.Target{})
	if !s.isDue(t, waiting.Bucket, testTime(12)) || s.isDue(t, busy.Bucket, testTime(40)) {
		t.Error("what waits is not due")
	}
}

func (s *suite) TestWebhooks_Prune(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	own := suite{open: s.open, db: db, project: Project(t, db)}
	over, going := own.insertRoom(t, Room(own.project.ID)), own.insertRoom(t, Room(own.project.ID))
	over.EndedAt = testTime(1)
	var streams []webhook.Stream
	var deliveries []webhook.Delivery
	own.write(t, func(ctx context.Context) error {
		streams, deliveries = nil, nil
		if err := db.UpdateRoom(ctx, over); err != nil {
			return err
		}
		for i, roomID := range []string{over.ID, going.ID, ""} {
			st := own.newStream(roomID)
			d := own.newDelivery(st, int64(i))
			streams, deliveries = append(streams, st), append(deliveries, d)
			if err := db.InsertStream(ctx, st, testTime(1)); err != nil {
				return err
			}
			if err := db.InsertDelivery(ctx, d); err != nil {
				return err
			}
			if err := db.RecordAttempt(ctx, d, webhook.Attempt{N: 1, At: testTime(0)}); err != nil {
				return err
			}
		}
		return nil
	})
	prune := func(before, limit int) (n int) {
		t.Helper()
		own.write(t, func(ctx context.Context) (err error) {
			if n, err = db.PruneDeliveries(ctx, testTime(before), limit); err != nil {
				return err
			}
			return db.PruneStreams(ctx, testTime(before), limit)
		})
		return n
	}
	if n := prune(1, 10); n != 1 {
		t.Errorf("%d pruned", n)
	}
	if attempts, err := db.Attempts(ctx, deliveries[0].ID); err != nil || len(attempts) != 0 {
		t.Error(attempts, err)
	}
	if n := prune(100, 1); n != 1 {
		t.Errorf("%d pruned with a limit of 1", n)
	}
	left, err := db.Deliveries(ctx, webhook.Filter{Limit: 10})
	requireEqual(t, left, err, deliveries[2:])
	has := func(roomID string) bool {
		all, err := db.Streams(ctx, own.project.ID, roomID)
		if err != nil {
			t.Fatal(err)
		}
		return len(all) == 1
	}
	if !has(over.ID) {
		t.Error("a stream that is due was pruned")
	}
	for _, st := range streams {
		for _, claimed := range own.leaseStreams(t, st.Bucket, "claim", 1, testTime(2), testTime(30)) {
			own.write(t, func(ctx context.Context) error { return db.ReleaseStream(ctx, claimed, time.Time{}, testTime(2)) })
		}
	}
	if prune(1, 10); !has(over.ID) {
		t.Error("a stream was pruned before its time")
	}
	if prune(100, 10); has(over.ID) || !has(going.ID) || !has("") {
		t.Error("the streams of rooms that are over go, and no others")
	}
}

// Marks are told to nobody, and counted over: what comes before an event is
// found before the page it is on, too.
func (s *suite) TestDeliveredEvents(t *testing.T) {
	ctx := context.Background()
	r, other := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	var want []webhook.DeliveredEvent
	previous := int64(0)
	for i, kind := range []event.Type{event.AttendanceMarked, event.RoomOpened, event.AttendanceMarked, event.AttendanceMarked, event.RoomStarted, event.RoomEnded, event.AttendanceMarked} {
		e := event.Event{ID: NewID(), Type: kind, ProjectID: s.project.ID, RoomID: r.ID, Sequence: int64(i + 1), At: testTime(i), Data: event.Data{RoomID: r.ID, RoomType: "video"}}
		if kind != event.AttendanceMarked {
			want = append(want, webhook.DeliveredEvent{Event: e, Previous: previous})
			previous = e.Sequence
		}
		elsewhere := e
		elsewhere.ID, elsewhere.RoomID = NewID(), other.ID
		s.write(t, func(ctx context.Context) error { return s.db.AppendEvents(ctx, []event.Event{e, elsewhere}) })
	}
	for _, c := range []struct {
		after int64
		limit int
		want  []webhook.DeliveredEvent
	}{{0, 10, want}, {0, 1, want[:1]}, {1, 2, want[:2]}, {2, 2, want[1:]}, {3, 1, want[1:2]}, {4, 2, want[1:]}, {5, 10, want[2:]}, {6, 10, nil}, {7, 10, nil}, {1 << 52, 10, nil}} {
		got, err := s.db.DeliveredEvents(ctx, r.ID, c.after, c.limit)
		requireEqual(t, got, err, c.want)
	}
	got, err := s.db.DeliveredEvents(ctx, NewID(), 0, 10)
	requireEqual(t, got, err, nil)
}

func (s *suite) TestProjectEvents(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	p := Project(t, db)
	n, err := db.ProjectSequence(ctx, p.ID)
	requireEqual(t, n, err, 0)
	yes, ends := true, testTime(60)
	want := []event.ProjectEvent{
		{ID: NewID(), Type: event.ProjectStatusChanged, ProjectID: p.ID, Sequence: 1, At: testTime(1), Data: event.ProjectData{Status: "active", Suspended: &yes}},
		{ID: NewID(), Type: event.KeyRotated, ProjectID: p.ID, Sequence: 2, At: testTime(2), Data: event.ProjectData{Credential: event.CredentialKey, OverlapEndsAt: &ends}},
	}
	for _, e := range want {
		if err := db.Write(ctx, func(ctx context.Context) error { return db.AppendProjectEvent(ctx, e) }); err != nil {
			t.Fatal(err)
		}
	}
	n, err = db.ProjectSequence(ctx, p.ID)
	requireEqual(t, n, err, 2)
	got, err := db.ProjectEvents(ctx, p.ID, 0)
	requireEqual(t, got, err, want)
	got, err = db.ProjectEvents(ctx, p.ID, 1)
	requireEqual(t, got, err, want[1:])
	twice := want[0]
	twice.ID = NewID()
	requireConstraintError(t, db.Write(ctx, func(ctx context.Context) error { return db.AppendProjectEvent(ctx, twice) }))
}

// An overlap is told of once, while it goes on.
func (s *suite) TestNotices(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	p := Project(t, db)
	keys, err := db.APIKeys(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	k := keys[0]
	k.Slot, k.RetiringSince, k.OverlapEndsAt = key.Overlap, testTime(0), testTime(7200)
	secrets, err := db.ProjectSecrets(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	secret := secrets[0]
	secret.Slot, secret.RetiringSince, secret.OverlapEndsAt = key.Overlap, testTime(0), testTime(100)
	s2 := suite{db: db}
	s2.write(t, func(ctx context.Context) error {
		if err := db.UpdateAPIKey(ctx, k, testTime(0)); err != nil {
			return err
		}
		return db.UpdateProjectSecret(ctx, secret, testTime(0))
	})
	take := func(at int) (got []key.Notice) {
		t.Helper()
		s2.write(t, func(ctx context.Context) (err error) {
			got, err = db.ConsumeNotices(ctx, p.ID, testTime(at))
			return err
		})
		return got
	}
	none, err := db.ProjectsWithDueNotices(ctx, testTime(49))
	requireEqual(t, none, err, nil)
	due, err := db.ProjectsWithDueNotices(ctx, testTime(50))
	requireEqual(t, due, err, []string{p.ID})
	requireEqual(t, take(50), nil, []key.Notice{{Credential: event.CredentialSecret, EndsAt: testTime(100)}})
	requireEqual(t, take(50), nil, nil)
	due, err = db.ProjectsWithDueNotices(ctx, testTime(3600))
	requireEqual(t, due, err, []string{p.ID})
	none, err = db.ProjectsWithDueNotices(ctx, testTime(7200)) // it is over
	requireEqual(t, none, err, nil)
	requireEqual(t, take(3600), nil, []key.Notice{{Credential: event.CredentialKey, EndsAt: testTime(7200)}})
}
