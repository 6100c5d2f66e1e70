// Package filltest fills a database with what an installation has after a long time, for
// tests and for measurements with much data. Only those import it.
package filltest

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
)

// People is the number of people who attend each meeting.
const People = 4

// batch is the number of meetings in a transaction. A larger one is not faster, and its
// commit may exceed the timeout on a busy disk.
const batch = 100

// writeTimeout is long, because the disk may still write earlier batches.
const writeTimeout = time.Minute

// writers is the number of concurrent transactions. PostgreSQL is faster with several.
const writers = 4

// Past is a number of meetings of the past in a project, spread evenly over a period.
type Past struct {
	ProjectID  string
	Meetings   int
	Start, End time.Time
	Seed       uint64 // the same seed makes meetings with the same times
	// WebhookURL is the target of the webhooks of each meeting; empty for no webhooks. In every
	// hundredth meeting, the last delivery has failed.
	WebhookURL string
}

// Meetings adds ended meetings. People attend each meeting for up to an hour. Every tenth
// meeting is in an audio room.
func Meetings(ctx context.Context, s *store.DB, p Past) error {
	step := p.End.Sub(p.Start) / time.Duration(max(1, p.Meetings))
	return inBatches(ctx, s, p.Meetings, batch, writers, func(ctx context.Context, first, last int) error {
		f := &filler{s: s, random: rand.New(rand.NewPCG(p.Seed, uint64(first))), past: p}
		return f.add(ctx, first, last, step)
	})
}

// inBatches calls add for n items, each time with at most size of them in a transaction. The
// transaction may run again, and concurrently with a number of others.
func inBatches(ctx context.Context, s *store.DB, n, size, concurrent int,
	add func(ctx context.Context, first, last int) error) error {
	group, ctx := errgroup.WithContext(db.WithWriteTimeout(ctx, writeTimeout))
	group.SetLimit(concurrent)
	for first := 0; first < n; first += size {
		group.Go(func() error {
			return s.Write(ctx, func(ctx context.Context) error { return add(ctx, first, min(first+size, n)) })
		})
	}
	return group.Wait()
}

// filler adds the meetings of one transaction.
type filler struct {
	s      *store.DB
	random *rand.Rand
	past   Past
}

// meeting is one meeting and all that is stored about it.
type meeting struct {
	room       *room.Room
	seats      []room.Seat
	attendance []room.Attendance
	events     []event.Event
}

// add stores meetings table by table, because PostgreSQL merges inserts into one table.
func (f *filler) add(ctx context.Context, first, last int, step time.Duration) error {
	var meetings []meeting
	for i := first; i < last; i++ {
		kind := room.Video
		if i%10 == 0 {
			kind = room.Audio
		}
		meetings = append(meetings, f.meeting(kind, f.past.Start.Add(time.Duration(i)*step).UTC().Truncate(time.Millisecond)))
	}
	for _, m := range meetings {
		if err := f.s.InsertRoom(ctx, m.room); err != nil {
			return err
		}
	}
	for _, m := range meetings {
		session := room.Session{RoomID: m.room.ID, N: 1, State: room.SessionLive}
		if err := f.s.InsertSession(ctx, session, m.room.CreatedAt); err != nil {
			return err
		}
		for _, seat := range m.seats {
			if err := f.s.InsertSeat(ctx, seat); err != nil {
				return err
			}
		}
	}
	for _, m := range meetings {
		for _, a := range m.attendance {
			if _, err := f.s.InsertAttendance(ctx, a, a.JoinedAt); err != nil {
				return err
			}
		}
	}
	for _, m := range meetings {
		if err := f.s.AppendEvents(ctx, m.events); err != nil {
			return err
		}
	}
	for _, m := range meetings {
		if err := f.end(ctx, m.room); err != nil {
			return err
		}
	}
	if f.past.WebhookURL == "" {
		return nil
	}
	return f.addWebhooks(ctx, first, meetings)
}

// meeting returns a meeting that begins at a time.
func (f *filler) meeting(kind room.Type, at time.Time) meeting {
	r := &room.Room{
		ID:        newID(at),
		ProjectID: f.past.ProjectID,
		State:     room.Open,
		Spec: room.Spec{
			Type:            kind,
			Title:           "Weekly planning",
			WelcomeMessage:  "Good morning, and welcome to everybody",
			CreatorName:     "Amina",
			MaxParticipants: 10,
			WebhookURL:      f.past.WebhookURL,
			EmptyTimeout:    5 * time.Minute,
			Duration:        time.Hour,
		},
		CreatorLinkHash: f.hash(),
		EventSequence:   2 + 2*People,
		CreatedAt:       at,
		OpenedAt:        at,
		DueAt:           at.Add(time.Hour),
	}
	m := meeting{room: r}
	record := func(kind event.Type, at time.Time, person *event.Participant) {
		m.events = append(m.events, event.Event{
			ID:        newID(at.Add(f.duration(5 * time.Millisecond))), // the service needs some time
			ProjectID: f.past.ProjectID,
			RoomID:    r.ID,
			Sequence:  int64(len(m.events) + 1),
			Type:      kind,
			At:        at,
			Data:      event.Data{RoomID: r.ID, RoomType: string(r.Type), Participant: person},
		})
	}
	record(event.RoomOpened, at, nil)
	node, ended := room.CompactID(newID(at)), at
	for range People {
		joined := at.Add(f.duration(time.Minute))
		left := joined.Add(f.duration(time.Hour))
		seat := room.Seat{
			ID:         room.CompactID(newID(joined)),
			RoomID:     r.ID,
			KeyHash:    f.hash(),
			Name:       "Ada Lovelace",
			Role:       room.Guest,
			State:      room.Free,
			Connection: "PA_" + f.hash()[:12],
			CreatedAt:  joined,
		}
		m.seats = append(m.seats, seat)
		m.attendance = append(m.attendance, room.Attendance{
			ID:         room.CompactID(newID(joined)),
			RoomID:     r.ID,
			Session:    1,
			SeatID:     seat.ID,
			Connection: seat.Connection,
			Node:       node,
			JoinedAt:   joined,
			LeftAt:     left,
			Reason:     room.LeftByChoice,
		})
		person := &event.Participant{
			Identity:   seat.ID,
			Name:       seat.Name,
			Role:       string(seat.Role),
			Session:    room.SessionID(r.ID, 1),
			Connection: seat.Connection,
			JoinedAt:   joined,
		}
		record(event.ParticipantJoined, joined, person)
		record(event.ParticipantLeft, left, person)
		if left.After(ended) {
			ended = left
		}
	}
	record(event.RoomEnded, ended, nil)
	r.EndedAt = ended
	return m
}

// end ends the room of a meeting.
func (f *filler) end(ctx context.Context, r *room.Room) error {
	r.State, r.EndReason, r.StartedAt, r.DueAt = room.Ended, room.EndedEmpty, r.CreatedAt, time.Time{}
	if err := f.s.UpdateRoom(ctx, r); err != nil {
		return err
	}
	if err := f.s.CloseSessions(ctx, r.ID, false, r.EndedAt); err != nil {
		return err
	}
	return f.s.MarkSessionClosed(ctx, room.Session{RoomID: r.ID, N: 1})
}

// newID returns a new ID as the service would have created it at a time (UUIDv7).
func newID(at time.Time) string {
	id := uuid.Must(uuid.NewV7())
	var millis [8]byte
	binary.BigEndian.PutUint64(millis[:], uint64(at.UnixMilli()))
	copy(id[:6], millis[2:])
	return id.String()
}

// hash returns a hash of a new token.
func (f *filler) hash() string { return seal.Hash(uuid.NewString()) }

// duration returns a random duration below a maximum, in milliseconds.
func (f *filler) duration(below time.Duration) time.Duration {
	return time.Duration(f.random.Int64N(below.Milliseconds())) * time.Millisecond
}

// packBatch is the number of events that a transaction of Pack packs.
const packBatch = 500

// Pack packs the events of all rooms that were over before a time, as sweeps do long after an upgrade.
func Pack(ctx context.Context, s *store.DB, before time.Time) error {
	ctx = db.WithWriteTimeout(ctx, writeTimeout)
	// The first call plans the packing, and the second one keeps earlier programs from starting.
	for days := 3; days > 0; days-- {
		err := s.Write(ctx, func(ctx context.Context) error {
			_, err := s.PreparePacking(ctx, time.Now().AddDate(0, 0, -days), before)
			return err
		})
		if err != nil {
			return err
		}
	}
	var from, next time.Time
	for ; ; from = next {
		err := s.Write(ctx, func(ctx context.Context) (err error) {
			_, next, err = s.PackEvents(ctx, from, before, packBatch)
			return err
		})
		if err != nil || next.IsZero() {
			return err
		}
	}
}
