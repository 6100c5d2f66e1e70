package store_test

import (
	"context"
	"testing"
	"time"

	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

// Two nodes that claim the same stream in the same moment: the second waits
// for the first one's lock, and then finds that it is taken.
func TestClaimWhileAnotherNodeClaims(t *testing.T) {
	t.Parallel()
	p := place{url: storetest.Postgres(t)}
	one, other, raw := p.open(t), p.open(t), p.raw(t)
	project := storetest.Project(t, one)
	now := time.Now()
	st := webhook.Stream{ID: storetest.NewID(), ProjectID: project.ID, URL: "https://example.org", Lane: "lane", Enqueued: 1, LastSequence: 1}
	if err := one.Write(t.Context(), func(ctx context.Context) error { return one.InsertStream(ctx, st, now) }); err != nil {
		t.Fatal(err)
	}
	second := make(chan []webhook.Stream, 1)
	err := one.Write(t.Context(), func(ctx context.Context) error {
		first, err := one.Claim(ctx, st.Lane, 1, "first", now, now.Add(time.Minute))
		if err != nil || len(first) != 1 {
			t.Errorf("%v %v", first, err)
			return err
		}
		go func() {
			var got []webhook.Stream
			err := other.Write(context.Background(), func(ctx context.Context) (err error) {
				got, err = other.Claim(ctx, st.Lane, 1, "second", now, now.Add(time.Minute))
				return err
			})
			if err != nil {
				t.Error(err)
			}
			second <- got
		}()
		for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
			if err := raw.QueryRow(`SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&waiting); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-second; len(got) != 0 {
		t.Errorf("claimed twice: %+v", got)
	}
}
