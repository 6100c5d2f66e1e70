package webhook

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
)

// Filter selects deliveries. Empty fields match everything.
type Filter struct {
	ProjectID string
	RoomID    string
	EventID   string
	URL       string
	Type      event.Type
	State     State
	Since     time.Time // created at this time or later
	Before    time.Time // created before this time
	Cursor    string    // id of a delivery; the page begins after it
	Limit     int

	OldestFirst bool
	Sent        bool // excludes replays and pending deliveries
}

// List returns deliveries, the newest first. The id of the last one is the
// cursor of the next page.
func (s *Service) List(ctx context.Context, f Filter) ([]Delivery, error) {
	return s.store.Deliveries(ctx, f)
}

// Show returns a delivery with its attempts, or NotFound.
func (s *Service) Show(ctx context.Context, id string) (Delivery, []Attempt, error) {
	d, err := s.store.Delivery(ctx, id)
	if err != nil {
		return Delivery{}, nil, err
	}
	attempts, err := s.store.Attempts(ctx, id)
	return d, attempts, err
}

// Targets returns the URLs of a project that fail or are paused; those of all
// projects when the id is empty.
func (s *Service) Targets(ctx context.Context, projectID string) ([]Target, error) {
	return s.store.Targets(ctx, projectID)
}

// Resume lifts the pause of a target and sends the deliveries that wait for it.
// NotFound when the target is not paused.
func (s *Service) Resume(ctx context.Context, projectID, url string) error {
	err := s.store.Write(ctx, func(ctx context.Context) error {
		t, err := s.store.Target(ctx, projectID, url)
		if err != nil {
			return err
		}
		if !t.Paused() {
			return fault.New(fault.NotFound, "target_not_paused", "this target is not paused")
		}
		return s.store.ClearTarget(ctx, projectID, url, s.now())
	})
	if err == nil {
		s.Wake()
	}
	return err
}

// Replay selects the deliveries to send again: those of an event, of a room or
// of a period. Fields that are set must all match.
type Replay struct {
	ProjectID string
	EventID   string
	RoomID    string
	Since     time.Time
	Before    time.Time
	URL       string // only deliveries to this target; empty for all targets
}

const replayBatch = 200

// Replay sends deliveries of the last 30 days again, to the same target and in
// the same order. They have streams of their own, so that they do not delay new
// events. It returns the number of deliveries it created; NotFound when none
// matches.
func (s *Service) Replay(ctx context.Context, q Replay) (int, error) {
	if q.EventID == "" && q.RoomID == "" && (q.Since.IsZero() || q.Before.IsZero()) {
		return 0, fault.Invalidf("a replay needs event_id, room_id, or both since and before")
	}
	f := Filter{ProjectID: q.ProjectID, EventID: q.EventID, RoomID: q.RoomID, URL: q.URL,
		Since: q.Since, Before: q.Before,
		Limit: replayBatch, OldestFirst: true, Sent: true}
	id, created := s.newID(), 0
	streams := map[string]Stream{} // by the id of the original stream
	for {
		page, err := s.store.Deliveries(ctx, f)
		if err != nil {
			return created, err
		}
		if len(page) == 0 {
			break
		}
		var touched map[string]Stream
		err = s.store.Write(ctx, func(ctx context.Context) (err error) {
			touched, err = s.enqueueReplay(ctx, id, page, streams)
			return err
		})
		if err != nil {
			return created, err
		}
		maps.Copy(streams, touched)
		created += len(page)
		f.Cursor = page[len(page)-1].ID
	}
	if created == 0 {
		return 0, fault.New(fault.NotFound, "nothing_to_replay", "no delivery of the last 30 days matches")
	}
	s.Wake()
	return created, nil
}

// enqueueReplay copies deliveries into the streams of the replay, and returns
// those streams by the id of the original stream.
func (s *Service) enqueueReplay(ctx context.Context, replay string, page []Delivery,
	streams map[string]Stream) (touched map[string]Stream, err error) {
	now := s.now()
	touched = map[string]Stream{}
	var pending []Delivery
	for _, d := range page {
		stream, seen := touched[d.StreamID]
		if !seen {
			if stream, seen = streams[d.StreamID]; !seen {
				stream = Stream{ID: s.newID(), ProjectID: d.ProjectID, RoomID: d.RoomID, URL: d.URL, Replay: replay,
					Bucket: bucketName(d.ProjectID, d.URL)}
			}
		}
		stream.Enqueued++
		stream.LastSequence = d.Sequence
		touched[d.StreamID] = stream
		d.ID, d.StreamID, d.Position, d.CreatedAt = s.newID(), stream.ID, stream.Enqueued, now
		d.Replay, d.State, d.Attempts, d.Step, d.DoneAt = true, Pending, 0, 0, time.Time{}
		pending = append(pending, d)
	}
	for original, stream := range touched {
		save := s.store.InsertStream
		if _, known := streams[original]; known {
			save = s.store.ExtendStream
		}
		if err := save(ctx, stream, now); err != nil {
			return nil, err
		}
	}
	for _, d := range pending {
		if err := s.store.InsertDelivery(ctx, d); err != nil {
			return nil, err
		}
	}
	return touched, nil
}

// Test sends an event of the type webhook.test to a project's
// default_webhook_url and returns the event's id. Conflict when the project has
// none.
func (s *Service) Test(ctx context.Context, projectID string) (eventID string, err error) {
	err = s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.LockProject(ctx, projectID); err != nil {
			return err
		}
		p, err := s.store.Project(ctx, projectID)
		if err != nil {
			return err
		}
		if p.Settings.DefaultWebhookURL == "" {
			return fault.New(fault.Conflict, "no_webhook_target", "the project has no default_webhook_url")
		}
		e, err := s.recordProjectEvent(ctx, p, event.WebhookTest, event.ProjectData{})
		eventID = e.ID
		return err
	})
	if err == nil {
		s.Wake()
	}
	return eventID, err
}

// EventsAfter returns the events of a room after a sequence number, in order. It
// returns the bodies that a receiver of all event types gets, the sequence
// number of the last one, and whether there are more.
func (s *Service) EventsAfter(ctx context.Context, roomID string, after int64,
	limit int) (bodies []json.RawMessage, last int64, more bool, err error) {
	events, err := s.store.DeliveredEvents(ctx, roomID, after, limit+1)
	if err != nil {
		return nil, 0, false, err
	}
	if more = len(events) > limit; more {
		events = events[:limit]
	}
	bodies, last = make([]json.RawMessage, 0, len(events)), after
	for _, e := range events {
		b := roomEventBody(e.Event)
		b.Previous, last = e.Previous, e.Sequence
		text, err := b.encode()
		if err != nil {
			return nil, 0, false, err
		}
		bodies = append(bodies, json.RawMessage(text))
	}
	return bodies, last, more, nil
}
