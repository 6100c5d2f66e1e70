package room_test

import (
	"context"

	"pgregory.net/rapid"

	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/seal"
)

// isKnown reports whether a visitor has a seat that leads past the waiting room: they are in the room,
// or have left within a minute, or were let in, or their role says who they are.
func (m *meeting) isKnown(rt *rapid.T, p *page) bool {
	ctx := context.Background()
	seat, err := m.db.SeatByKey(ctx, m.id, seal.Hash(guest(p.n).SeatKey))
	if fault.Is(err, fault.NotFound) {
		return false
	}
	if err != nil {
		rt.Fatal(err)
	}
	if seat.Role != room.Guest || seat.Invited || seat.UserID != "" || seat.Demoted {
		return true
	}
	if seat.State == room.Joined || seat.State == room.Reserved && seat.Connection != "" {
		return true
	}
	last, err := m.db.LatestAttendance(ctx, seat)
	if err != nil {
		rt.Fatal(err)
	}
	return seat.Connection != "" && m.clock.Now().Sub(last.LeftAt) < room.RejoinTimeout
}

// waitingRoom turns the waiting room on or off.
func (m *meeting) waitingRoom(rt *rapid.T) {
	p, on := m.page(rt), rapid.Bool().Draw(rt, "on")
	seat := m.seatOf(rt, p)
	err := m.node(rt).UpdateLocks(context.Background(), m.id, guest(p.n).SeatKey, room.LockChange{WaitingRoom: &on})
	if m.assertAllowed(rt, seat, err); err == nil {
		m.locked = on
	}
}

// answerKnock accepts or denies the oldest knock, or accepts all.
func (m *meeting) answerKnock(rt *rapid.T) {
	ctx := context.Background()
	p := m.page(rt)
	seat := m.seatOf(rt, p)
	knocks, err := m.db.Knocks(ctx, m.id)
	if err != nil {
		rt.Fatal(err)
	}
	who := ""
	if len(knocks) > 0 && rapid.Bool().Draw(rt, "one") {
		who = knocks[0].ID
	}
	answer := m.node(rt).Admit
	if who != "" && rapid.Bool().Draw(rt, "turn away") {
		answer = m.node(rt).Deny
	}
	m.assertAllowed(rt, seat, answer(ctx, m.id, guest(p.n).SeatKey, who), "seat_not_found")
}

// checkKnocks fails if a room without a waiting room has knocks, or if a participant with a seat that is
// taken has one.
func (m *meeting) checkKnocks(rt *rapid.T, r *room.Room) {
	ctx := context.Background()
	knocks, err := m.db.Knocks(ctx, m.id)
	if err != nil || len(knocks) > 0 && (r.Over() || !r.Locks.WaitingRoom) || r.Locks.WaitingRoom != m.locked {
		rt.Fatalf("knocks of a room that is %s: got %+v, %v, waiting room %v, want %v, and knocks only then", r.State,
			knocks, err, r.Locks.WaitingRoom, m.locked)
	}
	for _, k := range knocks {
		if seat, err := m.db.SeatByKey(ctx, m.id, k.KeyHash); err == nil && seat.State != room.Free {
			rt.Fatalf("seat of the visitor with the knock %+v: got %+v, want none that is taken", k, seat)
		}
	}
}
