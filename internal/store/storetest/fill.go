package storetest

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/store"
)

// Fill adds ended meetings to a project, spread evenly over a period. Four people
// attend each meeting for up to an hour. Every tenth meeting is in an audio room. The
// same seed makes the same meetings.
func Fill(t testing.TB, s *store.DB, projectID string, meetings int, start, end time.Time, seed uint64) {
	t.Helper()
	const batch = 100 // meetings in a transaction
	patient := db.WithWriteTimeout(context.Background(), time.Minute)
	random := rand.New(rand.NewPCG(seed, 0))
	step := end.Sub(start) / time.Duration(max(1, meetings))
	for first := 0; first < meetings; first += batch {
		err := s.Write(patient, func(ctx context.Context) error {
			for i := first; i < min(first+batch, meetings); i++ {
				if err := fillMeeting(ctx, s, random, projectID, i, start.Add(time.Duration(i)*step)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func fillMeeting(
	ctx context.Context, s *store.DB, random *rand.Rand, projectID string, i int, at time.Time,
) error {
	r := Room(projectID)
	if i%10 == 0 {
		r.Type = room.Audio
	}
	at = at.UTC().Truncate(time.Millisecond)
	r.CreatedAt, r.OpenedAt, r.EventSequence = at, at, 10
	if err := s.InsertRoom(ctx, r); err != nil {
		return err
	}
	if err := s.InsertSession(ctx, room.Session{RoomID: r.ID, N: 1, State: room.SessionLive}, at); err != nil {
		return err
	}
	var events []event.Event
	add := func(kind event.Type, at time.Time, person *event.Participant) {
		events = append(events, event.Event{ID: NewID(), ProjectID: projectID, RoomID: r.ID,
			Sequence: int64(len(events) + 1), Type: kind, At: at,
			Data: event.Data{RoomID: r.ID, RoomType: string(r.Type), Participant: person}})
	}
	add(event.RoomOpened, at, nil)
	ended := at
	for n := range 4 {
		seat := newSeat(r.ID, room.Free, n)
		joined := at.Add(time.Duration(random.Int64N(int64(time.Minute)))).Truncate(time.Millisecond)
		left := joined.Add(time.Duration(random.Int64N(int64(time.Hour)))).Truncate(time.Millisecond)
		a := room.Attendance{ID: NewID(), RoomID: r.ID, Session: 1, SeatID: seat.ID, Connection: "PA_1",
			JoinedAt: joined, LeftAt: left, Reason: room.LeftByChoice}
		if err := s.InsertSeat(ctx, seat); err != nil {
			return err
		}
		if _, err := s.InsertAttendance(ctx, a); err != nil {
			return err
		}
		person := &event.Participant{Identity: seat.ID, Name: seat.Name, Role: string(seat.Role),
			Session: room.SessionID(r.ID, 1), Connection: a.Connection, JoinedAt: joined}
		add(event.ParticipantJoined, joined, person)
		add(event.ParticipantLeft, left, person)
		if left.After(ended) {
			ended = left
		}
	}
	add(event.RoomEnded, ended, nil)
	if err := s.AppendEvents(ctx, events); err != nil {
		return err
	}
	r.State, r.EndReason, r.StartedAt, r.EndedAt, r.DueAt = room.Ended, room.EndedEmpty, at, ended, time.Time{}
	if err := s.UpdateRoom(ctx, r); err != nil {
		return err
	}
	if err := s.CloseSessions(ctx, r.ID, false, ended); err != nil {
		return err
	}
	return s.MarkSessionClosed(ctx, room.Session{RoomID: r.ID, N: 1})
}
