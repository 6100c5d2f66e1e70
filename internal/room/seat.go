package room

import (
	"cmp"
	"context"
	"time"

	"parley/internal/fault"
)

// Seat is the right of one participant to be in a room. Its id is the
// participant's identity.
type Seat struct {
	ID         string
	RoomID     string
	KeyHash    string // hash of the seat key; identifies the browser when it returns
	Name       string
	UserID     string // the person's id in the integrator's system; may be empty
	Role       Role
	Hidden     bool // the participant is invisible to others and not counted
	Breakout   int  // the breakout room that the participant is assigned to; 0 for the room itself
	HandOrder  int  // position among the raised hands, increasing over the room's life; 0 while the hand is down
	State      SeatState
	Connection string    // the engine's id of the latest connection
	HeldUntil  time.Time // the seat is held for a connection until then; zero if it is not held
	RemovedAt  time.Time // when a host removed the participant, who may not return; zero if not removed
	Invited    bool      // a host let the participant in, or the link is for one person
	Demoted    bool      // a host removed the co-host role; no link grants it again
	PromotedBy string    // id of the seat of the co-host who gave the co-host role; empty if nobody or a host
	Rating     Rating    // how the participant rated the meeting; empty if not rated
	Network    string    // address prefix that reserved the seat of an anonymous guest, until it connects
	CreatedAt  time.Time
}

// PublicID returns the participant's id in the API: the integrator's id of the
// person if there is one, otherwise the seat's id.
func (s Seat) PublicID() string { return cmp.Or(s.UserID, s.ID) }

// SeatState says whether a seat is taken.
type SeatState string

// The states of a seat. Reserved and joined seats are taken.
const (
	Reserved SeatState = "reserved" // a token was issued, or a lost connection may reconnect
	Joined   SeatState = "joined"
	Free     SeatState = "free"
)

// unused reports whether no participant has ever connected with the seat.
func (seat *Seat) unused() bool { return seat.Connection == "" && seat.State != Joined }

// anonymous reports whether the seat belongs to a guest without a personal
// invitation, whom no host has demoted or removed.
func (seat *Seat) anonymous() bool {
	return seat.Role == Guest && !seat.Invited && seat.UserID == "" && !seat.Demoted && seat.RemovedAt.IsZero()
}

// attachLatest assigns the participant's latest current connection to the seat. It
// returns false if there is none.
func (seat *Seat) attachLatest(present []Attendance) bool {
	attached := false
	for _, a := range present {
		if a.SeatID == seat.ID {
			seat.State, seat.Connection, attached = Joined, a.Connection, true
		}
	}
	return attached
}

// vacate frees or holds a seat whose connection has ended, depending on the reason.
// If the page asked for the seat again meanwhile, the seat stays held, unless the
// participant was removed.
func (seat *Seat) vacate(reason LeaveReason, now time.Time) {
	until := seat.HeldUntil
	switch reason {
	case LeftRemoved:
		until = time.Time{}
	case LeftByChoice:
	case LeftServer:
		until = now.Add(rejoinTimeout)
	default:
		until = later(until, now.Add(reconnectTimeout))
	}
	seat.State, seat.HeldUntil = Reserved, until
	if !until.After(now) {
		seat.State, seat.HeldUntil = Free, time.Time{}
	}
}

// free takes a seat from its participant.
func (seat *Seat) free() { seat.State, seat.HeldUntil, seat.Network = Free, time.Time{}, "" }

// releaseSeat frees a seat. It deletes the row if an anonymous guest never
// connected, so that strangers cannot fill the database.
func (s *core) releaseSeat(ctx context.Context, seat Seat) error {
	if seat.unused() && seat.anonymous() && !s.reportQueue.hasPending(seat.ID) {
		deleted, err := s.store.DeleteUnusedSeat(ctx, seat.ID)
		if err != nil || deleted {
			return err
		}
	}
	seat.free()
	return s.store.UpdateSeat(ctx, seat)
}

// revokeKey makes the key of a seat useless.
func (seat *Seat) revokeKey() { seat.KeyHash = "given up: " + seat.ID }

// revokeSeat makes the key of a seat useless and releases the seat. If its
// participant is connected, the seat is released when they leave.
func (s *Joining) revokeSeat(ctx context.Context, seat Seat) error {
	seat.revokeKey()
	if seat.State != Joined {
		return s.releaseSeat(ctx, seat)
	}
	return s.store.UpdateSeat(ctx, seat)
}

// disconnect ends the attendance of a seat's participant and frees the seat. It
// returns the sessions from which the caller must remove the participant in the
// engine.
func (s *core) disconnect(ctx context.Context, r *Room, seat *Seat, now time.Time, reason LeaveReason) (
	sessions []string, err error,
) {
	present, err := s.store.CurrentAttendance(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	for _, a := range present {
		if a.SeatID == seat.ID {
			left, err := s.store.Seat(ctx, r.ID, seat.ID) // without the changes that the caller made
			if err != nil {
				return nil, err
			}
			if err := s.endAttendance(ctx, r, left, a, now, now, reason); err != nil {
				return nil, err
			}
			sessions = append(sessions, SessionID(r.ID, a.Session))
		}
	}
	if seat.State != Free {
		seat.free()
		err = s.store.UpdateSeat(ctx, *seat)
	}
	return sessions, err
}

// checkCapacity returns Conflict (room_full) if the room has no free seat for one
// more participant.
func (r *Room) checkCapacity(seat Seat, o Occupancy) error {
	switch {
	case seat.Hidden && o.Hidden >= maxHiddenParticipants:
		return fault.New(fault.Conflict, codeRoomFull,
			"this room is full: it already has %d hidden participants, the maximum", maxHiddenParticipants)
	case !seat.Hidden && o.Taken >= r.MaxParticipants:
		full := fault.New(fault.Conflict, codeRoomFull, "this room is full: all %d seats are taken", r.MaxParticipants)
		full.Limit = r.MaxParticipants
		return full
	}
	return nil
}

// displacedGuest is a guest whose seat was given to another visitor.
type displacedGuest struct {
	identity string
	sessions []string // sessions in which the engine may hold a connection of the guest
}

// chooseDisplaced returns the seat to free for a visitor in a full room, if any.
func (seat Seat) chooseDisplaced(taken []Seat) (guest Seat, found bool) {
	isHost := seat.Role != Guest
	for _, other := range taken {
		switch {
		case other.Hidden:
		case other.Role != Guest, !isHost && !other.anonymous():
			return Seat{}, false
		case other.anonymous() && (isHost || other.unused()) && (!found || other.displacedBefore(guest)):
			guest, found = other, true
		}
	}
	return guest, found
}

// hoardedAfter is the age from which an unused seat may give way to a guest from another network.
// A page that has not connected by then has failed.
const hoardedAfter = 15 * time.Second

// chooseHoarded returns the oldest unused seat of the network with the most unused seats, so that
// one network that never connects cannot keep a room full. The seat must be at least hoardedAfter
// old, and with one more seat the guest's own network must still have fewer unused ones.
func chooseHoarded(taken []Seat, own string, now time.Time) (oldest Seat, found bool) {
	isUnused := func(seat Seat) bool { return seat.unused() && seat.anonymous() && !seat.Hidden }
	unused := map[string]int{}
	for _, other := range taken {
		if isUnused(other) {
			unused[other.Network]++
		}
	}
	most := 1 + unused[own]
	for _, n := range unused {
		most = max(most, n)
	}
	if most == 1+unused[own] {
		return Seat{}, false
	}
	for _, other := range taken {
		if isUnused(other) && unused[other.Network] == most &&
			now.Sub(other.CreatedAt) >= hoardedAfter && (!found || other.CreatedAt.Before(oldest.CreatedAt)) {
			oldest, found = other, true
		}
	}
	return oldest, found
}

// displacedBefore reports whether a seat is freed before another: unused seats
// first, the oldest of them first; of the others the newest first.
func (seat Seat) displacedBefore(other Seat) bool {
	if seat.unused() != other.unused() {
		return seat.unused()
	}
	return seat.CreatedAt.Before(other.CreatedAt) == seat.unused()
}
