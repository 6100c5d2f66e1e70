package manage

import (
	"net/http"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/room"
)

func (s *server) ListRooms(w http.ResponseWriter, r *http.Request) {
	q, err := parseRoomQuery(r.URL.RawQuery)
	if err != nil {
		writeError(w, r, err)
		return
	}
	all, more, err := s.rooms.List(r.Context(), q)
	out := RoomList{Rooms: []Room{}}
	for _, l := range all {
		out.Rooms = append(out.Rooms, newRoom(l))
	}
	if more {
		out.NextCursor = &all[len(all)-1].ID
	}
	writeResult(w, r, out, err)
}

func parseRoomQuery(rawQuery string) (room.ListQuery, error) {
	query, err := httpx.Query(rawQuery, "project_id", "state", "limit", "cursor")
	if err != nil {
		return room.ListQuery{}, err
	}
	q := room.ListQuery{ProjectID: query["project_id"], Before: query["cursor"], Limit: room.DefaultListLimit,
		State: room.State(query["state"])}
	if text, sent := query["limit"]; sent {
		if q.Limit, err = parseInteger("limit", text); err != nil {
			return room.ListQuery{}, err
		}
	}
	if q.Before != "" && uuid.Validate(q.Before) != nil {
		return room.ListQuery{}, fault.Invalidf("cursor must be the next_cursor of an earlier answer")
	}
	return q, nil
}

func (s *server) GetRoom(w http.ResponseWriter, r *http.Request, id string) {
	l, err := s.rooms.GetSummary(r.Context(), id)
	writeResult(w, r, newRoom(l), err)
}

func (s *server) EndRoom(w http.ResponseWriter, r *http.Request, id string) {
	sentOut, err := s.rooms.End(r.Context(), id, room.EndedAPI)
	if err != nil {
		writeError(w, r, err)
		return
	}
	l, err := s.rooms.GetSummary(r.Context(), id)
	out := newRoom(l)
	out.ParticipantsSentOut = &sentOut
	writeResult(w, r, out, err)
}

func newRoom(l room.Summary) Room {
	return Room{RoomId: l.ID, ProjectId: l.ProjectID, ClientRoomId: l.ClientRoomID, RoomType: RoomRoomType(l.Type),
		State:     RoomState(l.State),
		EndReason: RoomEndReason(l.EndReason), Title: l.Title, Participants: l.Participants,
		MaxParticipants: l.MaxParticipants,
		CreatedAt:       l.CreatedAt, StartAt: timeOrNil(l.StartAt), OpenedAt: timeOrNil(l.OpenedAt),
		StartedAt: timeOrNil(l.StartedAt), EndedAt: timeOrNil(l.EndedAt)}
}
