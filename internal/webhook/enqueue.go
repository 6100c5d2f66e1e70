package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"parley/internal/event"
	"parley/internal/project"
)

// eventBody is the JSON body of a webhook.
type eventBody struct {
	ID        string     `json:"id"`
	Type      event.Type `json:"type"`
	Timestamp string     `json:"timestamp"`
	Sequence  int64      `json:"sequence"`
	Previous  int64      `json:"previous"`
	ProjectID string     `json:"project_id"`
	Data      any        `json:"data"`
}

func (b eventBody) encode() (string, error) {
	text, err := json.Marshal(b)
	return string(text), err
}

// ChangeBody returns the body of a webhook about a room with changed data. It returns body
// itself if change reports that it has changed nothing.
func ChangeBody(body string, change func(*event.Data) bool) (string, error) {
	data := new(event.Data)
	b := eventBody{Data: data}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		return "", fmt.Errorf("body of a webhook: %w", err)
	}
	if !change(data) {
		return body, nil
	}
	return b.encode()
}

// formatTimestamp returns a time as RFC 3339 in UTC with milliseconds.
func formatTimestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func roomEventBody(e event.Event) eventBody {
	data := e.Data
	if p := data.Participant; p != nil {
		shown := *p
		shown.JoinedAt = shown.JoinedAt.UTC().Truncate(time.Millisecond)
		data.Participant = &shown
	}
	return eventBody{
		ID:        e.ID,
		Type:      e.Type,
		Timestamp: formatTimestamp(e.At),
		Sequence:  e.Sequence,
		ProjectID: e.ProjectID,
		Data:      data,
	}
}

func projectEventBody(e event.ProjectEvent) eventBody {
	return eventBody{
		ID:        e.ID,
		Type:      e.Type,
		Timestamp: formatTimestamp(e.At),
		Sequence:  e.Sequence,
		ProjectID: e.ProjectID,
		Data:      e.Data,
	}
}

// isSubscribed reports whether events of this type are delivered.
func isSubscribed(s project.Settings, kind event.Type) bool {
	switch kind {
	case event.AttendanceMarked:
		return false
	case event.WebhookTest:
		return true
	}
	return len(s.WebhookEvents) == 0 || slices.Contains(s.WebhookEvents, kind)
}

// targets returns the URLs that get the events of a room, without duplicates.
func targets(s project.Settings, roomURL string) []string {
	var urls []string
	for _, u := range []string{roomURL, s.DefaultWebhookURL} {
		if u != "" && !slices.Contains(urls, u) {
			urls = append(urls, u)
		}
	}
	return urls
}

// bucketName returns the name of the concurrency limit that deliveries of one
// project to one host share.
func bucketName(projectID, target string) string {
	if u, err := url.Parse(target); err == nil {
		return projectID + " " + strings.ToLower(u.Host)
	}
	return projectID + " " + target
}

// RoomCreated enqueues the first events of a room, in the transaction that
// creates it, and reports whether it enqueued any. It reads nothing from the
// database, and does nothing when the room has no target.
func (s *Service) RoomCreated(ctx context.Context, settings project.Settings, webhookURL string,
	events []event.Event) (bool, error) {
	urls := targets(settings, webhookURL)
	if len(urls) == 0 {
		return false, nil
	}
	return s.enqueue(ctx, settings, urls, nil, eventBodies(events, roomEventBody), scopeOf(events))
}

// RoomChanged enqueues events of an existing room, in the transaction that holds
// its lock, and reports whether it enqueued any.
func (s *Service) RoomChanged(ctx context.Context, webhookURL string, events []event.Event) (bool, error) {
	if len(events) == 0 {
		return false, nil
	}
	p, err := s.store.Project(ctx, events[0].ProjectID)
	if err != nil {
		return false, err
	}
	urls := targets(p.Settings, webhookURL)
	if len(urls) == 0 {
		return false, nil
	}
	known, err := s.store.Streams(ctx, p.ID, events[0].RoomID)
	if err != nil {
		return false, err
	}
	return s.enqueue(ctx, p.Settings, urls, known, eventBodies(events, roomEventBody), scopeOf(events))
}

// ProjectChanged records an event of a project, in the transaction that holds
// its lock, and enqueues it.
func (s *Service) ProjectChanged(ctx context.Context, p project.Project,
	kind event.Type, data event.ProjectData) error {
	_, err := s.recordProjectEvent(ctx, p, kind, data)
	return err
}

func (s *Service) recordProjectEvent(ctx context.Context, p project.Project, kind event.Type,
	data event.ProjectData) (event.ProjectEvent, error) {
	e := event.ProjectEvent{
		ID:        s.newID(),
		Type:      kind,
		ProjectID: p.ID,
		At:        s.now(),
		Data:      data,
	}
	last, err := s.store.ProjectSequence(ctx, p.ID)
	if err != nil {
		return e, err
	}
	e.Sequence = last + 1
	if err := s.store.AppendProjectEvent(ctx, e); err != nil {
		return e, err
	}
	urls := targets(p.Settings, "")
	if len(urls) == 0 {
		return e, nil
	}
	known, err := s.store.Streams(ctx, p.ID, "")
	if err != nil {
		return e, err
	}
	_, err = s.enqueue(ctx, p.Settings, urls, known, eventBodies([]event.ProjectEvent{e}, projectEventBody),
		eventScope{projectID: p.ID})
	return e, err
}

// eventScope identifies the project and room of events. roomID is empty for
// events of the project itself.
type eventScope struct{ projectID, roomID string }

func scopeOf(events []event.Event) eventScope {
	if len(events) == 0 {
		return eventScope{}
	}
	return eventScope{events[0].ProjectID, events[0].RoomID}
}

func eventBodies[E any](events []E, of func(E) eventBody) []eventBody {
	all := make([]eventBody, len(events))
	for i, e := range events {
		all[i] = of(e)
	}
	return all
}

// enqueue inserts a delivery for each subscribed event and each URL. It reports
// whether it inserted any.
func (s *Service) enqueue(ctx context.Context, settings project.Settings, urls []string, known []Stream,
	events []eventBody, scope eventScope) (bool, error) {
	events = slices.DeleteFunc(events, func(b eventBody) bool { return !isSubscribed(settings, b.Type) })
	if len(events) == 0 {
		return false, nil
	}
	now := s.now()
	for _, u := range urls {
		i := slices.IndexFunc(known, func(k Stream) bool { return k.URL == u })
		stream := Stream{
			ID:        s.newID(),
			ProjectID: scope.projectID,
			RoomID:    scope.roomID,
			URL:       u,
			Bucket:    bucketName(scope.projectID, u),
		}
		save := s.store.InsertStream
		if i >= 0 {
			stream, save = known[i], s.store.ExtendStream
		}
		pending := make([]Delivery, 0, len(events))
		for _, e := range events {
			e.Previous = stream.LastSequence
			text, err := e.encode()
			if err != nil {
				return false, err
			}
			stream.Enqueued++
			stream.LastSequence = e.Sequence
			pending = append(pending, Delivery{
				ID:        s.newID(),
				StreamID:  stream.ID,
				Position:  stream.Enqueued,
				EventID:   e.ID,
				ProjectID: scope.projectID,
				RoomID:    scope.roomID,
				URL:       u,
				Type:      e.Type,
				Sequence:  e.Sequence,
				Previous:  e.Previous,
				Body:      text,
				State:     Pending,
				CreatedAt: now,
			})
		}
		if err := save(ctx, stream, now); err != nil {
			return false, err
		}
		for _, d := range pending {
			if err := s.store.InsertDelivery(ctx, d); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}
