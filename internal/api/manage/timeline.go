package manage

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/webhook"
)

func (s *server) GetRoomTimeline(w http.ResponseWriter, r *http.Request, id string) {
	out, err := s.roomTimeline(r, id)
	writeResult(w, r, out, err)
}

func (s *server) roomTimeline(r *http.Request, id string) (RoomTimeline, error) {
	query, err := httpx.Query(r.URL.RawQuery, "limit", "cursor")
	if err != nil {
		return RoomTimeline{}, err
	}
	limit, err := httpx.ParseLimit(query)
	if err != nil {
		return RoomTimeline{}, err
	}
	after := timelineCursor{}
	if text, sent := query["cursor"]; sent {
		if after, err = parseTimelineCursor(text); err != nil {
			return RoomTimeline{}, err
		}
	}
	if _, err := s.Rooms.GetSummary(r.Context(), id); err != nil {
		return RoomTimeline{}, err
	}
	events, more, err := s.Webhooks.Timeline(r.Context(), id, after.event, limit)
	if err != nil {
		return RoomTimeline{}, err
	}
	actions, err := s.Rooms.HostActions(r.Context(), id, after.action, limit+1)
	if err != nil {
		return RoomTimeline{}, err
	}
	out := RoomTimeline{Events: []TimelineEvent{}}
	for len(events)+len(actions) > 0 {
		if len(out.Events) == limit {
			more = true
			break
		}
		if len(actions) > 0 && (len(events) == 0 || actions[0].Sequence < events[0].Sequence) {
			out.Events, after.action = append(out.Events, newTimelineAction(actions[0])), actions[0].N
			actions = actions[1:]
		} else {
			out.Events, after.event = append(out.Events, newTimelineEvent(events[0])), events[0].Sequence
			events = events[1:]
		}
	}
	if more {
		out.NextCursor = new(fmt.Sprintf("%d.%d", after.event, after.action))
	}
	return out, s.addConnections(r.Context(), id, out.Events)
}

// addConnections adds the connections of the events that began or ended one. One query reads all of them.
func (s *server) addConnections(ctx context.Context, roomID string, events []TimelineEvent) error {
	var ids []string
	for _, e := range events {
		if e.Data.Participant != nil {
			ids = append(ids, e.Data.Participant.Connection)
		}
	}
	slices.Sort(ids)
	attendance, err := s.Rooms.AttendanceOfConnections(ctx, roomID, slices.Compact(ids))
	if err != nil {
		return err
	}
	connections := map[string]*TimelineConnection{}
	for _, a := range attendance {
		connections[a.Connection] = &TimelineConnection{
			ConnectionType:    ConnectionType(a.ConnectionType),
			ConnectionQuality: ConnectionQuality(a.Quality),
			PoorSeconds:       int(a.PoorFor / time.Second),
		}
	}
	for i, e := range events {
		if e.Data.Participant != nil {
			events[i].Connection = connections[e.Data.Participant.Connection]
		}
	}
	return nil
}

// timelineCursor has the numbers of the last event and of the last action of a page.
type timelineCursor struct{ event, action int64 }

func parseTimelineCursor(text string) (timelineCursor, error) {
	first, second, found := strings.Cut(text, ".")
	event, err := strconv.ParseInt(first, 10, 64)
	action, actionErr := strconv.ParseInt(second, 10, 64)
	if !found || err != nil || actionErr != nil || event < 0 || action < 0 || event+action == 0 {
		return timelineCursor{}, httpx.ErrCursor
	}
	return timelineCursor{event, action}, nil
}

func newTimelineEvent(e webhook.TimelineEvent) TimelineEvent {
	out := TimelineEvent{
		Sequence:   e.Sequence,
		EventId:    e.ID,
		At:         httpx.FormatTime(e.At),
		Kind:       string(e.Type),
		Name:       personOf(e.Data),
		Data:       e.Data,
		Deliveries: []Webhook{},
	}
	for _, d := range e.Deliveries {
		out.Deliveries = append(out.Deliveries, newWebhook(d))
	}
	return out
}

// newTimelineAction returns an action of a host. The name is that of the target. If the action has
// no single target, it is the host's.
func newTimelineAction(a room.HostAction) TimelineEvent {
	action := HostAction{Number: a.N, By: newHostActor(a.By), Breakout: a.Details.Breakout}
	name := a.By.Name
	if a.Target != (room.HostActor{}) {
		action.Target, name = new(newHostActor(a.Target)), a.Target.Name
	}
	if a.Details.Role != "" {
		action.Role = new(string(a.Details.Role))
	}
	if len(a.Details.Locks) > 0 {
		action.Locks = &a.Details.Locks
	}
	if a.Details.Count > 0 {
		action.Count = &a.Details.Count
	}
	return TimelineEvent{
		At:         httpx.FormatTime(a.At),
		Kind:       string(a.Kind),
		Name:       name,
		Action:     &action,
		Data:       event.Data{RoomID: a.RoomID},
		Deliveries: []Webhook{},
	}
}

func newHostActor(a room.HostActor) HostActor {
	return HostActor{SeatId: a.SeatID, Name: a.Name, Role: string(a.Role)}
}

// personOf returns the name of the person that an event is about, or an empty string.
func personOf(d event.Data) string {
	switch {
	case d.Participant != nil:
		return d.Participant.Name
	case d.Mark != nil:
		return d.Mark.Name
	case d.FailedJoin != nil:
		return d.FailedJoin.Name
	case d.Feedback != nil:
		return d.Feedback.Name
	}
	return ""
}

func (s *server) ListRoomPeople(w http.ResponseWriter, r *http.Request, id string) {
	out, err := s.roomPeople(r, id)
	writeResult(w, r, out, err)
}

func (s *server) roomPeople(r *http.Request, id string) (RoomPeople, error) {
	query, err := httpx.Query(r.URL.RawQuery, "at", "limit", "cursor")
	if err != nil {
		return RoomPeople{}, err
	}
	var at time.Time
	if text, sent := query["at"]; sent {
		if at, err = parseTime("at", &text); err != nil {
			return RoomPeople{}, err
		}
	}
	limit, err := httpx.ParseLimit(query)
	if err != nil {
		return RoomPeople{}, err
	}
	records, err := s.Rooms.Attendance(r.Context(), id)
	if err != nil {
		return RoomPeople{}, err
	}
	if !at.IsZero() {
		records = slices.DeleteFunc(records, func(a room.AttendanceRecord) bool { return !wasConnected(a, at) })
	}
	if after, sent := query["cursor"]; sent {
		i := slices.IndexFunc(records, func(a room.AttendanceRecord) bool { return a.ID == after })
		if i < 0 {
			return RoomPeople{}, httpx.ErrCursor
		}
		records = records[i+1:]
	}
	out := RoomPeople{People: []RoomPerson{}}
	if len(records) > limit {
		records = records[:limit]
		out.NextCursor = &records[limit-1].ID
	}
	for _, a := range records {
		shown := RoomPerson{
			Identity:          a.PublicID(),
			Name:              a.Name,
			Role:              string(a.Role),
			UserId:            a.UserID,
			SeatId:            a.SeatID,
			Session:           a.Session,
			Node:              a.Node,
			Hidden:            a.Hidden,
			ConnectionType:    ConnectionType(a.ConnectionType),
			ConnectionQuality: ConnectionQuality(a.Quality),
			PoorSeconds:       int(a.PoorFor / time.Second),
			JoinedAt:          httpx.FormatTime(a.JoinedAt),
			Reason:            string(a.Reason),
		}
		if !a.LeftAt.IsZero() {
			shown.LeftAt = new(httpx.FormatTime(a.LeftAt))
		}
		out.People = append(out.People, shown)
	}
	return out, nil
}

// wasConnected reports whether a connection lasted at a time.
func wasConnected(a room.AttendanceRecord, at time.Time) bool {
	return !a.JoinedAt.After(at) && (a.LeftAt.IsZero() || a.LeftAt.After(at))
}
