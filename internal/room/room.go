// Package room holds rooms: what they are, how they live and end, who may come
// in. It imports the standard library, fault, event, seal and the nouns to its
// left (project, key), and no transport, database or media engine.
package room

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"parley/internal/event"
)

// Type is what a room carries.
type Type string

// The types of a room.
const (
	Video Type = "video" // sound, pictures and screens
	Audio Type = "audio" // sound only
)

// Role is what a participant may do in a room. It comes with the link.
type Role string

// The roles.
const (
	Host   Role = "host"
	CoHost Role = "cohost" // runs the meeting with the host, and does not end it
	Guest  Role = "guest"
)

// State is where a room stands in its life: scheduled → open → active → ended,
// scheduled → cancelled, open → ended, open → expired. The last three are
// final.
type State string

// The states of a room.
const (
	Scheduled State = "scheduled"
	Open      State = "open"   // people may come in, nobody has yet
	Active    State = "active" // somebody has been in
	Ended     State = "ended"
	Cancelled State = "cancelled"
	Expired   State = "expired" // nobody ever came
)

// EndReason says why a room is over.
type EndReason string

// The reasons for an end.
const (
	EndedHost      EndReason = "host" // a host ended it for all
	EndedAPI       EndReason = "api"
	EndedEmpty     EndReason = "empty_timeout"
	EndedDuration  EndReason = "duration"
	EndedSuspended EndReason = "project_suspended"
	EndedServer    EndReason = "server"
)

// Room is what an API call creates. Its id is never reused or revived.
type Room struct {
	ID              string
	ProjectID       string
	ClientRoomID    string // the client's own id, unique in its project for ever; may be empty
	Type            Type
	State           State
	EndReason       EndReason
	Title           string
	WelcomeMessage  string
	CreatorName     string
	ExternalUserID  string // names the creator in the client's own system; may be empty
	LogoutURL       string // where people go who leave; empty is the project's own
	WebhookURL      string // the room's own target for events; may be empty
	MaxParticipants int
	EmptyTimeout    time.Duration // how long it may stay empty after the last leave
	Duration        time.Duration // how long it may last from the first join
	BreakoutRooms   int           // how many breakout rooms may be open at once
	Features        Features
	Locks           Locks
	StartAt         time.Time // when it opens; zero for a quick room

	CreatorLinkHash       string // of the token in the creator's link
	CreatorLinkRedeemedBy string // hash of the seat key that used it first; "" until then

	Session     int  // number of the latest live period; 0 before the first
	SessionLive bool // whether that period is still going on
	LastSession int  // the highest number given to a session, those of breakout rooms included

	EventSequence int64
	CreatedAt     time.Time
	OpenedAt      time.Time
	StartedAt     time.Time // first join
	EmptySince    time.Time // last leave, while nobody is in
	EndedAt       time.Time
	DueAt         time.Time // when it must be looked at again; zero when over

	events          []event.Event // what happened since it was read
	requestedEnd    EndReason     // why somebody wants it to end now; "" when nobody does
	metadataChanged bool          // what its pages were told of it is no longer true
}

// Over reports that the room is in a final state.
func (r *Room) Over() bool {
	return r.State == Ended || r.State == Cancelled || r.State == Expired
}

// SessionID is the internal name of live period n of a room.
func SessionID(roomID string, n int) string { return fmt.Sprintf("%s.%d", roomID, n) }

// ParseSessionID takes a session's internal name apart.
func ParseSessionID(id string) (roomID string, n int, ok bool) {
	roomID, number, found := strings.Cut(id, ".")
	n, err := strconv.Atoi(number)
	return roomID, n, found && roomID != "" && err == nil && n > 0
}

// Seat is the right of one participant to be in a room. Its id is the
// participant's identity.
type Seat struct {
	ID         string
	RoomID     string
	KeyHash    string // recognises who comes back
	Name       string
	UserID     string // the person in the client's own system; may be empty
	Role       Role
	Hidden     bool // its holder is seen by nobody and counts nowhere
	Breakout   int  // the breakout room its holder belongs in; 0 for the room itself
	HandOrder  int  // its place among the raised hands, counted up through the room's life; 0 while it is down
	State      SeatState
	Connection string    // the engine's id of the latest connection
	HeldUntil  time.Time // until when a connection is waited for; zero when none is
	RemovedAt  time.Time // when a host took its holder out, who does not come back; zero for who may
	Invited    bool      // a host let its holder in, or their link is for one person
	Demoted    bool      // a host took back that they are a co-host: no link makes them one again
	CreatedAt  time.Time
}

// PublicID is how clients know the seat's holder: by their own id for the
// person where they gave one.
func (s Seat) PublicID() string { return cmp.Or(s.UserID, s.ID) }

// SeatState says whether a seat is taken.
type SeatState string

// The states of a seat. Reserved and joined ones are taken.
const (
	Reserved SeatState = "reserved" // a token was issued, or a lost connection may return
	Joined   SeatState = "joined"
	Free     SeatState = "free"
)

// Attendance is one connection of one participant, from join to leave.
type Attendance struct {
	ID         string
	RoomID     string
	Session    int
	SeatID     string
	Connection string
	Hidden     bool
	Node       string // whose word this is: the node that hosts the session
	JoinedAt   time.Time
	LeftAt     time.Time // zero while the participant is in
	Reason     LeaveReason
}

// Session is one live period of a room, or of one of its breakout rooms,
// inside the media engine.
type Session struct {
	RoomID   string
	N        int
	Breakout int // 0 for the room itself
	State    SessionState
}

// SessionState says what the media engine owes a session.
type SessionState string

// The states of a session.
const (
	SessionLive    SessionState = "live"
	SessionClosing SessionState = "closing" // over; the engine has yet to close it
	SessionClosed  SessionState = "closed"
)

// Occupancy is how full a room is, its breakout rooms included.
type Occupancy struct {
	Taken       int       // seats reserved or joined, hidden ones aside
	Joined      int       // seats whose participant is in, hidden ones aside
	Hidden      int       // hidden seats reserved or joined
	Unused      int       // of the taken ones, those that nobody has ever connected to
	NextRelease time.Time // the earliest HeldUntil; zero when there is none
}

// Link lets somebody in, in a role. The creator's is part of the room.
type Link struct {
	ID         string // empty for the creator's
	RoomID     string
	TokenHash  string
	Role       Role
	SingleUse  bool   // the first browser that joins with it keeps it
	Name       string // to be filled in; may be empty
	UserID     string // the person in the client's own system; may be empty
	Hidden     bool
	RedeemedBy string // hash of the seat key that used it first; "" until then
	CreatedBy  string // the seat of the host or co-host who made it in the room; empty where it came from elsewhere
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: with its room
}

// Breakout is a room beside a room, for some of its people for a while.
type Breakout struct {
	RoomID   string
	N        int // never used twice in a room
	Name     string
	Session  int // the number of its live period
	OpenedAt time.Time
	ClosedAt time.Time // zero while it is open
}
