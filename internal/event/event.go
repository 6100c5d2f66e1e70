// Package event defines the events of rooms and projects. An event is stored in
// the transaction of its cause and never changes. The package imports the standard
// library only.
package event

import "time"

// Type is the type of an event, as webhooks deliver it.
type Type string

// The types of room events.
const (
	RoomScheduled     Type = "room.scheduled"
	RoomOpened        Type = "room.opened"
	RoomStarted       Type = "room.started" // the first participant joined
	RoomEnded         Type = "room.ended"
	RoomCancelled     Type = "room.cancelled" // canceled before it opened
	RoomExpired       Type = "room.expired"   // no participant ever joined
	ParticipantJoined Type = "participant.joined"
	ParticipantLeft   Type = "participant.left"

	// ParticipantReported is a person whom another system reported as joined.
	ParticipantReported Type = "participant.reported"
	// AttendanceMarked is what ParticipantReported was in earlier commits. Events of this
	// type are in the log of a room, but are not delivered.
	AttendanceMarked Type = "attendance.marked"

	ParticipantJoinFailed Type = "participant.join_failed" // a person got no seat
	FeedbackGiven         Type = "feedback.given"          // a participant rated the meeting
)

// The types of project events.
const (
	ProjectStatusChanged Type = "project.status_changed"
	KeyRotated           Type = "key.rotated"
	KeyOverlapEnding     Type = "key.overlap_ending"
	WebhookTest          Type = "webhook.test"
)

// Selectable returns the types that a webhook may select. WebhookTest is always
// delivered, and AttendanceMarked never.
func Selectable() []Type {
	return []Type{
		RoomScheduled, RoomOpened, RoomStarted, RoomEnded, RoomCancelled, RoomExpired,
		ParticipantJoined, ParticipantLeft, ParticipantReported, ParticipantJoinFailed, FeedbackGiven,
		ProjectStatusChanged, KeyRotated, KeyOverlapEnding,
	}
}

// Event is an event of a room.
type Event struct {
	ID        string // UUIDv7, the same in every delivery
	Type      Type
	ProjectID string
	RoomID    string
	Sequence  int64 // number of the event in its room, from 1 without gaps
	At        time.Time
	Data      Data
}

// Data describes the room of an event and, for some types, the participant.
type Data struct {
	RoomID       string          `json:"room_id"`
	ClientRoomID string          `json:"client_room_id,omitempty"`
	SessionID    string          `json:"session_id,omitempty"`
	RoomType     string          `json:"room_type"`
	StartAt      *time.Time      `json:"start_at,omitempty"` // for a scheduled room
	EndReason    string          `json:"end_reason,omitempty"`
	Participant  *Participant    `json:"participant,omitempty"`
	Mark         *AttendanceMark `json:"mark,omitempty"`
	FailedJoin   *FailedJoin     `json:"refusal,omitempty"`
	Feedback     *Feedback       `json:"feedback,omitempty"`
}

// Participant is the participant of an event.
type Participant struct {
	Identity string `json:"identity"`
	Name     string `json:"name"`
	Role     string `json:"role"`
	// Session is the id of the session of the room or breakout room.
	Session string `json:"session_id"`
	// Connection is the same in the joined event and the left event of one stay.
	Connection string    `json:"connection_id"`
	JoinedAt   time.Time `json:"joined_at"`
	Reason     string    `json:"reason,omitempty"`
}

// AttendanceMark is the attendance of a person whom another system reported. It
// has no left event and is not part of any count.
type AttendanceMark struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// SourceExternal is the Source of attendance marks that API clients report.
const SourceExternal = "external"

// FailedJoin describes an attempt to join that the server refused. It has no identity, because
// only a seat has one.
type FailedJoin struct {
	Name string `json:"name"`
	Code string `json:"code"` // as in the response to the page, such as "room_full"
}

// Feedback is a participant's rating of how the meeting was.
type Feedback struct {
	Identity string `json:"identity"`
	Name     string `json:"name"`
	Role     string `json:"role"`
	Rating   string `json:"rating"` // "good" or "bad"
}

// ProjectEvent is an event of a project.
type ProjectEvent struct {
	ID        string // UUIDv7, the same in every delivery
	Type      Type
	ProjectID string
	Sequence  int64 // number of the event in its project, from 1 without gaps
	At        time.Time
	Data      ProjectData
}

// ProjectData describes the change of a project event.
type ProjectData struct {
	Status    string `json:"status,omitempty"`
	Suspended *bool  `json:"suspended,omitempty"`
	// Credential is the rotated credential: CredentialKey or CredentialSecret.
	Credential    string     `json:"credential,omitempty"`
	OverlapEndsAt *time.Time `json:"overlap_ends_at,omitempty"`
}

// The credentials that can be rotated.
const (
	CredentialKey    = "api_key"
	CredentialSecret = "project_secret"
)
