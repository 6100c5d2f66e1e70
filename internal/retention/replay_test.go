package retention_test

import (
	"context"
	"testing"
	"time"

	"parley/internal/retention"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

// interruptedStore runs a function once after a page of deliveries was read.
type interruptedStore struct {
	*store.DB
	interrupt func()
}

func (s *interruptedStore) Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, error) {
	page, err := s.DB.Deliveries(ctx, f)
	if interrupt := s.interrupt; interrupt != nil {
		s.interrupt = nil
		interrupt()
	}
	return page, err
}

// A replay that has read deliveries before an erasure and copies them afterwards does not bring
// the person back.
func TestErase_DuringReplay(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		r := f.meeting(f.project.ID, f.now.Add(-time.Hour), guest{"Amina", ""}, guest{"Zebulon", "user-7"})
		sent, err := f.db.Deliveries(ctx, webhook.Filter{RoomID: r.ID, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		f.write(func(ctx context.Context) error {
			for _, d := range sent {
				d.State, d.Attempts, d.DoneAt = webhook.Delivered, 1, f.now
				if err := f.db.RecordAttempt(ctx, d, webhook.Attempt{N: 1, At: f.now, Status: 200}); err != nil {
					return err
				}
			}
			return nil
		})
		hooks := webhook.NewService(&interruptedStore{f.db, func() {
			if _, err := f.retention.Erase(ctx, retention.Person{ProjectID: f.project.ID, UserID: "user-7"}); err != nil {
				t.Error(err)
			}
		}}, func() time.Time { return f.now }, storetest.NewID)
		before := f.rows("Amina")["webhook_deliveries"]
		if n, err := hooks.Replay(ctx, webhook.Replay{ProjectID: f.project.ID, RoomID: r.ID}); err != nil || n != len(sent) {
			t.Fatalf("replay: got %d deliveries, %v, want %d", n, err, len(sent))
		}
		if got := f.rows("Zebulon"); len(got) != 0 {
			t.Errorf("rows with the name: got %v, want none", got)
		}
		if got := f.rows("Amina")["webhook_deliveries"]; got != 2*before {
			t.Errorf("deliveries with the other name: got %d, want %d and as many copies", got, before)
		}
	})
}
