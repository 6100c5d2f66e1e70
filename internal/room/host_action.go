package room

import (
	"context"
	"time"
)

// MaxHostActions is how many actions of hosts are stored for a room. The earliest are
// deleted, because a host can act as often as they like.
const MaxHostActions = 500

// HostActionKind is the kind of an action of a host.
type HostActionKind string

// The kinds of actions of hosts.
const (
	HostRemoved         HostActionKind = "host.removed"
	HostReadmitted      HostActionKind = "host.readmitted"
	HostMuted           HostActionKind = "host.muted"        // one person
	HostMutedGuests     HostActionKind = "host.muted_guests" // all guests
	HostChangedRole     HostActionKind = "host.changed_role"
	HostChangedLocks    HostActionKind = "host.changed_locks"
	HostAdmitted        HostActionKind = "host.admitted" // one visitor of the waiting room
	HostAdmittedAll     HostActionKind = "host.admitted_all"
	HostDenied          HostActionKind = "host.denied"
	HostOpenedBreakouts HostActionKind = "host.opened_breakouts"
	HostClosedBreakouts HostActionKind = "host.closed_breakouts"
	HostMoved           HostActionKind = "host.moved" // another person to a breakout room, or back
	HostBroadcast       HostActionKind = "host.broadcast"
	HostEnded           HostActionKind = "host.ended"
)

// Management is the role in a HostAction of an operator or an integrator who acted through the
// management API. It is never the role of a seat.
const Management Role = "management"

// HostAction records what a host or a co-host did in a room, or that a participant was removed
// through the management API. It is stored in
// the transaction of the action or, if the action changes no row, after it.
type HostAction struct {
	RoomID   string
	N        int64 // number of the action in its room; set by the store
	Sequence int64 // number of the last event of the room before the action
	At       time.Time
	Kind     HostActionKind
	By       HostActor
	// Target is the zero value if the action is not about one person. The seat of a denied
	// visitor does not exist.
	Target  HostActor
	Details HostActionDetails
}

// HostActor is a person in a HostAction, as they were then. The name is empty after it was
// erased. An operator has only the role.
type HostActor struct {
	SeatID string
	Name   string
	Role   Role
}

// HostActionDetails describes the change of a HostAction. It contains no names and no texts.
type HostActionDetails struct {
	Role     Role            `json:"role,omitempty"`     // the new role
	Locks    map[string]bool `json:"locks,omitempty"`    // the changed locks
	Count    int             `json:"count,omitempty"`    // of people or breakout rooms
	Breakout *int            `json:"breakout,omitempty"` // number of the breakout room; 0 is the room itself
}

// actorOf returns the person with a seat. The name of a hidden participant is included, because only
// operators and integrators read host actions.
func actorOf(seat Seat) HostActor {
	return HostActor{SeatID: seat.ID, Name: seat.Name, Role: seat.Role}
}

// HostActions returns at most limit actions in a room after a number, in order.
func (s *Bookings) HostActions(ctx context.Context, roomID string, after int64, limit int) ([]HostAction, error) {
	return s.store.HostActions(ctx, roomID, after, limit)
}

// recordHostAction stores an action in a room that the transaction has locked.
func (s *core) recordHostAction(ctx context.Context, r *Room, a HostAction, now time.Time) error {
	a.RoomID, a.Sequence, a.At = r.ID, r.EventSequence, now
	return s.store.AppendHostAction(ctx, a, MaxHostActions)
}

// recordDoneAction stores an action that the engine has done already. A failure is only
// logged, because the caller would repeat the action.
func (s *Moderation) recordDoneAction(ctx context.Context, roomID string, a HostAction) {
	ctx = context.WithoutCancel(ctx) // also for a client that has gone
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		return s.recordHostAction(ctx, r, a, now)
	})
	s.logFailure(ctx, "record host action", err, "room_id", roomID, "kind", a.Kind)
}

// changedLocks returns the locks that differ, with their new values.
func changedLocks(before, after Locks) map[string]bool {
	changed := map[string]bool{}
	for name, of := range map[string]func(Locks) bool{
		"microphone":   func(l Locks) bool { return l.Microphone },
		"camera":       func(l Locks) bool { return l.Camera },
		"screen_share": func(l Locks) bool { return l.ScreenShare },
		"chat":         func(l Locks) bool { return l.Chat },
		"waiting_room": func(l Locks) bool { return l.WaitingRoom },
	} {
		if of(before) != of(after) {
			changed[name] = of(after)
		}
	}
	return changed
}
