package store_test

import (
	"context"
	"testing"
	"time"

	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

// If two nodes lease the same stream at the same time, the second gets none and
// does not wait.
func TestDueStreams_ConcurrentNodes(t *testing.T) {
	t.Parallel()
	p := storetest.Database{URL: storetest.Postgres(t)}
	one, other := p.Open(t), p.Open(t)
	project := storetest.Project(t, one)
	now := time.Now()
	st := webhook.Stream{
		ID:           storetest.NewID(),
		ProjectID:    project.ID,
		URL:          "https://example.org",
		Bucket:       "bucket",
		Enqueued:     1,
		LastSequence: 1,
	}
	err := one.Write(t.Context(), func(ctx context.Context) error { return one.InsertStream(ctx, st, now) })
	if err != nil {
		t.Fatal(err)
	}
	err = one.Write(t.Context(), func(ctx context.Context) error {
		first, err := one.LeaseStreams(ctx, st.Bucket, 1, "first", now, now.Add(time.Minute))
		if err != nil || len(first) != 1 {
			t.Errorf("first lease: got %v, %v, want one stream", first, err)
			return err
		}
		var second []webhook.Stream
		err = other.Write(context.Background(), func(ctx context.Context) (err error) {
			second, err = other.LeaseStreams(ctx, st.Bucket, 1, "second", now, now.Add(time.Minute))
			return err
		})
		// A lease that waited for the lock, which this transaction holds, would fail.
		if err != nil || len(second) != 0 {
			t.Errorf("second lease: got %v, %v, want no stream and no wait", second, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
