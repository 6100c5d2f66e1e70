package webhook

import (
	"context"
	"slices"
	"strings"

	"parley/internal/event"
)

// TimelineEvent is an event of a room with its deliveries, the earliest first.
type TimelineEvent struct {
	event.Event
	Deliveries []Delivery
}

// Timeline returns at most limit events of a room after a sequence number, in order, and
// whether there are more. It includes events that are never delivered. Errors: NotFound if
// the next event is not kept any more.
func (s *Service) Timeline(
	ctx context.Context, roomID string, after int64, limit int,
) (timeline []TimelineEvent, more bool, err error) {
	events, err := s.store.RoomEvents(ctx, roomID, after, limit+1)
	if err != nil {
		return nil, false, err
	}
	if _, err := s.firstKept(ctx, roomID, after); err != nil || len(events) == 0 {
		return nil, false, err
	}
	if more = len(events) > limit; more {
		events = events[:limit]
	}
	ids := make([]string, 0, len(events))
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	deliveries, err := s.store.DeliveriesOfEvents(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	if err := s.setSchedules(ctx, deliveries); err != nil {
		return nil, false, err
	}
	slices.SortFunc(deliveries, func(a, b Delivery) int { return strings.Compare(a.ID, b.ID) })
	for _, e := range events {
		one := TimelineEvent{Event: e}
		for _, d := range deliveries {
			if d.EventID == e.ID {
				one.Deliveries = append(one.Deliveries, d)
			}
		}
		timeline = append(timeline, one)
	}
	return timeline, more, nil
}
