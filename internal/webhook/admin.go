package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/fault"
)

// Filter selects deliveries. Empty fields match everything.
type Filter struct {
	ProjectID string
	RoomID    string
	EventID   string
	URL       string // the whole URL; List also accepts its beginning
	Type      event.Type
	State     State
	Since     time.Time // created at this time or later
	Before    time.Time // created before this time
	Cursor    string    // id of a delivery; the page begins after it
	Limit     int

	OldestFirst bool
	Sent        bool // excludes replays and pending deliveries
}

// maxScanned is how many deliveries a page of List reads to find those to a target, which have no index.
const maxScanned = 1000

// List returns at most f.Limit deliveries, the newest first, and the cursor of the next page, which is
// empty after the last one. f.URL may be the beginning of the URL, so that a caller can leave out a path
// that is secret. With f.URL, a page may have fewer deliveries, or none, although there is a next page.
func (s *Service) List(ctx context.Context, f Filter) (page []Delivery, next string, err error) {
	limit, target := f.Limit, f.URL
	if f.Limit++; target != "" {
		f.URL, f.Limit = "", maxScanned
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
		if err := s.store.ClearTarget(ctx, projectID, url, s.now()); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, s.now(), audit.Change{
			Action:    audit.WebhookTargetResumed,
			Subject:   projectID,
			ProjectID: projectID,
			Before:    audit.Fields{"paused_at": audit.Timestamp(t.PausedAt)},
			After:     audit.Fields{"url": audit.Target(url)},
		})
	})
	if err == nil {
		s.Wake()
	}
	return err
}

// Pause stops the deliveries to a target until Resume, even if the target works. New events still
// add deliveries. An attempt that has begun is finished. Errors: Invalid, NotFound if the
// project has no such target, Conflict if it is paused by hand already.
func (s *Service) Pause(ctx context.Context, projectID, url string) error {
	return s.store.Write(ctx, func(ctx context.Context) error {
		p, err := s.store.Project(ctx, projectID)
		if err != nil {
			return err
		}
		if url == "" {
			return fault.Invalidf("url is required")
		}
		t, err := s.store.Target(ctx, projectID, url)
		if err != nil {
			return err
		}
		if t.PausedByHand() {
			return fault.New(fault.Conflict, "target_paused", "this target is already paused by hand")
		}
		if t.Failures == 0 && p.Settings.DefaultWebhookURL != url {
			if err := s.checkUsed(ctx, projectID, url); err != nil {
				return err
			}
		}
		now := s.now()
		before := audit.Fields{}
		if t.Paused() {
			before["paused_at"] = audit.Timestamp(t.PausedAt)
		}
		t.ProjectID, t.URL, t.PausedAt, t.ProbeAt, t.Notice = projectID, url, now, time.Time{}, noticePausedByHand
		if t.FailingSince.IsZero() {
			t.FailingSince = now
		}
		if err := s.store.HoldTarget(ctx, t); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, now, audit.Change{
			Action:    audit.WebhookTargetPaused,
			Subject:   projectID,
			ProjectID: projectID,
			Before:    before,
			After:     audit.Fields{"url": audit.Target(url), "paused_at": audit.Timestamp(now)},
		})
	})
}

// recentDeliveries is how many of the newest deliveries of a project show the URLs that it uses.
const recentDeliveries = 100

// checkUsed returns NotFound unless a delivery to a URL is pending or recent, because a pause of
// any other URL would be a mistake.
func (s *Service) checkUsed(ctx context.Context, projectID, url string) error {
	pending, err := s.store.PendingStreams(ctx, Retry{ProjectID: projectID, URL: url})
	if err != nil || len(pending) > 0 {
		return err
	}
	recent, err := s.store.Deliveries(ctx, Filter{ProjectID: projectID, Limit: recentDeliveries})
	if err != nil || slices.ContainsFunc(recent, func(d Delivery) bool { return d.URL == url }) {
		return err
	}
	return fault.New(fault.NotFound, "target_not_found", "no webhook of this project was sent to this url recently")
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
	State     State  // only deliveries that are Delivered, Failed or Gone; empty for all of these
}

// auditFields returns the selection of the replay for the audit log.
func (q Replay) auditFields() audit.Fields {
	fields := audit.Fields{"since": audit.Timestamp(q.Since), "before": audit.Timestamp(q.Before)}
	for name, value := range map[string]string{"event_id": q.EventID, "room_id": q.RoomID, "state": string(q.State)} {
		if value != "" {
			fields[name] = value
		}
	}
	if q.URL != "" {
		fields["url"] = audit.Target(q.URL)
	}
	return fields
}

const (
	replayBatch = 200
	// replayOverlap is how much earlier than the last replayed delivery one that follows it may have been created,
	// because a replay reads in the order of the IDs, and these are made later than the time of the row is read.
	replayOverlap = time.Minute
)

// Replay sends deliveries that are still kept again, to the same target and in
// the same order. They have streams of their own, so that they do not delay new
// events. It returns the number of deliveries it created. Errors: Invalid without
// a selection or with a State that a replay cannot have, NotFound when none matches.
// If some deliveries were created before an error, its message says how to replay the rest.
func (s *Service) Replay(ctx context.Context, q Replay) (int, error) {
	if q.EventID == "" && q.RoomID == "" && (q.Since.IsZero() || q.Before.IsZero()) {
		return 0, fault.Invalidf("a replay needs event_id, room_id, or both since and before")
	}
	if q.State != "" && !slices.Contains([]State{Delivered, Failed, Gone}, q.State) {
		return 0, fault.Invalidf("state must be delivered, failed or gone, not %q", q.State)
	}
	f := Filter{
		ProjectID:   q.ProjectID,
		EventID:     q.EventID,
		RoomID:      q.RoomID,
		URL:         q.URL,
		State:       q.State,
		Since:       q.Since,
		Before:      q.Before,
		Limit:       replayBatch,
		OldestFirst: true,
		Sent:        true,
	}
	id, created := s.newID(), 0
	streams := map[string]Stream{} // by the id of the original stream
	var last time.Time             // when the last replayed delivery was created
	for {
		page, err := s.store.Deliveries(ctx, f)
		if err != nil {
			return created, interruptedReplay(err, created, last)
		}
		if len(page) == 0 {
			break
		}
		var touched map[string]Stream
		var current []Delivery
		err = s.store.Write(ctx, func(ctx context.Context) (err error) {
			if current, err = s.lockAndReload(ctx, page); err != nil {
				return err
			}
			if touched, err = s.enqueueReplay(ctx, id, current, streams); err != nil || created > 0 || len(current) == 0 {
				return err
			}
			return audit.Record(ctx, s.store, s.now(), audit.Change{Action: audit.WebhookReplayed, Subject: q.ProjectID,
				ProjectID: q.ProjectID, After: q.auditFields()})
		})
		if err != nil {
			return created, interruptedReplay(err, created, last)
		}
		maps.Copy(streams, touched)
		created += len(current)
		f.Cursor, last = page[len(page)-1].ID, page[len(page)-1].CreatedAt
	}
	if created == 0 {
		return 0, s.nothingToReplay(ctx, q.ProjectID)
	}
	s.Wake()
	return created, nil
}

// interruptedReplay returns the error of a replay that has already created deliveries. The last of their originals was
// created at last. A repetition of the whole replay would send them twice.
func interruptedReplay(err error, created int, last time.Time) error {
	if created == 0 {
		return err
	}
	f := *fault.From(err)
	f.Message = fmt.Sprintf("%s; %d deliveries were replayed: to replay the rest, repeat the replay with since %s",
		f.Message, created, last.Add(-replayOverlap).UTC().Format(time.RFC3339Nano))
	return &f
}

// lockAndReload locks the rooms of a page of deliveries, and returns those that are still kept,
// in the order of their streams and with their current bodies. An erasure locks its room, too, so it
// cannot miss the copies that the transaction makes, and the copies do not contain what an erasure
// has removed.
func (s *Service) lockAndReload(ctx context.Context, page []Delivery) ([]Delivery, error) {
	var ids, roomIDs []string
	for _, d := range page {
		ids = append(ids, d.ID)
		if d.RoomID != "" {
			roomIDs = append(roomIDs, d.RoomID)
		}
	}
	slices.Sort(roomIDs)
	if err := s.store.LockRooms(ctx, slices.Compact(roomIDs)); err != nil {
		return nil, err
	}
	bodies, err := s.store.DeliveryBodies(ctx, ids)
	if err != nil {
		return nil, err
	}
	var current []Delivery
	for _, d := range page {
		if body, kept := bodies[d.ID]; kept {
			d.Body = body
			current = append(current, d)
		}
	}
	// The IDs of a stream are not in its order if the clocks of two nodes differ.
	slices.SortStableFunc(current, func(a, b Delivery) int {
		return cmp.Or(cmp.Compare(a.StreamID, b.StreamID), cmp.Compare(a.Position, b.Position))
	})
	return current, nil
}

// nothingToReplay returns the error of a replay that matches no delivery. It names the period
// for which the deliveries of the project are kept.
func (s *Service) nothingToReplay(ctx context.Context, projectID string) error {
	period := ""
	if s.kept != nil {
		p, err := s.store.Project(ctx, projectID)
		if err != nil {
			return err
		}
		switch days := s.kept(p) / (24 * time.Hour); days {
		case 0:
		case 1:
			period = " of the last day"
		default:
			period = fmt.Sprintf(" of the last %d days", days)
		}
	}
	return fault.New(fault.NotFound, "nothing_to_replay", "no delivery%s matches", period)
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
				stream = Stream{
					ID:        s.newID(),
					ProjectID: d.ProjectID,
					RoomID:    d.RoomID,
					URL:       d.URL,
					Replay:    replay,
					Bucket:    bucketName(d.ProjectID, d.URL),
				}
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
