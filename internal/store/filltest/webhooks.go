package filltest

import (
	"context"
	"time"

	"parley/internal/project"
	"parley/internal/store"
	"parley/internal/webhook"
)

const (
	failedEvery    = 100 // every hundredth meeting has a delivery that failed
	failedAttempts = 8   // fewer than the sender makes
	attemptTime    = 50 * time.Millisecond
)

// addWebhooks adds the deliveries of the events of meetings as they are after they were sent.
// first is the number of the first meeting.
func (f *filler) addWebhooks(ctx context.Context, first int, meetings []meeting) error {
	sent := &sentWebhooks{DB: f.s}
	for n, m := range meetings {
		at := m.room.EndedAt
		hooks := webhook.NewService(sent, func() time.Time { return at }, func() string { return newID(at) })
		if _, err := hooks.RoomCreated(ctx, project.Settings{}, f.past.WebhookURL, m.events); err != nil {
			return err
		}
		if (first+n)%failedEvery == 0 {
			sent.failLast()
		}
	}
	return sent.store(ctx)
}

// sentWebhooks collects the deliveries that the service enqueues, so that it can store them
// table by table.
type sentWebhooks struct {
	*store.DB

	streams    []stream
	deliveries []webhook.Delivery
}

// stream is a stream and when it was inserted.
type stream struct {
	webhook.Stream
	at time.Time
}

func (s *sentWebhooks) InsertStream(_ context.Context, st webhook.Stream, now time.Time) error {
	s.streams = append(s.streams, stream{st, now})
	return nil
}

func (s *sentWebhooks) InsertDelivery(_ context.Context, d webhook.Delivery) error {
	d.State, d.Attempts, d.DoneAt = webhook.Delivered, 1, d.CreatedAt.Add(attemptTime)
	s.deliveries = append(s.deliveries, d)
	return nil
}

// failLast marks the delivery that was added last as failed.
func (s *sentWebhooks) failLast() {
	d := &s.deliveries[len(s.deliveries)-1]
	d.State, d.Attempts, d.Step = webhook.Failed, failedAttempts, failedAttempts-1
}

func (s *sentWebhooks) store(ctx context.Context) error {
	for _, st := range s.streams {
		if err := s.DB.InsertStream(ctx, st.Stream, st.at); err != nil {
			return err
		}
	}
	for _, d := range s.deliveries {
		if err := s.DB.InsertDelivery(ctx, d); err != nil {
			return err
		}
	}
	for _, d := range s.deliveries {
		for n := range d.Attempts {
			a := webhook.Attempt{N: n + 1, At: d.CreatedAt, Duration: attemptTime, Status: 200}
			if d.State == webhook.Failed {
				a.Status, a.Error = 0, "no response within 10 s"
			}
			if err := s.RecordAttempt(ctx, d, a); err != nil {
				return err
			}
		}
	}
	for _, st := range s.streams {
		if err := s.ReleaseStream(ctx, st.Stream, time.Time{}, st.at); err != nil {
			return err
		}
	}
	return nil
}
