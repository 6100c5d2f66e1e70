package manage

import (
	"net/http"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/validate"
)

func (s *server) ListRooms(w http.ResponseWriter, r *http.Request) {
	q, err := parseRoomQuery(r.URL.RawQuery)
	if err != nil {
		writeError(w, r, err)
		return
	}
	page, err := s.Rooms.Search(r.Context(), q)
	out := RoomList{Rooms: []Room{}}
	for _, l := range page.Rooms {
		out.Rooms = append(out.Rooms, newRoom(l))
	}
	if page.Next != "" {
		out.NextCursor = &page.Next
	}
	writeResult(w, r, out, err)
}

func parseRoomQuery(rawQuery string) (q room.SearchQuery, err error) {
	query, err := httpx.Query(rawQuery, "project_id", "state", "room_id", "client_room_id", "title", "person", "from",
		"to", "limit", "cursor")
	if err != nil {
		return q, err
	}
	q = room.SearchQuery{Title: query["title"], Person: query["person"], ListQuery: room.ListQuery{
		ID:           query["room_id"],
		ProjectID:    query["project_id"],
		ClientRoomID: query["client_room_id"],
		State:        room.State(query["state"]),
		Before:       query["cursor"],
		Limit:        validate.DefaultPage,
	}}
	if text, sent := query["from"]; sent {
		if q.From, err = parseTime("from", &text); err != nil {
			return q, err
		}
	}
	if text, sent := query["to"]; sent {
		if q.To, err = parseTime("to", &text); err != nil {
			return q, err
		}
	}
	if text, sent := query["limit"]; sent {
		if q.Limit, err = parseInteger("limit", text); err != nil {
			return q, err
		}
	}
	if _, ok := validate.ParseUUID(q.ID); q.ID != "" && !ok {
		return q, fault.Invalidf("room_id must be the ID of a room, not %q", q.ID)
	}
	if q.Before != "" && uuid.Validate(q.Before) != nil {
		return q, httpx.ErrCursor
	}
	return q, nil
}

func (s *server) GetRoom(w http.ResponseWriter, r *http.Request, id string) {
	l, err := s.Rooms.GetSummary(r.Context(), id)
	writeResult(w, r, newRoom(l), err)
}

func (s *server) EndRoom(w http.ResponseWriter, r *http.Request, id string) {
	sentOut, err := s.Rooms.End(r.Context(), id, room.EndedAPI)
	if err != nil {
		writeError(w, r, err)
		return
	}
	l, err := s.Rooms.GetSummary(r.Context(), id)
	out := newRoom(l)
	out.ParticipantsSentOut = &sentOut
	writeResult(w, r, out, err)
}

func (s *server) RemovePerson(w http.ResponseWriter, r *http.Request, id string) {
	in, err := read[PersonRemoval](w, r)
	if err == nil && in.SeatId == "" {
		err = fault.Invalidf("seat_id is required")
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	connected, err := s.Rooms.RemoveBySeat(r.Context(), id, in.SeatId)
	writeResult(w, r, RemovedPerson{RoomId: id, SeatId: in.SeatId, WasConnected: connected}, err)
}

func newRoom(l room.Summary) Room {
	return Room{
		RoomId:          l.ID,
		ProjectId:       l.ProjectID,
		ClientRoomId:    l.ClientRoomID,
		RoomType:        RoomRoomType(l.Type),
		State:           RoomState(l.State),
		EndReason:       RoomEndReason(l.EndReason),
		Title:           l.Title,
		Participants:    l.Participants,
		MaxParticipants: l.MaxParticipants,
		CreatedAt:       NewTime(l.CreatedAt),
		StartAt:         httpx.TimeOrNil(l.StartAt),
		OpenedAt:        httpx.TimeOrNil(l.OpenedAt),
		StartedAt:       httpx.TimeOrNil(l.StartedAt),
		EndedAt:         httpx.TimeOrNil(l.EndedAt),
	}
}
