package room_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// A room that is opened early expires a day after its start if no participant joins,
// like a room that opened on time.
func TestOpenEarly(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f := newFixture(t)
	start := f.clock.Now().Add(time.Hour)
	id, _ := f.create(t, room.Spec{StartAt: start, MaxParticipants: 5, ExternalUserID: "7"})
	link, err := f.OpenEarly(ctx, f.project, id, room.OpenEarlyRequest{Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	r := f.room(t, id)
	if r.State != room.Open || !r.OpenedAt.Equal(f.clock.Now()) || !r.DueAt.Equal(start.Add(24*time.Hour)) {
		t.Fatalf("opened early: got %+v, want it open since now, due a day after its start", r)
	}
	if _, err := f.OpenEarly(ctx, f.project, id, room.OpenEarlyRequest{Name: "Ada", ExternalUserID: "7"}); err != nil {
		t.Fatal(err)
	}
	if got := f.eventTypes(t, id); !slices.Equal(got, []event.Type{event.RoomScheduled, event.RoomOpened}) {
		t.Errorf("got the events %v, want scheduled and opened", got)
	}
	visit := guest(1)
	_, visit.LinkToken, _ = strings.Cut(link, "#t=")
	if a := f.enter(t, id, visit, "PA_1"); a.Seat.Role != room.Host {
		t.Errorf("got the role %s by the link, want host", a.Seat.Role)
	}

	id, _ = f.create(t, room.Spec{StartAt: f.clock.Now().Add(time.Hour), MaxParticipants: 5})
	if _, err := f.OpenEarly(ctx, f.project, id, room.OpenEarlyRequest{Name: "Ada", ExternalUserID: "7"}); !fault.Is(err,
		fault.Invalid) {
		t.Errorf("an external_user_id that the room does not have: got %v, want Invalid", err)
	}
	if got := f.eventTypes(t, id); !slices.Equal(got, []event.Type{event.RoomScheduled}) {
		t.Errorf("got the events %v, want scheduled", got)
	}
	other := storetest.Project(t, f.db)
	if _, err := f.OpenEarly(ctx, other, id, room.OpenEarlyRequest{Name: "Ada"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a room of another project: got %v, want NotFound", err)
	}
}

// A rescheduled room opens at its new start, earlier or later than the old one.
func TestReschedule(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, by := range map[string]time.Duration{"later": time.Hour, "sooner": -30 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			start := f.clock.Now().Add(time.Hour)
			id, _ := f.create(t, room.Spec{StartAt: start, MaxParticipants: 5})
			if _, err := f.Reschedule(ctx, f.project, id, room.SpecChange{StartAt: start.Add(by)}, nil); err != nil {
				t.Fatal(err)
			}
			if got := f.eventTypes(t, id); !slices.Equal(got, []event.Type{event.RoomScheduled, event.RoomScheduled}) {
				t.Errorf("got the events %v, want scheduled twice", got)
			}
			f.clock.advance(start.Add(by - time.Millisecond).Sub(f.clock.Now()))
			f.Sweep(ctx)
			if r := f.room(t, id); r.State != room.Scheduled {
				t.Fatalf("before its start: got the state %s, want scheduled", r.State)
			}
			f.clock.advance(time.Millisecond)
			f.Sweep(ctx)
			if r := f.room(t, id); r.State != room.Open {
				t.Fatalf("at its start: got the state %s, want open", r.State)
			}
			if _, err := f.Reschedule(ctx, f.project, id, room.SpecChange{}, nil); !fault.Is(err, fault.Conflict) {
				t.Errorf("reschedule an open room: got %v, want Conflict", err)
			}
		})
	}
}

// Unchanged fields are not checked again; changed fields are checked against the
// current plan.
func TestReschedule_SmallerPlan(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{StartAt: f.clock.Now().Add(time.Hour), MaxParticipants: 50, Duration: 90 * time.Minute})
	f.plan = room.Entitlements{MaxParticipants: 5, Duration: 30 * time.Minute, BreakoutRooms: 1}
	title, many, long := "New", 6, 45*time.Minute
	if _, err := f.Reschedule(ctx, f.project, id, room.SpecChange{Title: &title}, nil); err != nil {
		t.Fatal(err)
	}
	if r := f.room(t, id); r.Title != "New" || r.MaxParticipants != 50 || r.Duration != 90*time.Minute ||
		r.BreakoutRooms != 16 {
		t.Errorf("got %+v, want the title New and all else unchanged", r)
	}
	if _, err := f.Reschedule(ctx, f.project, id, room.SpecChange{MaxParticipants: &many}, nil); err == nil ||
		err.Error() != "max_participants must be between 1 and 5, not 6" {
		t.Errorf("beyond the plan: got %v, want the bound 5", err)
	}
	out, err := f.Reschedule(ctx, f.project, id, room.SpecChange{Duration: &long}, nil)
	if err != nil || len(out.Adjusted) != 1 || f.room(t, id).Duration != 30*time.Minute {
		t.Errorf("a longer time: got adjusted %v, error %v, want one and 30 minutes", out.Adjusted, err)
	}
}

// A participant who reconnects is listed as one person.
func TestAnalytics_DuringReconnect(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 5})
	a := f.enter(t, id, guest(1), "PA_1")
	f.clock.advance(10 * time.Second)
	f.leave(a, "PA_1", room.LeftLost)
	f.clock.advance(5 * time.Second)
	a = f.enter(t, id, guest(1), "PA_2")
	f.clock.advance(1500 * time.Millisecond)
	found, err := f.Analytics(ctx, f.project, id)
	if err != nil || len(found.People) != 1 || found.Total != 11500*time.Millisecond ||
		found.People[0].Duration != found.Total ||
		found.People[0].Connections != 2 || !found.People[0].LeftAt.IsZero() {
		t.Fatalf("got %+v, %v, want one person with two connections of 11.5 s together", found, err)
	}
	running, err := f.RunningRoom(ctx, f.project, id)
	if err != nil || len(running.People) != 1 || running.People[0].Connection != "PA_2" {
		t.Errorf("got the people %+v, error %v, want one with PA_2", running.People, err)
	}
	f.leave(a, "PA_2", room.LeftByChoice)
	left := f.clock.Now()
	f.clock.advance(time.Minute)
	if found, err = f.Analytics(ctx, f.project, id); err != nil || !found.People[0].LeftAt.Equal(left) ||
		found.Total != 11500*time.Millisecond {
		t.Errorf("after the end: got %+v, %v, want the leave at %s and 11.5 s in total", found, err, left)
	}
}

// A link with an Idempotency-Key is created once, and its result is stored.
func TestInvite_IdempotencyKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 5})
	once := &room.IdempotencyKey{ProjectID: f.project.ID, Route: "/join", Key: "k", Body: []byte("{}")}
	link, err := f.Invite(ctx, f.project, id, room.Invitation{Role: room.Guest, IdempotencyKey: once})
	if err != nil {
		t.Fatal(err)
	}
	other := *once
	end, err := f.BeginIdempotent(ctx, once)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.Invite(ctx, f.project, id, room.Invitation{Role: room.Guest, IdempotencyKey: once})
	if err != nil || again != link {
		t.Fatalf("got the link %q, %v; want %q again", again, err, link)
	}
	end()
	_, err = f.Invite(ctx, f.project, id, room.Invitation{Role: room.Guest, IdempotencyKey: &other})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("another process with the same key: got %v, want Conflict", err)
	}
}

// More rooms than one transaction merges end on one day. Merging changes no total.
func TestMergePastRoomCounts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f := newFixture(t)
	start := time.Date(2026, 11, 29, 1, 0, 0, 0, time.UTC)
	const meetings = 501
	storetest.Fill(t, f.db, f.project.ID, meetings, start, start.Add(12*time.Hour), 1)
	id, _ := f.create(t, room.Spec{MaxParticipants: 5})
	if err := f.EndByAPI(ctx, f.project, id); err != nil {
		t.Fatal(err)
	}
	check := func(wantRows int) {
		t.Helper()
		page, total, err := f.PastRooms(ctx, f.project, room.PastQuery{Offset: meetings, Limit: 1})
		if err != nil || total != meetings+1 || len(page) != 1 || page[0].ID != id {
			t.Errorf("got %+v of %d, %v, want the room %s of %d", page, total, err, id, meetings+1)
		}
		rows := 0
		err = f.db.QueryRow(ctx, nil, `SELECT count(*) FROM past_room_counts`, nil, &rows)
		if err != nil || rows != wantRows {
			t.Errorf("got %d rows, %v, want %d", rows, err, wantRows)
		}
	}
	check(meetings + 1)
	if err := f.MergePastRoomCounts(ctx); err != nil {
		t.Fatal(err)
	}
	check(2) // the room of the API ended on another day, earlier
}
