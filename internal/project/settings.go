package project

import (
	"slices"
	"strings"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/validate"
)

// The limits of settings that are not limits of rooms; see validate for those.
const (
	maxEmbedOrigins = 20
	maxBrandName    = 40
)

// Settings are the settings of a project, which the operator sets. The zero value
// of every field is its default.
type Settings struct {
	// RequireSecretSignatures refuses v3 and v4 calls that are signed with an API
	// key, because the project secret is the stronger key.
	RequireSecretSignatures bool `json:"require_secret_signatures,omitempty"`
	// DefaultEmptyTimeout applies to rooms with an empty_timeout of 0, in seconds;
	// 0 means 300.
	DefaultEmptyTimeout int `json:"default_empty_timeout,omitempty"`
	// DefaultLogoutURL is the page after leaving a room without a logout_url; may be
	// empty.
	DefaultLogoutURL string `json:"default_logout_url,omitempty"`
	// DefaultWebhookURL gets the events of all rooms, in addition to a room's own
	// webhook_url; may be empty.
	DefaultWebhookURL string `json:"default_webhook_url,omitempty"`
	// WebhookEvents are the types of events that are delivered; empty means all.
	WebhookEvents []event.Type `json:"webhook_events,omitempty"`
	// InvitationsRequired refuses guests without a link token, so that the room id
	// alone is not enough to join.
	InvitationsRequired bool `json:"invitations_required,omitempty"`
	// HiddenParticipants allows links for participants that others do not see.
	HiddenParticipants bool `json:"hidden_participants,omitempty"`
	// EmbedOrigins are the origins, such as "https://example.org", whose pages may
	// show the room page in a frame; empty means none. At most 20.
	EmbedOrigins []string `json:"embed_origins,omitempty"`
	// BrandName replaces the name of the service on the pages before and after a
	// room; may be empty. At most 40 characters.
	BrandName string `json:"brand_name,omitempty"`
	// BrandColor is the color of the mark and of the main button there, such as
	// "#1f5f8b"; may be empty. See checkBrandColor.
	BrandColor string    `json:"brand_color,omitempty"`
	Features   Features  `json:"features,omitzero"`
	Locks      Locks     `json:"locks,omitzero"`
	Retention  Retention `json:"retention,omitzero"`
}

// Retention shortens the retention periods of the server for a project. The unit is days,
// 1 to 3650; 0 means the period of the server. The shorter of the two applies.
type Retention struct {
	RoomsDays      int `json:"rooms_days,omitempty"`      // rooms with their events and attendance, after their end
	PeopleDays     int `json:"people_days,omitempty"`     // names and IDs of people, after the end of their room
	DeliveriesDays int `json:"deliveries_days,omitempty"` // webhook deliveries, after their creation
	CallsDays      int `json:"calls_days,omitempty"`      // records of API calls
}

// Features are the limits and features of a project's rooms, within the limits of
// the plan. A room copies them when it is created.
type Features struct {
	MaxParticipants int  `json:"max_participants,omitempty"` // 0 means the plan's limit
	RoomDuration    int  `json:"room_duration,omitempty"`    // minutes; 0 means the plan's limit
	BreakoutRooms   *int `json:"breakout_rooms,omitempty"`   // nil means the plan's limit
	NoCamera        bool `json:"no_camera,omitempty"`
	NoScreenShare   bool `json:"no_screen_share,omitempty"`
	NoChat          bool `json:"no_chat,omitempty"`
}

// Locks are the actions that guests may not take without permission of a host.
// WaitingRoom locks joining. A room copies them when it is created.
type Locks struct {
	Microphone  bool `json:"microphone,omitempty"`
	Camera      bool `json:"camera,omitempty"`
	ScreenShare bool `json:"screen_share,omitempty"`
	Chat        bool `json:"chat,omitempty"`
	WaitingRoom bool `json:"waiting_room,omitempty"`
}

// validated returns the settings without duplicates, or an error that names the
// invalid setting and its bound.
func (s Settings) validated() (Settings, error) {
	breakoutRooms := 0
	if s.Features.BreakoutRooms != nil {
		breakoutRooms = *s.Features.BreakoutRooms
	}
	for _, err := range []error{
		validate.Range("default_empty_timeout", s.DefaultEmptyTimeout, 0, validate.MaxEmptyTimeout),
		validate.URL("default_logout_url", s.DefaultLogoutURL, validate.MaxURL),
		validate.WebhookURL("default_webhook_url", s.DefaultWebhookURL),
		validate.Range("features.max_participants", s.Features.MaxParticipants, 0, validate.MaxParticipants),
		validate.Range("features.room_duration", s.Features.RoomDuration, 0, validate.MaxRoomDuration),
		validate.Range("features.breakout_rooms", breakoutRooms, 0, validate.MaxBreakoutRooms),
		validate.Range("retention.rooms_days", s.Retention.RoomsDays, 0, validate.MaxRetentionDays),
		validate.Range("retention.people_days", s.Retention.PeopleDays, 0, validate.MaxRetentionDays),
		validate.Range("retention.deliveries_days", s.Retention.DeliveriesDays, 0, validate.MaxRetentionDays),
		validate.Range("retention.calls_days", s.Retention.CallsDays, 0, validate.MaxRetentionDays),
		validate.Name("brand_name", s.BrandName, 0, maxBrandName),
		checkBrandColor(s.BrandColor),
	} {
		if err != nil {
			return Settings{}, err
		}
	}
	s.BrandColor = strings.ToLower(s.BrandColor)
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
		return Settings{}, fault.Invalidf("embed_origins must contain at most %d origins, not %d",
			maxEmbedOrigins, len(origins))
	}
	s.EmbedOrigins = origins
	var kinds []event.Type
	for _, kind := range s.WebhookEvents {
		if !slices.Contains(event.Selectable(), kind) {
			return Settings{}, fault.Invalidf("webhook_events must contain event types such as %s, not %q",
				event.RoomEnded, kind)
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	s.WebhookEvents = kinds
	return s, nil
}
