package room

import (
	"context"
	"time"
)

// Media is what rooms need of a media engine. A room creation never touches
// it: the engine hears of a session when somebody comes in. In a cluster every
// call but Hosts reaches a session wherever it lives.
type Media interface {
	// Open makes the session ready for participants. Opening one that is
	// open already changes nothing.
	Open(ctx context.Context, s MediaSession) error
	// Close ends the session; whoever is in it is told that the room is over.
	// Closing one that is unknown is not an error.
	Close(ctx context.Context, session string) error
	// Hosts reports whether the session lives in this process.
	IsLocal(session string) bool
	// DropRelayedConnections drops the connections this process relays, since before a moment,
	// to a session whose node was lost: their pages do not know, and connect
	// anew.
	DropRelayedConnections(session string, before time.Time)
	// Participants lists everybody the engine holds in the session, also those
	// whose media is not connected yet. An unknown session has none.
	Participants(ctx context.Context, session string) ([]Participant, error)
	// Admit forwards to the others what a connection publishes and sends. Until
	// then the engine holds it back, and tells nobody of the participant: nothing
	// may reach others before attendance is recorded. Nothing happens where the
	// connection is admitted already, or its session is not in this process.
	Admit(connection string)
	// Remove disconnects a participant. An absent one is not an error. The
	// MediaAuthorizer keeps them from connecting again with their token.
	Remove(ctx context.Context, session, identity string) error
	// Pass returns a signed media token with which the page connects.
	AccessToken(p AccessTokenSpec) (string, error)
	// PreflightToken returns a token with which a page tries for some seconds whether
	// media reaches it. It leads into no session of ours and takes no seat. Each
	// network has a share of the places: Exhausted without one, Unavailable when
	// all are taken, both with CodeCheckBusy.
	PreflightToken(ctx context.Context, network string) (string, error)
	// Announce replaces what the pages in a session read of it. An unknown
	// session is not an error.
	UpdateMetadata(ctx context.Context, session string, info Metadata) error
	// Tell sends a message to the pages of participants, to all in the session
	// when none is named. Who is absent, or away for a moment, does not get it.
	SendMessage(ctx context.Context, session string, identities []string, message Message) error
	// Mute silences the microphones of participants until they unmute
	// themselves, and returns who could be heard before. Absent ones are not an
	// error.
	Mute(ctx context.Context, session string, identities []string) (muted []string, err error)
	// Allow changes what a participant may send, and the role that others read;
	// tracks that are not allowed any more are removed. An absent participant is
	// not an error. It holds for participants whose media is not connected yet,
	// but not for one that connects at the same moment: allow again when its
	// attendance is recorded.
	UpdatePermissions(ctx context.Context, session, identity string, role Role, grants Grants) error
}

// MediaSession is one live period of a room, or of a breakout room, as the
// engine sees it.
type MediaSession struct {
	Name            string // internal name, "<room_id>.<n>", fresh for each live period
	Type            Type   // an audio session carries sound only, enforced by the engine
	MaxParticipants int    // a second bound behind the seats; hidden participants count here
	Metadata        Metadata
}

// Metadata is what everybody in a session may read of it. Pages get it when they
// connect and whenever it changes.
type Metadata struct {
	RoomType  Type           `json:"room_type"`
	EndsAt    *time.Time     `json:"ends_at,omitempty"`  // when the room's time is over; nil before the first join
	Breakout  int            `json:"breakout,omitempty"` // the number of the breakout room this is; 0 for the room itself
	Breakouts []BreakoutInfo `json:"breakouts,omitempty"`
	Locks     Locks          `json:"locks"`
	Hands     []string       `json:"hands,omitempty"`   // identities of those whose hand is up, in the order of raising
	Waiting   int            `json:"waiting,omitempty"` // how many wait to be let in; hosts ask who
}

// BreakoutInfo is a breakout room that is open.
type BreakoutInfo struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
}

// Message is what the server says to pages, as JSON under the topic "parley".
// Participants can send under that topic too, but not without a sender: a page
// takes it for the server's only when the identity it came with is empty. (In
// livekit-client that is the last argument of RoomEvent.DataReceived. The
// participant it gives is also missing for a sender the page does not know yet.)
type Message struct {
	Kind MessageKind `json:"kind"`
	Text string      `json:"text,omitempty"` // of a broadcast
	From string      `json:"from,omitempty"` // which host it is from: a display name

	Identity string   `json:"identity,omitempty"` // who reacts
	Reaction Reaction `json:"reaction,omitempty"`
}

// MessageKind says what a message is about.
type MessageKind string

// The kinds of messages.
const (
	// MessageMove asks a page to take its seat anew: it is elsewhere now.
	MessageMove MessageKind = "move"
	// MessageBroadcast is a host's word to every breakout room.
	MessageBroadcast MessageKind = "broadcast"
	// MessageMuted tells a page that a host has muted its microphone.
	MessageMuted MessageKind = "muted"
	// MessageUnmute asks for somebody's voice. Their page asks them: it turns
	// no microphone on by itself.
	MessageUnmute MessageKind = "unmute"
	// MessageReaction shows for a moment what somebody feels.
	MessageReaction MessageKind = "reaction"
)

// Grants is what one participant may send. Everybody may listen and look.
type Grants struct {
	Microphone, Camera, ScreenShare, Chat bool
}

// AccessTokenSpec is what a media token says: who connects to which session. It says
// nothing of what they may do there, which is decided at each connection.
type AccessTokenSpec struct {
	Session  string
	Identity string
	TTL      time.Duration // how long the token can be used to connect; a connection outlives it
}

// Participant is a participant found in a session.
type Participant struct {
	Identity string
	SID      string // the engine's id of this connection; a rejoin has a new one
	JoinedAt time.Time
	Active   bool // media is connected
}

// MediaObserver hears what happens in the engine, in order for each session.
// Events are hints: a sweep over Participants makes the rows true.
type MediaObserver interface {
	ParticipantJoined(session, identity, sid string, at time.Time)
	ParticipantLeft(session, identity, sid string, at time.Time, reason LeaveReason)
}

// MediaAuthorizer decides at every connection whether the holder of a media
// token may connect now, and with which permissions. After an error nobody is
// admitted.
type MediaAuthorizer interface {
	Authorize(ctx context.Context, session, identity string) (Authorization, error)
}

// Authorization is what one participant may do in a session at this moment.
// The zero value admits nobody.
type Authorization struct {
	Admitted bool
	Name     string // display name
	Role     Role
	Type     Type // of the session; decides, before the grants, which sources there are
	Grants   Grants
	Hidden   bool // the others neither see nor hear of them, and they send nothing
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
	LeftMoved    LeaveReason = "moved"  // to a breakout room, or back
	LeftServer   LeaveReason = "server" // the server stopped or was lost
)
