package webhook

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/fault"
)

// Filter selects deliveries by what has an index. Empty fields match everything.
type Filter struct {
	ProjectID string
	RoomID    string
	EventID   string
	State     State
	Since     time.Time // created at this time or later
	Before    time.Time // created before this time
	Cursor    string    // id of a delivery; the page begins after it
	Limit     int

	OldestFirst bool
}

// maxScanned is how many deliveries a page of List reads to find those to a target, which have no index.
const maxScanned = 1000

// List returns at most f.Limit deliveries, the newest first, and the cursor of the next page, which is
// empty after the last one. The URLs of all begin with target, so that a caller can leave out a path
// that is secret. With a target, a page may have fewer deliveries, or none, although there is a next page.
func (s *Service) List(ctx context.Context, f Filter, target string) (page []Delivery, next string, err error) {
	limit := f.Limit
	if f.Limit++; target != "" {
		f.Limit = maxScanned
	}
	read, err := s.store.Deliveries(ctx, f)
	if err != nil {
		return nil, "", err
	}
	if len(read) == f.Limit {
		next = read[len(read)-1].ID
	}
	for _, d := range read {
		if !strings.HasPrefix(d.URL, target) {
			continue
		}
		if len(page) == limit {
			next = page[limit-1].ID
			break
		}
		page = append(page, d)
	}
	if err := s.setSchedules(ctx, page); err != nil {
		return nil, "", err
	}
	return page, next, s.setLastStatuses(ctx, page)
}

// setLastStatuses sets LastStatus of the deliveries with an attempt.
func (s *Service) setLastStatuses(ctx context.Context, deliveries []Delivery) error {
	var tried []string
	for _, d := range deliveries {
		if d.Attempts > 0 {
			tried = append(tried, d.ID)
		}
	}
	if len(tried) == 0 {
		return nil
	}
	statuses, err := s.store.LastStatuses(ctx, tried)
	for i := range deliveries {
		if status, found := statuses[deliveries[i].ID]; found {
			deliveries[i].LastStatus = &status
		}
	}
	return err
}

// setSchedules sets NextAttemptAt and Held of the pending deliveries.
func (s *Service) setSchedules(ctx context.Context, deliveries []Delivery) error {
	var streams []string
	for _, d := range deliveries {
		if d.State == Pending && !slices.Contains(streams, d.StreamID) {
			streams = append(streams, d.StreamID)
		}
	}
	if len(streams) == 0 {
		return nil
	}
	states, err := s.store.StreamStates(ctx, streams)
	for i := range deliveries {
		if d := &deliveries[i]; d.State == Pending {
			state := states[d.StreamID]
			d.NextAttemptAt, d.Held = state.DueAt, state.holds(d.Position)
		}
	}
	return err
}

// Show returns a delivery with its attempts, or NotFound.
func (s *Service) Show(ctx context.Context, id string) (Delivery, []Attempt, error) {
	d, err := s.store.Delivery(ctx, id)
	if err != nil {
		return Delivery{}, nil, err
	}
	one := []Delivery{d}
	if err := s.setSchedules(ctx, one); err != nil {
		return Delivery{}, nil, err
	}
	attempts, err := s.store.Attempts(ctx, id)
	if len(attempts) > 0 {
		one[0].LastStatus = &attempts[len(attempts)-1].Status
	}
	return one[0], attempts, err
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
		if err != nil {
			return err
		}
		eventID = e.ID
		return audit.Record(ctx, s.store, e.At, audit.Change{Action: audit.WebhookTested, Subject: projectID,
			ProjectID: projectID, After: audit.Fields{"event_id": e.ID}})
	})
	if err == nil {
		s.Wake()
	}
	return eventID, err
}

// EventsAfter returns the events of a room after a sequence number, in order. It
// returns the bodies that a receiver of all event types gets, the sequence
// number of the last one, and whether there are more. Errors: NotFound if the
// next event is not kept any more.
func (s *Service) EventsAfter(ctx context.Context, roomID string, after int64,
	limit int) (bodies []json.RawMessage, last int64, more bool, err error) {
	events, err := s.store.DeliveredEvents(ctx, roomID, after, limit+1)
	if err != nil {
		return nil, 0, false, err
	}
	first, err := s.firstKept(ctx, roomID, after)
	if err != nil {
		return nil, 0, false, err
	}
	if first > 1 && len(events) > 0 && events[0].Previous == 0 {
		events[0].Previous = after // the previous event is deleted
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

// firstKept returns the number of the first event of a room that is kept, or NotFound if the
// event that follows after is deleted. It must be called after the events were read, because
// the deletion of an old room begins with its first events.
func (s *Service) firstKept(ctx context.Context, roomID string, after int64) (int64, error) {
	first, err := s.store.FirstEvent(ctx, roomID)
	if err == nil && first > after+1 {
		err = fault.New(fault.NotFound, "room_not_found",
			"the events 1 to %d of this room are no longer kept, because the room is being deleted", first-1)
	}
	return first, err
}
