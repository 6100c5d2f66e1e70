package manage

import (
	"net/http"

	"github.com/google/uuid"

	"parley/internal/fault"
	"parley/internal/room"
)

// ListRooms implements ServerInterface.
func (s *operations) ListRooms(w http.ResponseWriter, r *http.Request, params ListRoomsParams) {
	q, err := query(params)
	if err != nil {
		refuse(w, r, err)
		return
	}
	all, more, err := s.rooms.List(r.Context(), q)
	out := RoomList{Rooms: []Room{}}
	for _, l := range all {
		out.Rooms = append(out.Rooms, listed(l))
	}
	if more {
		out.NextCursor = &all[len(all)-1].ID
	}
	answer(w, r, out, err)
}

func query(params ListRoomsParams) (room.Query, error) {
	q := room.Query{ProjectID: text(params.ProjectId), Before: text(params.Cursor), Limit: room.DefaultListed}
	if params.State != nil {
		q.State = room.State(*params.State)
	}
	set(&q.Limit, params.Limit)
	if q.Before != "" && uuid.Validate(q.Before) != nil {
		return room.Query{}, fault.Invalidf("cursor must be the next_cursor of an earlier answer")
	}
	return q, nil
}

// GetRoom implements ServerInterface.
func (s *operations) GetRoom(w http.ResponseWriter, r *http.Request, id RoomID) {
	l, err := s.rooms.Look(r.Context(), id)
	answer(w, r, listed(l), err)
}

// EndRoom implements ServerInterface.
func (s *operations) EndRoom(w http.ResponseWriter, r *http.Request, id RoomID) {
	sentOut, err := s.rooms.End(r.Context(), id, room.EndedAPI)
	if err != nil {
		refuse(w, r, err)
		return
	}
	l, err := s.rooms.Look(r.Context(), id)
	out := listed(l)
	out.ParticipantsSentOut = &sentOut
	answer(w, r, out, err)
}

func listed(l room.Listed) Room {
	return Room{RoomId: l.ID, ProjectId: l.ProjectID, ClientRoomId: l.ClientRoomID, RoomType: RoomRoomType(l.Type), State: RoomState(l.State),
		EndReason: RoomEndReason(l.EndReason), Title: l.Title, Participants: l.Participants, MaxParticipants: l.MaxParticipants,
		CreatedAt: l.CreatedAt, StartAt: moment(l.StartAt), OpenedAt: moment(l.OpenedAt), StartedAt: moment(l.StartedAt), EndedAt: moment(l.EndedAt)}
}
