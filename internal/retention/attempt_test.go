package retention_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/retention"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/webhook"
	"parley/internal/webhook/sender"
)

// echo is a receiver that returns what it gets. It runs a function while it has the first
// message that contains a text.
type echo struct {
	text string
	run  func()
	once sync.Once
}

func (e *echo) Post(_ context.Context, m sender.Message) sender.Response {
	if strings.Contains(string(m.Body), e.text) {
		e.once.Do(e.run)
	}
	return sender.Response{Status: http.StatusOK, Body: string(m.Body)}
}

// A receiver that returns its message, and has got it before an erasure, does not bring the person back.
func TestErase_DuringAttempt(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		r := f.meeting(f.project.ID, f.now.Add(-time.Hour), guest{"Amina", ""}, guest{"Zebulon", "user-7"})
		receiver := &echo{text: "Zebulon", run: func() {
			person := retention.Person{ProjectID: f.project.ID, UserID: "user-7"}
			if done, err := f.retention.Erase(t.Context(), person); err != nil || done.Deliveries == 0 {
				t.Errorf("erase during an attempt: got %+v, %v, want deliveries", done, err)
			}
		}}
		clock := func() time.Time { return f.now }
		projects := project.NewService(f.db, clock, storetest.NewID, func(string) {})
		keys := key.NewService(f.db, projects, clock, storetest.NewID)
		hooks := sender.NewService(f.db, f.webhooks, keys, receiver, clock, storetest.NewID, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService}))
		var running sync.WaitGroup
		running.Go(func() { hooks.Run(ctx) })
		defer running.Wait()
		defer stop()
		testkit.Eventually(t, "all deliveries are sent", func() bool {
			pending, err := f.db.Deliveries(ctx, webhook.Filter{RoomID: r.ID, State: webhook.Pending, Limit: 1})
			return err == nil && len(pending) == 0
		})
		if got := f.rows("Zebulon"); len(got) != 0 {
			t.Errorf("rows with the name: got %v, want none", got)
		}
		if got := f.rows("Amina")["webhook_attempts"]; got == 0 {
			t.Error("responses with the other name: got none, want those of the receiver")
		}
	})
}
