package retention_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/project"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/usage"
	"parley/internal/webhook"
)

const day = 24 * time.Hour

// fixture is a database with one project, and the services that a test of retention
// needs.
type fixture struct {
	storetest.Database
	t         *testing.T
	periods   retention.Periods
	db        *store.DB
	project   project.Project
	now       time.Time
	usage     *usage.Service
	webhooks  *webhook.Service
	retention *retention.Service
	packs     map[string]pack // those of readPacks after the last meeting; nil if no events are packed
	ended     []string        // projects whose rooms were ended
	changed   []string        // projects that were reported as changed
}

func onEachEngine(t *testing.T, periods retention.Periods, test func(t *testing.T, f *fixture)) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		test(t, newFixture(t, d, periods))
	})
}

// onEachEnginePacked is onEachEngine for a test that is repeated with packed events.
func onEachEnginePacked(t *testing.T, periods retention.Periods, test func(t *testing.T, f *fixture)) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		test(t, newFixture(t, d, periods))
	})
	t.Run("packed", func(t *testing.T) {
		storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
			f := newFixture(t, d, periods)
			f.packs = map[string]pack{}
			test(t, f)
			if len(f.packs) == 0 {
				t.Error("got no packed events, want some")
			}
		})
	})
}

func newFixture(t *testing.T, d storetest.Database, periods retention.Periods) *fixture {
	t.Helper()
	f := &fixture{Database: d, t: t, periods: periods, now: time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)}
	f.open()
	f.project = storetest.Project(t, f.db)
	return f
}

// open opens the database and creates the services, as a start of the server does.
func (f *fixture) open() {
	f.t.Helper()
	f.db = f.Open(f.t)
	clock := func() time.Time { return f.now }
	f.usage = usage.NewService(f.db, usage.NoProvider{}, clock)
	f.webhooks = webhook.NewService(f.db, clock, storetest.NewID)
	f.retention = retention.NewService(f.db, f.periods, f, func(id string) { f.changed = append(f.changed, id) }, clock,
		slog.New(slog.DiscardHandler))
}

// EndAllRooms records the call.
func (f *fixture) EndAllRooms(_ context.Context, projectID string) error {
	f.ended = append(f.ended, projectID)
	return nil
}

func (f *fixture) write(work func(ctx context.Context) error) {
	f.t.Helper()
	if err := f.db.Write(f.t.Context(), work); err != nil {
		f.t.Fatal(err)
	}
}

// sweep rolls up the usage and sweeps.
func (f *fixture) sweep() (deleting bool) {
	f.t.Helper()
	if err := f.usage.RollUp(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	deleting, err := f.retention.Sweep(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return deleting
}

// guest is a participant of a meeting.
type guest struct{ name, userID string }

// meeting stores a meeting of an hour that ended at a time, in which guests took part.
// The first guest has created the room, and has redeemed the creator's link and another
// one. A visitor named Refused was refused and not admitted from the waiting room, like one
// with the name of the last guest, and another system reported Marked. The first guest has
// muted the last one, who has changed locks. All events have a webhook delivery.
func (f *fixture) meeting(projectID string, ended time.Time, guests ...guest) *room.Room {
	f.t.Helper()
	defer func(now time.Time) { f.now = now }(f.now)
	f.now = ended // when the deliveries are created
	at := ended.Add(-time.Hour)
	r := storetest.Room(projectID)
	r.CreatorName, r.ExternalUserID, r.WebhookURL = guests[0].name, guests[0].userID, "https://hooks.example.org/"
	r.ClientRoomID, r.CreatedAt, r.OpenedAt = "client "+r.ID, at, at
	f.write(func(ctx context.Context) error {
		if err := f.db.InsertRoom(ctx, r); err != nil {
			return err
		}
		if err := f.db.InsertSession(ctx, room.Session{RoomID: r.ID, N: 1, State: room.SessionLive}, at); err != nil {
			return err
		}
		r.CreatorLinkRedeemedBy = storetest.NewID()
		link := room.Link{
			ID:         storetest.NewID(),
			RoomID:     r.ID,
			TokenHash:  storetest.NewID(),
			Role:       room.Host,
			SingleUse:  true,
			RedeemedBy: r.CreatorLinkRedeemedBy,
			Name:       guests[0].name,
			UserID:     guests[0].userID,
			CreatedAt:  at,
		}
		if err := f.db.InsertLink(ctx, link); err != nil {
			return err
		}
		var actors []room.HostActor
		var events []event.Event
		add := func(kind event.Type, change func(d *event.Data)) {
			d := event.Data{RoomID: r.ID, RoomType: string(r.Type)}
			change(&d)
			events = append(events, event.Event{
				ID:        storetest.NewID(),
				Type:      kind,
				ProjectID: projectID,
				RoomID:    r.ID,
				Sequence:  int64(len(events) + 1),
				At:        at,
				Data:      d,
			})
		}
		for i, g := range guests {
			seat := room.Seat{
				ID:        storetest.NewID(),
				RoomID:    r.ID,
				KeyHash:   storetest.NewID(),
				Name:      g.name,
				UserID:    g.userID,
				Role:      room.Guest,
				State:     room.Free,
				CreatedAt: at,
			}
			if i == 0 {
				seat.KeyHash = r.CreatorLinkRedeemedBy
			}
			a := room.Attendance{
				ID:         storetest.NewID(),
				RoomID:     r.ID,
				Session:    1,
				SeatID:     seat.ID,
				Connection: "PA_1",
				JoinedAt:   at,
				LeftAt:     ended,
				Reason:     room.LeftByChoice,
			}
			if err := f.db.InsertSeat(ctx, seat); err != nil {
				return err
			}
			actors = append(actors, room.HostActor{SeatID: seat.ID, Name: g.name, Role: seat.Role})
			if _, err := f.db.InsertAttendance(ctx, a, a.JoinedAt); err != nil {
				return err
			}
			p := event.Participant{Identity: seat.PublicID(), Name: g.name, Session: r.ID + ".1", Connection: "PA_1"}
			add(event.ParticipantJoined, func(d *event.Data) { d.Participant = &p })
			add(event.FeedbackGiven, func(d *event.Data) {
				d.Feedback = &event.Feedback{Identity: seat.PublicID(), Name: g.name, Rating: "good"}
			})
			add(event.ParticipantLeft, func(d *event.Data) { d.Participant = &p })
		}
		add(event.ParticipantJoinFailed, func(d *event.Data) { d.FailedJoin = &event.FailedJoin{Name: "Refused", Code: "x"} })
		add(event.ParticipantReported, func(d *event.Data) { d.Mark = &event.AttendanceMark{Name: "Marked"} })
		add(event.RoomEnded, func(*event.Data) {})
		events[len(events)-1].At = ended
		if err := f.db.AppendEvents(ctx, events); err != nil {
			return err
		}
		for _, a := range []room.HostAction{
			{Kind: room.HostMuted, By: actors[0], Target: actors[len(actors)-1]},
			{Kind: room.HostChangedLocks, By: actors[len(actors)-1]},
			{Kind: room.HostDenied, By: actors[0], Target: room.HostActor{SeatID: storetest.NewID(),
				Name: guests[len(guests)-1].name}},
			{Kind: room.HostDenied, By: actors[0], Target: room.HostActor{SeatID: storetest.NewID(), Name: "Refused"}},
		} {
			a.RoomID, a.At = r.ID, at
			if err := f.db.AppendHostAction(ctx, a, room.MaxHostActions); err != nil {
				return err
			}
		}
		if _, err := f.webhooks.RoomChanged(ctx, r.WebhookURL, events); err != nil {
			return err
		}
		if err := f.db.CloseSessions(ctx, r.ID, false, ended); err != nil {
			return err
		}
		if err := f.db.MarkSessionClosed(ctx, room.Session{RoomID: r.ID, N: 1}); err != nil {
			return err
		}
		r.State, r.EndReason, r.EndedAt, r.DueAt = room.Ended, room.EndedEmpty, ended, time.Time{}
		r.EventSequence = int64(len(events))
		return f.db.UpdateRoom(ctx, r)
	})
	if f.packs != nil {
		storetest.Pack(f.t, f.db, r.EndedAt.Add(time.Hour))
		f.packs = f.readPacks()
	}
	return r
}

// compaction returns how an erasure ends on the engine.
func (f *fixture) compaction() retention.Compaction {
	if f.URL == "" {
		return retention.CompactionDone
	}
	return retention.CompactionLater
}

// seatOf returns the ID of the seat with a name in a room.
func (f *fixture) seatOf(roomID, name string) string {
	f.t.Helper()
	seats, err := f.db.SeatsOfRoom(f.t.Context(), roomID)
	if err != nil {
		f.t.Fatal(err)
	}
	i := slices.IndexFunc(seats, func(s retention.Seat) bool { return s.Name == name })
	if i < 0 {
		f.t.Fatalf("seats of room %s: got %+v, want one with the name %q", roomID, seats, name)
	}
	return seats[i].ID
}

// rejoin appends a number of events of a participant to an ended meeting.
func (f *fixture) rejoin(r *room.Room, identity, name string, n int) {
	f.t.Helper()
	f.write(func(ctx context.Context) error {
		var events []event.Event
		for i := range n {
			events = append(events, event.Event{
				ID:        storetest.NewID(),
				Type:      event.ParticipantJoined,
				ProjectID: r.ProjectID,
				RoomID:    r.ID,
				Sequence:  r.EventSequence + int64(i) + 1,
				At:        r.EndedAt,
				Data:      event.Data{RoomID: r.ID, Participant: &event.Participant{Identity: identity, Name: name}},
			})
		}
		if err := f.db.AppendEvents(ctx, events); err != nil {
			return err
		}
		longer := *r
		longer.EventSequence += int64(n)
		return f.db.UpdateRoom(ctx, &longer)
	})
}

// suspend suspends the project.
func (f *fixture) suspend() {
	f.t.Helper()
	suspended := f.project
	suspended.SuspendedAt = f.now
	f.write(func(ctx context.Context) error { return f.db.UpdateProject(ctx, suspended) })
}

// recordedErasures returns the sum of the erasures of persons in the audit log.
func (f *fixture) recordedErasures() (sum retention.Erased) {
	f.t.Helper()
	entries, err := f.db.AuditEntries(f.t.Context(), audit.Query{Limit: 100})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Action != audit.PersonErased {
			continue
		}
		var after struct {
			retention.Erased
			HostActions int `json:"host_actions"`
		}
		if err := json.Unmarshal([]byte(e.After), &after); err != nil {
			f.t.Fatalf("entry %d of the audit log: got %q, %v, want counts", e.N, e.After, err)
		}
		sum.Rooms += after.Rooms
		sum.Seats += after.Seats
		sum.Links += after.Links
		sum.Events += after.Events
		sum.Deliveries += after.Deliveries
		sum.HostActions += after.HostActions
		sum.Knocks += after.Knocks
	}
	return sum
}

// totals returns the usage of the organization in the last hundred days.
func (f *fixture) totals() usage.Totals {
	f.t.Helper()
	sum, err := f.usage.Totals(f.t.Context(), usage.Scope{OrganizationID: f.project.OrganizationID},
		f.now.Add(-100*day), f.now)
	if err != nil {
		f.t.Fatal(err)
	}
	return sum
}

// checkNumbers fails unless a room has the events 1 to n.
func (f *fixture) checkNumbers(roomID string, n int) {
	f.t.Helper()
	events, err := f.db.RoomEvents(f.t.Context(), roomID, 0, n+1)
	if err != nil || len(events) != n {
		f.t.Fatalf("room %s: got %d events, %v, want %d", roomID, len(events), err, n)
	}
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			f.t.Errorf("room %s: got the event number %d at position %d, want no gap", roomID, e.Sequence, i+1)
		}
	}
}

// attend adds seats to an ended meeting, each with a connection and without events.
func (f *fixture) attend(r *room.Room, n int) {
	f.t.Helper()
	const batch = 250 // in a transaction
	for first := 0; first < n; first += batch {
		f.write(func(ctx context.Context) error {
			for i := first; i < min(n, first+batch); i++ {
				seat := room.Seat{
					ID:        storetest.NewID(),
					RoomID:    r.ID,
					KeyHash:   storetest.NewID(),
					Name:      fmt.Sprintf("Guest %d", i),
					Role:      room.Guest,
					State:     room.Free,
					CreatedAt: r.CreatedAt,
				}
				if err := f.db.InsertSeat(ctx, seat); err != nil {
					return err
				}
				_, err := f.db.InsertAttendance(ctx, room.Attendance{
					ID:         storetest.NewID(),
					RoomID:     r.ID,
					Session:    1,
					SeatID:     seat.ID,
					Connection: "PA_1",
					JoinedAt:   r.CreatedAt,
					LeftAt:     r.EndedAt,
					Reason:     room.LeftByChoice,
				},
					r.EndedAt)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
}
