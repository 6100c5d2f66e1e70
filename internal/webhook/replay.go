package webhook

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
)

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
		State:       q.State,
		Since:       q.Since,
		Before:      q.Before,
		Limit:       replayBatch,
		OldestFirst: true,
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
		f.Cursor = page[len(page)-1].ID
		page = slices.DeleteFunc(page, func(d Delivery) bool {
			return d.Replay || d.State == Pending || q.URL != "" && d.URL != q.URL
		})
		if len(page) == 0 {
			continue
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
		last = page[len(page)-1].CreatedAt
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
	return fault.From(err).WithAdvice("%d deliveries were replayed: to replay the rest, repeat the replay with since %s",
		created, last.Add(-replayOverlap).UTC().Format(time.RFC3339Nano))
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
