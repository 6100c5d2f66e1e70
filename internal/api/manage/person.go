package manage

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/retention"
)

// Retention is the part of the retention service that this API calls.
type Retention interface {
	DeleteProject(ctx context.Context, id string) error
	DeleteOrganization(ctx context.Context, id string) (retention.OrganizationDeletion, error)
	Export(ctx context.Context, p retention.Person, after string) (page []retention.RoomRecord, next string, err error)
	Erase(ctx context.Context, p retention.Person) (retention.Erased, error)
}

func (s *server) DeleteProject(w http.ResponseWriter, r *http.Request, id string) {
	r = uninterrupted(w, r)
	if err := s.Retention.DeleteProject(r.Context(), id); err != nil {
		writeError(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

func (s *server) DeleteOrganization(w http.ResponseWriter, r *http.Request, id string) {
	r = uninterrupted(w, r)
	o, err := s.Projects.Organization(r.Context(), id)
	if err != nil {
		writeError(w, r, err)
		return
	}
	done, err := s.Retention.DeleteOrganization(r.Context(), id)
	out, compaction := newOrganization(o), Compaction(done.Compaction)
	out.UsageHours, out.Compaction = &done.UsageHours, &compaction
	writeResult(w, r, out, err)
}

func (s *server) ExportPerson(w http.ResponseWriter, r *http.Request, id string) {
	q, err := read[PersonQuery](w, r)
	cursor := httpx.OrZero(q.Cursor)
	if err == nil && cursor != "" && uuid.Validate(cursor) != nil {
		err = httpx.ErrCursor
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	page, next, err := s.Retention.Export(r.Context(), person(id, q.UserId, q.SeatId), cursor)
	out := PersonExport{Rooms: []PersonRoom{}}
	for _, record := range page {
		out.Rooms = append(out.Rooms, newPersonRoom(record))
	}
	if next != "" {
		out.NextCursor = &next
	}
	writeResult(w, r, out, err)
}

func (s *server) ErasePerson(w http.ResponseWriter, r *http.Request, id string) {
	q, err := read[Person](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	allowLongRequest(w)
	done, err := s.Retention.Erase(r.Context(), person(id, q.UserId, q.SeatId))
	writeResult(w, r, PersonErased{Compacted: done.Compaction == retention.CompactionDone,
		Compaction: Compaction(done.Compaction), ErasedAt: NewTime(time.Now()),
		Erased: PersonErasedCounts{
			Rooms:       done.Rooms,
			Seats:       done.Seats,
			Links:       done.Links,
			Events:      done.Events,
			Deliveries:  done.Deliveries,
			HostActions: done.HostActions,
			Knocks:      done.Knocks,
		}}, err)
}

func person(projectID string, userID, seatID *string) retention.Person {
	return retention.Person{ProjectID: projectID, UserID: httpx.OrZero(userID), SeatID: httpx.OrZero(seatID)}
}

func newPersonRoom(record retention.RoomRecord) PersonRoom {
	out := PersonRoom{
		RoomId:      record.Room.ID,
		Title:       record.Room.Title,
		CreatedAt:   NewTime(record.Room.CreatedAt),
		IsCreator:   record.IsCreator,
		Seats:       []PersonSeat{},
		Links:       []PersonLink{},
		Connections: []PersonConnection{},
		Events:      []PersonEvent{},
		HostActions: []PersonHostAction{},
		Knocks:      []PersonKnock{},
	}
	if record.IsCreator {
		out.CreatorName = &record.Room.CreatorName
	}
	for _, seat := range record.Seats {
		out.Seats = append(out.Seats, PersonSeat{
			SeatId:    seat.ID,
			Name:      seat.Name,
			UserId:    seat.UserID,
			Role:      seat.Role,
			CreatedAt: NewTime(seat.CreatedAt),
		})
	}
	for _, l := range record.Links {
		out.Links = append(out.Links, PersonLink{LinkId: l.ID, Name: l.Name, UserId: l.UserID, Role: l.Role})
	}
	for _, c := range record.Connections {
		out.Connections = append(out.Connections, PersonConnection{SeatId: c.SeatID, Session: c.Session,
			JoinedAt: NewTime(c.JoinedAt), LeftAt: httpx.TimeOrNil(c.LeftAt)})
	}
	for _, e := range record.Events {
		out.Events = append(out.Events, PersonEvent{
			EventId:  e.ID,
			Sequence: int(e.Sequence),
			Type:     string(e.Type),
			At:       NewTime(e.At),
			Data:     e.Data,
		})
	}
	for _, a := range record.HostActions {
		out.HostActions = append(out.HostActions,
			PersonHostAction{At: NewTime(a.At), Kind: a.Kind, Name: a.Name, DoneByPerson: a.Done})
	}
	for _, k := range record.Knocks {
		out.Knocks = append(out.Knocks,
			PersonKnock{KnockedAt: NewTime(k.CreatedAt), Name: k.Name, Network: k.Network, Denied: k.Denied})
	}
	return out
}
