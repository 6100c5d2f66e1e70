// Package room defines rooms: their types and states, their life cycle, and the
// rules for joining and moderating them. It imports no transport, database or
// media engine; those implement its interfaces Store, Media and Webhooks.
package room

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"parley/internal/event"
)

// Type says which media a room carries.
type Type string

// The types of a room.
const (
	Video Type = "video" // audio, camera and screen share
	Audio Type = "audio" // audio only
)

// Role says what a participant may do in a room. The link grants it.
type Role string

// The roles.
const (
	Host   Role = "host"
	CoHost Role = "cohost" // moderates like a host, but cannot end the room
	Guest  Role = "guest"
)

// State is the state of a room. The transitions are scheduled → open → active →
// ended, scheduled → cancelled, open → ended and open → expired. Ended, cancelled
// and expired are final.
type State string

// The states of a room.
const (
	Scheduled State = "scheduled"
	Open      State = "open"   // participants may join, none has joined yet
	Active    State = "active" // at least one participant has joined
	Ended     State = "ended"
	Cancelled State = "cancelled"
	Expired   State = "expired" // no participant ever joined
)

// EndReason says why a room ended.
type EndReason string

// The reasons why a room ended.
const (
	EndedHost      EndReason = "host" // a host ended it for all
	EndedAPI       EndReason = "api"
	EndedEmpty     EndReason = "empty_timeout"
	EndedDuration  EndReason = "duration"
	EndedSuspended EndReason = "project_suspended"
	EndedServer    EndReason = "server"
)

// Room is a room as an API call creates it. Its id is never reused, and a room
// that is over is never opened again.
type Room struct {
	ID        string
	ProjectID string
	Spec
	State     State
	EndReason EndReason
	Features  Features
	Locks     Locks

	CreatorLinkHash       string // hash of the token in the creator's link
	CreatorLinkRedeemedBy string // hash of the seat key that redeemed the link; "" until then

	Session     int  // number of the room's latest session; 0 before the first
	SessionLive bool // whether that session is live
	LastSession int  // the highest session number in use, including those of breakout rooms

	EventSequence int64
	CreatedAt     time.Time
	OpenedAt      time.Time
	StartedAt     time.Time // first join
	EmptySince    time.Time // last leave; zero while a participant is in the room
	EndedAt       time.Time
	DueAt         time.Time // when the sweep must apply transitions again; zero when the room is over

	events          []event.Event // events since the room was read, not stored yet
	requestedEnd    EndReason     // the reason of a requested end; "" if none was requested
	metadataChanged bool          // the room's metadata must be published to its pages again
}

// Over reports whether the room is in a final state.
func (r *Room) Over() bool {
	return r.State == Ended || r.State == Cancelled || r.State == Expired
}

// SessionID returns the name of session n of a room in the media engine: "<room_id>.<n>".
func SessionID(roomID string, n int) string { return fmt.Sprintf("%s.%d", roomID, n) }

// ParseSessionID splits a session name into the room's id and the session number.
// ok is false if id is not a session name.
func ParseSessionID(id string) (roomID string, n int, ok bool) {
	roomID, number, found := strings.Cut(id, ".")
	n, err := strconv.Atoi(number)
	return roomID, n, found && roomID != "" && err == nil && n > 0
}

// Attendance is one connection of one participant, from join to leave.
type Attendance struct {
	ID         string
	RoomID     string
	Session    int
	SeatID     string
	Connection string
	Hidden     bool
	Node       string // the node that hosts the session and recorded this
	JoinedAt   time.Time
	LeftAt     time.Time // zero while the participant is connected
	Reason     LeaveReason

	ConnectionType ConnectionType    // when it was recorded
	Quality        ConnectionQuality // at the last reconciliation
	PoorFor        time.Duration     // how long the quality was poor or lost, in steps of reconcileEvery
}

// Session is one live period of a room, or of one of its breakout rooms. It is
// one room of the media engine.
type Session struct {
	RoomID   string
	N        int
	Breakout int // 0 for the room itself
	State    SessionState
}

// SessionState says whether a session is live in the media engine.
type SessionState string

// The states of a session.
const (
	SessionLive    SessionState = "live"
	SessionClosing SessionState = "closing" // over, but not yet closed in the engine
	SessionClosed  SessionState = "closed"
)

// Occupancy counts the seats of a room, including its breakout rooms.
type Occupancy struct {
	Taken       int       // seats reserved or joined, without hidden ones
	Joined      int       // seats whose participant is connected, without hidden ones
	Hidden      int       // hidden seats, reserved or joined
	Unused      int       // taken seats to which no participant has ever connected
	Hosts       int       // connected hosts and co-hosts
	NextRelease time.Time // the earliest HeldUntil; zero if no seat is held
}

// without returns the occupancy after one of the taken seats was freed.
func (o Occupancy) without(seat Seat) Occupancy {
	if seat.Hidden {
		o.Hidden--
	} else {
		o.Taken--
	}
	return o
}

// Link grants a role in a room. The creator's link is stored in the room itself.
type Link struct {
	ID         string // empty for the creator's link
	RoomID     string
	TokenHash  string
	Role       Role
	SingleUse  bool   // only the first browser that joins with the link can use it
	Name       string // suggested display name; may be empty
	UserID     string // the person's id in the integrator's system; may be empty
	Hidden     bool
	Signed     bool   // signed by the backend and not stored; it is stored when it is redeemed
	RedeemedBy string // hash of the seat key that redeemed the link; "" until then
	CreatedBy  string // seat of the host or co-host who created the link in the room; empty if the API created it
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero if the link expires with its room
}

// Breakout is a breakout room of a room.
type Breakout struct {
	RoomID   string
	N        int // number of the breakout room; never reused in a room
	Name     string
	Session  int // number of its session
	OpenedAt time.Time
	ClosedAt time.Time // zero while it is open
}
