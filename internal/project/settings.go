package project

import (
	"slices"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/validate"
)

// The limits of settings that are not limits of rooms; see validate for those.
const (
	maxURL          = 255
	maxEmbedOrigins = 20
)

// Settings are what the operator sets for a project. Every field's zero value
// is its default.
type Settings struct {
	// RequireSecretSignatures refuses v3 and v4 calls that are signed with an
	// API key; the project secret is the stronger key.
	RequireSecretSignatures bool `json:"require_secret_signatures,omitempty"`
	// DefaultEmptyTimeout applies to rooms that ask for 0, in seconds; 0 is 300.
	DefaultEmptyTimeout int `json:"default_empty_timeout,omitempty"`
	// DefaultLogoutURL is where people go who leave a room that names no place
	// of its own; may be empty.
	DefaultLogoutURL string `json:"default_logout_url,omitempty"`
	// DefaultWebhookURL is the target of the events of all its rooms, beside
	// a room's own; may be empty.
	DefaultWebhookURL string `json:"default_webhook_url,omitempty"`
	// WebhookEvents are the kinds of events that are delivered; all of them
	// without any.
	WebhookEvents []event.Type `json:"webhook_events,omitempty"`
	// InvitationsRequired lets in only who has a link with a token: the id of
	// a room is then not enough.
	InvitationsRequired bool `json:"invitations_required,omitempty"`
	// HiddenParticipants allows links whose holder the others do not see.
	HiddenParticipants bool `json:"hidden_participants,omitempty"`
	// EmbedOrigins are the origins whose pages may show the room page in a
	// frame, "https://example.org"; none without any. At most 20.
	EmbedOrigins []string `json:"embed_origins,omitempty"`
	Features     Features `json:"features,omitzero"`
	Locks        Locks    `json:"locks,omitzero"`
}

// Features is what the rooms of a project may do, below what the plan allows.
// A room takes them over when it is created.
type Features struct {
	MaxParticipants int  `json:"max_participants,omitempty"` // 0 is the plan's
	RoomDuration    int  `json:"room_duration,omitempty"`    // minutes; 0 is the plan's
	BreakoutRooms   *int `json:"breakout_rooms,omitempty"`   // nil is the plan's
	NoCamera        bool `json:"no_camera,omitempty"`
	NoScreenShare   bool `json:"no_screen_share,omitempty"`
	NoChat          bool `json:"no_chat,omitempty"`
}

// Locks is what guests may not do in its rooms unless a host lets them. The
// last is to come in. A room takes them over when it is created.
type Locks struct {
	Microphone  bool `json:"microphone,omitempty"`
	Camera      bool `json:"camera,omitempty"`
	ScreenShare bool `json:"screen_share,omitempty"`
	Chat        bool `json:"chat,omitempty"`
	WaitingRoom bool `json:"waiting_room,omitempty"`
}

// validated returns the settings as they are kept, or says which of them breaks
// which bound.
func (s Settings) validated() (Settings, error) {
	breakoutRooms := 0
	if s.Features.BreakoutRooms != nil {
		breakoutRooms = *s.Features.BreakoutRooms
	}
	for _, err := range []error{
		validate.Range("default_empty_timeout", s.DefaultEmptyTimeout, 0, validate.MaxEmptyTimeout),
		validate.URL("default_logout_url", s.DefaultLogoutURL, maxURL),
		validate.URL("default_webhook_url", s.DefaultWebhookURL, validate.MaxWebhookURL),
		validate.Range("features.max_participants", s.Features.MaxParticipants, 0, validate.MaxParticipants),
		validate.Range("features.room_duration", s.Features.RoomDuration, 0, validate.MaxRoomDuration),
		validate.Range("features.breakout_rooms", breakoutRooms, 0, validate.MaxBreakoutRooms),
	} {
		if err != nil {
			return Settings{}, err
		}
	}
	var origins []string
	for _, text := range s.EmbedOrigins {
		origin, err := validate.Origin("embed_origins", text)
		if err != nil {
			return Settings{}, err
		}
		if !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	if len(origins) > maxEmbedOrigins {
		return Settings{}, fault.Invalidf("embed_origins must hold at most %d origins, not %d", maxEmbedOrigins, len(origins))
	}
	s.EmbedOrigins = origins
	var kinds []event.Type
	for _, kind := range s.WebhookEvents {
		if !slices.Contains(event.Selectable(), kind) {
			return Settings{}, fault.Invalidf("webhook_events must name kinds of events such as %s, not %q", event.RoomEnded, kind)
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	s.WebhookEvents = kinds
	return s, nil
}
