package room

import (
	"context"
	"time"
)

// Media is the media engine. Creating a room does not call it; a session is opened
// when the first participant joins. In a cluster every method except those about
// this process reaches a session on whichever node hosts it.
type Media interface {
	// Open prepares the session for participants. It does nothing if the session
	// is already open.
	Open(ctx context.Context, s MediaSession) error
	// Close ends the session and tells its participants that the room is over. It
	// does nothing for an unknown session.
	Close(ctx context.Context, session string) error
	// IsLocal reports whether this process hosts the session.
	IsLocal(session string) bool
	// LocalSessions returns the sessions that this process hosts, also those of connection
	// checks.
	LocalSessions() []string
	// SetDraining says whether other nodes host the sessions that are opened from now on.
	SetDraining(draining bool)
	// HandOver makes another node host a session of this process. Its participants connect again, to that
	// node. It does nothing for another session. The error is Conflict if there is no other node.
	HandOver(ctx context.Context, session string) error
	// RelayedPeople returns how many people in sessions of other nodes have their media relayed by the TURN server
	// of this process, and had it before a time.
	RelayedPeople(before time.Time) int
	// EndRelays ends the relays of n of them at most, those first who have had theirs longest. Their pages connect
	// again, through any node.
	EndRelays(n int, before time.Time)
	// DropRelayedConnections closes the connections that this process has relayed
	// since before a time to a session whose node was lost. Their pages do not
	// notice the loss otherwise, and reconnect when the connection closes.
	DropRelayedConnections(session string, before time.Time)
	// Participants lists all participants of the session in the engine, including
	// those whose media is not connected yet. An unknown session has none.
	Participants(ctx context.Context, session string) ([]Participant, error)
	// IsReporting reports whether the MediaObserver has not received yet what the engine reports about a connection.
	IsReporting(connection string) bool
	// ConnectionType returns how the media of a participant reaches this process. It is
	// ConnectionUnknown if the participant is not in a session of this process.
	ConnectionType(session, identity string) ConnectionType
	// Connection returns the engine's id of the connection of a participant. It is empty if the
	// participant is not in a session of this process.
	Connection(session, identity string) string
	// Quality returns the quality of a participant's connection now. It is QualityUnknown
	// if the participant is not in a session of this process.
	Quality(session, identity string) ConnectionQuality
	// Admit makes a connection visible to the other participants and forwards its
	// tracks and data. Before that the engine holds both back, because nothing may
	// reach others before attendance is recorded. It does nothing if the connection
	// is already admitted or its session is not in this process.
	Admit(connection string)
	// Remove disconnects a participant. It does nothing for an absent participant.
	// The MediaAuthorizer prevents another connection with the same token.
	Remove(ctx context.Context, session, identity string) error
	// CloseConnection closes one connection of a participant who belongs in another session,
	// or has a newer connection. The page asks for its seat again. It does nothing if the
	// connection is not in a session of this process.
	CloseConnection(session, identity, connection string)
	// AccessToken returns a signed token with which a page connects.
	AccessToken(p AccessTokenSpec) (string, error)
	// PreflightToken returns a token with which a page tests for some seconds
	// whether media reaches it. It gives no access to rooms and takes no seat. The
	// number of tests is limited. Errors: Exhausted if the network has used its
	// share, Unavailable if all slots are in use, both with CodePreflightBusy.
	PreflightToken(ctx context.Context, network string) (string, error)
	// UpdateMetadata replaces the metadata of a session. It does nothing for an
	// unknown session.
	UpdateMetadata(ctx context.Context, session string, info Metadata) error
	// SendMessage sends a message to the pages of participants, or to all in the
	// session if identities is empty. Participants who are disconnected at that
	// moment do not receive it.
	SendMessage(ctx context.Context, session string, identities []string, message Message) error
	// Mute mutes the microphones of participants, who can unmute themselves, and
	// returns those that were unmuted before. It skips absent participants.
	Mute(ctx context.Context, session string, identities []string) (muted []string, err error)
	// UpdatePermissions sets what a participant may publish, and the role that
	// others see. Tracks that are no longer allowed are removed. It does nothing
	// for an absent participant. It applies to participants whose media is not
	// connected yet, but may miss a participant who connects at the same moment:
	// call it again after recording their attendance.
	UpdatePermissions(ctx context.Context, session, identity string, role Role, grants Grants) error
}

// MediaSession describes a session for the media engine.
type MediaSession struct {
	Name            string // see SessionID; new for each session
	Type            Type   // the engine rejects video tracks in an audio session
	MaxParticipants int    // second limit after the seats; includes hidden participants
	Metadata        Metadata
}

// Metadata is the information about a session that all its participants can read.
// Pages receive it when they connect and when it changes.
type Metadata struct {
	RoomType  Type           `json:"room_type"`
	EndsAt    *time.Time     `json:"ends_at,omitempty"`  // when the room's duration ends; nil before the first join
	Breakout  int            `json:"breakout,omitempty"` // number of this breakout room; 0 for the room itself
	Breakouts []BreakoutInfo `json:"breakouts,omitempty"`
	Locks     Locks          `json:"locks"`
	Hands     []string       `json:"hands,omitempty"` // identities with a raised hand, in the order of raising
	// HandsElsewhere is the number of raised hands in the other rooms; hosts request the list.
	HandsElsewhere int `json:"hands_elsewhere,omitempty"`
	Waiting        int `json:"waiting,omitempty"` // number of waiting visitors; hosts request the list
}

// BreakoutInfo describes an open breakout room.
type BreakoutInfo struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
}

// Message is a data message from the server to pages, as JSON under the topic
// "parley". Participants can also send under that topic, but their messages carry
// their identity. A page therefore accepts a message as the server's only if its
// sender identity is empty. (In livekit-client that is the last argument of
// RoomEvent.DataReceived. The participant argument cannot be used, because it is
// also missing for a sender that the page does not know yet.)
type Message struct {
	Kind MessageKind `json:"kind"`
	Text string      `json:"text,omitempty"` // text of a broadcast
	From string      `json:"from,omitempty"` // display name of the host who caused the message

	Identity string   `json:"identity,omitempty"` // identity of the participant who reacts
	Reaction Reaction `json:"reaction,omitempty"`
}

// MessageKind is the kind of a message.
type MessageKind string

// The kinds of messages.
const (
	// MessageMove asks a page to request its seat again, because the seat was
	// assigned to another breakout room.
	MessageMove MessageKind = "move"
	// MessageBroadcast carries a host's text to the room and all breakout rooms.
	MessageBroadcast MessageKind = "broadcast"
	// MessageMuted tells a page that a host muted its microphone.
	MessageMuted MessageKind = "muted"
	// MessageUnmute asks a participant to unmute. The page asks the person and does
	// not turn the microphone on by itself.
	MessageUnmute MessageKind = "unmute"
	// MessageReaction shows a participant's reaction for a moment.
	MessageReaction MessageKind = "reaction"
)

// Grants says what a participant may publish. All participants may subscribe.
type Grants struct {
	Microphone, Camera, ScreenShare, Chat bool
}

// AccessTokenSpec describes an access token. The token contains no permissions,
// because the MediaAuthorizer decides them at each connection.
type AccessTokenSpec struct {
	Session  string
	Identity string
	TTL      time.Duration // how long the token can be used to connect; a connection outlives its token
}

// Participant is a participant of a session in the engine.
type Participant struct {
	Identity string
	SID      string // the engine's id of this connection; a new connection has a new id
	JoinedAt time.Time
	Active   bool // media is connected
}

// ConnectionQuality is the quality of a connection, as the engine rates it.
type ConnectionQuality string

// The qualities of connections.
const (
	QualityExcellent ConnectionQuality = "excellent"
	QualityGood      ConnectionQuality = "good"
	QualityPoor      ConnectionQuality = "poor"
	QualityLost      ConnectionQuality = "lost"
	QualityUnknown   ConnectionQuality = ""
)

// ConnectionType is how the media of a participant reaches the server.
type ConnectionType string

// The types of connections.
const (
	ConnectionUDP     ConnectionType = "udp"
	ConnectionTCP     ConnectionType = "tcp"
	ConnectionTURN    ConnectionType = "turn"
	ConnectionUnknown ConnectionType = ""
)

// MediaObserver receives joins and leaves from the engine, in order for each
// session. A report may be lost; reconciliation with Participants corrects that.
type MediaObserver interface {
	// ParticipantJoined reports that the connection sid of a participant has joined.
	ParticipantJoined(session, identity, sid string, at time.Time)
	// ParticipantLeft reports that the connection sid of a participant has ended.
	ParticipantLeft(session, identity, sid string, at time.Time, reason LeaveReason)
}

// MediaAuthorizer decides at every connection whether the holder of an access
// token may connect now, and with which permissions. The engine rejects the
// connection after an error.
type MediaAuthorizer interface {
	// Authorize returns the permissions of a participant, or an error if the participant
	// may not connect.
	Authorize(ctx context.Context, session, identity string) (Authorization, error)
}

// Authorization says whether a participant may connect to a session, and with
// which permissions. The zero value rejects the connection.
type Authorization struct {
	Admitted bool
	Name     string // display name
	Role     Role
	Type     Type // type of the session; excludes video sources from an audio session, whatever the grants
	Grants   Grants
	Hidden   bool // invisible to the others, and may publish nothing
}

// LeaveReason says why a connection ended.
type LeaveReason string

// The reasons for leaving.
const (
	LeftByChoice LeaveReason = "left"            // the page disconnected
	LeftLost     LeaveReason = "connection_lost" // the connection broke: network failure or killed browser
	LeftReplaced LeaveReason = "replaced"        // the same person connected again
	LeftRemoved  LeaveReason = "removed"         // removed by a host or the server
	LeftRoomOver LeaveReason = "room_ended"
	LeftMoved    LeaveReason = "moved"  // to a breakout room, or back
	LeftServer   LeaveReason = "server" // the server stopped or was lost
)
