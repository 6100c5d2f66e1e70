package room_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/room"
)

// The timeline of a room shows each action of a host, with who did what to whom, and in the
// order of the events around it. Actions without an effect are not in it.
func TestHostActions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _, ada := f.createWithWaitingRoom(t, 9)
	key := guest(1).SeatKey
	on, off := true, false
	ids := map[string]string{}
	for n := 2; n <= 5; n++ {
		f.assertKnocks(t, id, guest(n))
		f.clock.advance(time.Millisecond)
	}
	names, knocks := f.waitingKnocks(t, id)
	for i, name := range names {
		ids[name] = knocks[i]
	}
	step := func(name string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f.clock.advance(time.Second)
	}
	step("deny", f.Deny(ctx, id, key, ids["Guest 5"]))
	step("admit one", f.Admit(ctx, id, key, ids["Guest 2"]))
	step("admit all", f.Admit(ctx, id, key, ""))
	step("admit nobody", f.Admit(ctx, id, key, ""))
	ben := f.enter(t, id, guest(2), "PA_2")
	f.enter(t, id, guest(3), "PA_3")
	step("mute one", f.Mute(ctx, id, key, ben.Seat.ID))
	step("mute guests", f.Mute(ctx, id, key, ""))
	step("lock", f.UpdateLocks(ctx, id, key, room.LockChange{Chat: &on, Microphone: &off, WaitingRoom: &off}))
	step("lock again", f.UpdateLocks(ctx, id, key, room.LockChange{Chat: &on}))
	step("make co-host", f.SetRole(ctx, id, key, ben.Seat.ID, room.CoHost))
	step("make co-host again", f.SetRole(ctx, id, key, ben.Seat.ID, room.CoHost))
	opening := room.OpenBreakoutsRequest{Names: []string{"One", "Two"}}
	_, err := f.OpenBreakouts(ctx, id, key, opening)
	step("open breakout rooms", err)
	step("move", f.Move(ctx, id, key, ben.Seat.ID, 2))
	step("move oneself", f.Move(ctx, id, key, "", 2))
	step("close", f.CloseBreakouts(ctx, id, key))
	step("close again", f.CloseBreakouts(ctx, id, key))
	step("announce", f.Broadcast(ctx, id, key, "A private text"))
	f.engine.setError(errors.New("away"))
	if err := f.Mute(ctx, id, key, ben.Seat.ID); err == nil {
		t.Error("mute without an engine: got no error, want one")
	}
	f.engine.setError(nil)
	step("remove by a co-host", f.Remove(ctx, id, guest(2).SeatKey, ids["Guest 3"]))
	step("readmit", f.Readmit(ctx, id, key, ids["Guest 3"]))
	step("readmit again", f.Readmit(ctx, id, key, ids["Guest 3"]))
	_, err = f.RemoveBySeat(ctx, id, ben.Seat.ID)
	step("remove by an operator", err)
	step("end", f.EndByHost(ctx, id, key))

	host := room.HostActor{SeatID: ada.Seat.ID, Name: "Guest 1", Role: room.Host}
	visitor := func(n string, role room.Role) room.HostActor {
		return room.HostActor{SeatID: ids["Guest "+n], Name: "Guest " + n, Role: role}
	}
	two, benAsCoHost := 2, visitor("2", room.CoHost)
	want := []room.HostAction{
		{Kind: room.HostDenied, By: host, Target: visitor("5", room.Guest)},
		{Kind: room.HostAdmitted, By: host, Target: visitor("2", room.Guest)},
		{Kind: room.HostAdmittedAll, By: host, Details: room.HostActionDetails{Count: 2}},
		{Kind: room.HostMuted, By: host, Target: visitor("2", room.Guest), Details: room.HostActionDetails{Count: 1}},
		{Kind: room.HostMutedGuests, By: host, Details: room.HostActionDetails{Count: 2}},
		{Kind: room.HostChangedLocks, By: host,
			Details: room.HostActionDetails{Locks: map[string]bool{"chat": true, "waiting_room": false}}},
		{Kind: room.HostChangedRole, By: host, Target: visitor("2", room.Guest),
			Details: room.HostActionDetails{Role: room.CoHost}},
		{Kind: room.HostOpenedBreakouts, By: host, Details: room.HostActionDetails{Count: 2}},
		{Kind: room.HostMoved, By: host, Target: benAsCoHost, Details: room.HostActionDetails{Breakout: &two}},
		{Kind: room.HostClosedBreakouts, By: host, Details: room.HostActionDetails{Count: 2}},
		{Kind: room.HostBroadcast, By: host},
		{Kind: room.HostRemoved, By: benAsCoHost, Target: visitor("3", room.Guest)},
		{Kind: room.HostReadmitted, By: host, Target: visitor("3", room.Guest)},
		{Kind: room.HostRemoved, By: room.HostActor{Role: room.Management}, Target: benAsCoHost},
		{Kind: room.HostEnded, By: host},
	}
	got, err := f.HostActions(ctx, id, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	events := int64(len(f.eventTypes(t, id)))
	last := room.HostAction{}
	for i, a := range got {
		if a.N != last.N+1 || a.RoomID != id || a.Sequence < last.Sequence || a.Sequence > events || a.At.Before(last.At) {
			t.Errorf("action %d: got %+v after %+v, want the next number and no earlier time or event", i, a, last)
		}
		last = a
		got[i].N, got[i].RoomID, got[i].Sequence, got[i].At = 0, "", 0, time.Time{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("host actions differ (-want +got):\n%s", diff)
	}
	if rest, err := f.HostActions(ctx, id, 14, 1); err != nil || len(rest) != 1 || rest[0].Kind != room.HostEnded {
		t.Errorf("actions after number 14: got %+v, %v, want the end", rest, err)
	}
}

// A connection's quality is stored at each reconciliation, with the time for which it was poor.
func TestReconcile_StoresQuality(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, ada := f.startRoom(t, room.Spec{MaxParticipants: 4})
	for _, q := range []room.ConnectionQuality{room.QualityExcellent, room.QualityPoor, room.QualityLost,
		room.QualityGood, room.QualityUnknown} {
		f.engine.setQuality(ada.SessionID, ada.Seat.ID, q)
		f.Reconcile(ctx)
	}
	got, err := f.Attendance(ctx, id)
	if err != nil || len(got) != 1 || got[0].Quality != room.QualityGood || got[0].PoorFor != 20*time.Second {
		t.Errorf("attendance: got %+v, %v, want the quality good, after 20 s poor", got, err)
	}
}
