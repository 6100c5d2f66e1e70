package store_test

import (
	"context"
	"testing"
	"time"

	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

// Two nodes that claim the same stream in the same moment: the second does not
// have it, and does not wait.
func TestDueStreams_ConcurrentNodes(t *testing.T) {
	t.Parallel()
	p := testDatabase{url: storetest.Postgres(t)}
	one, other := p.open(t), p.open(t)
	project := storetest.Project(t, one)
	now := time.Now()
	st := webhook.Stream{ID: storetest.NewID(), ProjectID: project.ID, URL: "https://example.org", Bucket: "lane", Enqueued: 1, LastSequence: 1}
	if err := one.Write(t.Context(), func(ctx context.Context) error { return one.InsertStream(ctx, st, now) }); err != nil {
		t.Fatal(err)
	}
	err := one.Write(t.Context(), func(ctx context.Context) error {
		first, err := one.LeaseStreams(ctx, st.Bucket, 1, "first", now, now.Add(time.Minute))
		if err != nil || len(first) != 1 {
			t.Errorf("%v %v", first, err)
			return err
		}
		var second []webhook.Stream
		began := time.Now()
		err = other.Write(context.Background(), func(ctx context.Context) (err error) {
			second, err = other.LeaseStreams(ctx, st.Bucket, 1, "second", now, now.Add(time.Minute))
			return err
		})
		if err != nil || len(second) != 0 || time.Since(began) > lockTimeout {
			t.Errorf("claimed %v %v after %s", second, err, time.Since(began))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lockTimeout is what a transaction waits for another one's lock.
const lockTimeout = 200 * time.Millisecond
