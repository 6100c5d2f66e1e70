package room

import (
	"context"
	"time"
)

// Media is what rooms need of a media engine. A room creation never touches
// it: the engine hears of a session when somebody comes in.
type Media interface {
	// Open makes the session ready for participants. Opening one that is
	// open already changes nothing.
	Open(ctx context.Context, s MediaSession) error
	// Close ends the session; whoever is in it is told that the room is over.
	// Closing one that is unknown is not an error.
	Close(ctx context.Context, session string) error
	// Participants lists who is in the session now. An unknown session has none.
	Participants(ctx context.Context, session string) ([]Present, error)
	// Remove takes a participant out. An absent one is not an error.
	Remove(ctx context.Context, session, identity string) error
	// Pass returns a signed media token with which the page connects.
	Pass(p MediaPass) (string, error)
}

// MediaSession is one live period of a room as the engine sees it.
type MediaSession struct {
	Name            string // internal name, "<room_id>.<n>", fresh for each live period
	Type            Type   // an audio session carries sound only, enforced by the engine
	MaxParticipants int    // a second bound behind the seats
}

// MediaPass is what a media token grants. Roles come from here and from
// nothing a participant can write.
type MediaPass struct {
	Session  string
	Identity string
	Name     string // display name
	Role     Role
	Type     Type          // decides which sources may be published
	TTL      time.Duration // how long the token opens the door; a connection outlives it
}

// Present is a participant found in a session.
type Present struct {
	Identity string
	SID      string // the engine's id of this connection; a rejoin has a new one
	JoinedAt time.Time
}

// MediaObserver hears what happens in the engine, in order for each session.
// Events are hints: a sweep over Participants makes the rows true.
type MediaObserver interface {
	ParticipantJoined(session, identity, sid string, at time.Time)
	ParticipantLeft(session, identity, sid string, at time.Time, reason LeaveReason)
}

// LeaveReason says why a connection ended.
type LeaveReason string

// The reasons for leaving.
const (
	LeftByChoice LeaveReason = "left"            // said goodbye
	LeftLost     LeaveReason = "connection_lost" // no goodbye: network or killed browser
	LeftReplaced LeaveReason = "replaced"        // the same person connected again
	LeftRemoved  LeaveReason = "removed"         // taken out by a host or the server
	LeftRoomOver LeaveReason = "room_ended"
	LeftServer   LeaveReason = "server" // the server stopped or was lost
)
