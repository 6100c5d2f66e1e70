// Package event says what happened. An event is written in the transaction of
// its cause and never changed. It imports the standard library only.
package event

import "time"

// Type is the kind of an event, as receivers read it.
type Type string

// The kinds of events of a room.
const (
	RoomScheduled     Type = "room.scheduled"
	RoomOpened        Type = "room.opened"
	RoomStarted       Type = "room.started" // the first person came in
	RoomEnded         Type = "room.ended"
	RoomCanceled      Type = "room.cancelled" // called off before it opened
	RoomExpired       Type = "room.expired"   // nobody ever came
	ParticipantJoined Type = "participant.joined"
	ParticipantLeft   Type = "participant.left"
	AttendanceMarked  Type = "attendance.marked" // on the word of another system; not delivered

	ParticipantJoinFailed Type = "participant.join_failed" // somebody found no seat
)

// The kinds of events of a project itself.
const (
	ProjectStatusChanged Type = "project.status_changed"
	KeyRotated           Type = "key.rotated"
	KeyOverlapEnding     Type = "key.overlap_ending"
	WebhookTest          Type = "webhook.test"
)

// Selectable returns the kinds that a receiver may choose among. A test is
// always delivered, and a mark never.
func Selectable() []Type {
	return []Type{RoomScheduled, RoomOpened, RoomStarted, RoomEnded, RoomCanceled, RoomExpired,
		ParticipantJoined, ParticipantLeft, ParticipantJoinFailed,
		ProjectStatusChanged, KeyRotated, KeyOverlapEnding}
}

// Event is one thing that happened to one room.
type Event struct {
	ID        string // UUIDv7, the same in every delivery
	Type      Type
	ProjectID string
	RoomID    string
	Sequence  int64 // counts the events of the room from 1, without gaps
	At        time.Time
	Data      Data
}

// Data is what an event tells about its room and, where one is concerned, its
// participant.
type Data struct {
	RoomID       string          `json:"room_id"`
	ClientRoomID string          `json:"client_room_id,omitempty"`
	SessionID    string          `json:"session_id,omitempty"`
	RoomType     string          `json:"room_type"`
	StartAt      *time.Time      `json:"start_at,omitempty"` // of a scheduled room
	EndReason    string          `json:"end_reason,omitempty"`
	Participant  *Participant    `json:"participant,omitempty"`
	Mark         *AttendanceMark `json:"mark,omitempty"`
	Refusal      *JoinRefusal    `json:"refusal,omitempty"`
}

// Participant is the person an event is about.
type Participant struct {
	Identity string `json:"identity"`
	Name     string `json:"name"`
	Role     string `json:"role"`
	// Session is that of the room, or of the breakout room, it is about.
	Session string `json:"session_id"`
	// Connection pairs each joined with its left.
	Connection string    `json:"connection_id"`
	JoinedAt   time.Time `json:"joined_at"`
	Reason     string    `json:"reason,omitempty"`
}

// AttendanceMark says that somebody attended, as another system tells it. It pairs with
// no leaving and counts nowhere.
type AttendanceMark struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// SourceExternal is the source of marks that clients report.
const SourceExternal = "external"

// JoinRefusal says why somebody was not let in. There is no identity without a
// seat.
type JoinRefusal struct {
	Name string `json:"name"`
	Code string `json:"code"` // as the page was told: "room_full"
}

// ProjectEvent is one thing that happened to a project itself.
type ProjectEvent struct {
	ID        string // UUIDv7, the same in every delivery
	Type      Type
	ProjectID string
	Sequence  int64 // counts these events of the project from 1, without gaps
	At        time.Time
	Data      ProjectData
}

// ProjectData is what an event tells about its project.
type ProjectData struct {
	Status    string `json:"status,omitempty"`
	Suspended *bool  `json:"suspended,omitempty"`
	// Credential is what was rotated: CredentialKey or CredentialSecret.
	Credential    string     `json:"credential,omitempty"`
	OverlapEndsAt *time.Time `json:"overlap_ends_at,omitempty"`
}

// What can be rotated.
const (
	CredentialKey    = "api_key"
	CredentialSecret = "project_secret"
)
