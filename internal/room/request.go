package room

import (
	"cmp"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// CreateRequest is what a client asks for when it creates a room. Fields that it
// left out are zero; the transport has checked that required ones are there.
type CreateRequest struct {
	Type            Type
	StartAt         time.Time // scheduled rooms only
	Name            string    // the creator's display name
	MaxParticipants int
	EmptyTimeout    int // seconds; 0 is the project's default
	ClientRoomID    string
	ExternalUserID  string // names the creator in the client's own system
	LogoutURL       string
	WebhookURL      string
	Title           string
	WelcomeMessage  string
	Duration        int  // minutes; 0 is the plan's own limit
	BreakoutRooms   *int // nil is the plan's own limit
	IdempotencyKey  *IdempotencyKey
}

// Entitlements is what a plan allows a room.
type Entitlements struct {
	MaxParticipants int
	Duration        time.Duration
	BreakoutRooms   int
}

// MaxEntitlements is what the service itself can bear, whatever a plan says.
var MaxEntitlements = Entitlements{MaxParticipants: 1000, Duration: maxDuration * time.Minute, BreakoutRooms: 16}

const (
	maxText             = 255
	maxWelcome          = 2000
	maxWebhookURL       = 2048
	maxEmptyTimeout     = 86400
	maxDuration         = 1440
	maxBreakoutRooms    = 16
	defaultEmptyTimeout = 300
)

// The features a room may ask for, as answers name them.
const (
	featureDuration      = "room_duration"
	featureBreakoutRooms = "breakout_room_features.allowed_number_rooms"
)

// applyPolicy is the policy: from what the plan allows, what the project sets and
// what the request asks it makes the room's rules, or says which field breaks
// which bound. A feature asked for beyond the plan is lowered to it and named
// in adjusted. It is pure.
func applyPolicy(allowed Entitlements, settings project.Settings, q CreateRequest) (r Room, adjusted []string, err error) {
	allowed = allowed.restrictTo(settings.Features)
	if err := q.validate(allowed); err != nil {
		return Room{}, nil, err
	}
	r = Room{
		ClientRoomID:    q.ClientRoomID,
		Type:            q.Type,
		Title:           q.Title,
		WelcomeMessage:  q.WelcomeMessage,
		CreatorName:     q.Name,
		ExternalUserID:  q.ExternalUserID,
		LogoutURL:       q.LogoutURL,
		WebhookURL:      q.WebhookURL,
		StartAt:         q.StartAt,
		MaxParticipants: q.MaxParticipants,
		EmptyTimeout:    time.Duration(cmp.Or(q.EmptyTimeout, settings.DefaultEmptyTimeout, defaultEmptyTimeout)) * time.Second,
		Duration:        allowed.Duration,
		BreakoutRooms:   allowed.BreakoutRooms,
		Features:        roomFeatures(q.Type, settings.Features),
		Locks:           Locks(settings.Locks),
	}
	if asked := time.Duration(q.Duration) * time.Minute; asked > allowed.Duration {
		adjusted = append(adjusted, featureDuration)
	} else if asked > 0 {
		r.Duration = asked
	}
	if q.BreakoutRooms != nil {
		if r.BreakoutRooms = *q.BreakoutRooms; r.BreakoutRooms > allowed.BreakoutRooms {
			r.BreakoutRooms = allowed.BreakoutRooms
			adjusted = append(adjusted, featureBreakoutRooms)
		}
	}
	return r, adjusted, nil
}

// restrictTo returns what a project leaves of what the plan allows.
func (e Entitlements) restrictTo(f project.Features) Entitlements {
	if f.MaxParticipants > 0 {
		e.MaxParticipants = min(e.MaxParticipants, f.MaxParticipants)
	}
	if f.RoomDuration > 0 {
		e.Duration = min(e.Duration, time.Duration(f.RoomDuration)*time.Minute)
	}
	if f.BreakoutRooms != nil {
		e.BreakoutRooms = min(e.BreakoutRooms, *f.BreakoutRooms)
	}
	return e
}

// roomFeatures returns what people may do in a room of the type.
func roomFeatures(t Type, f project.Features) Features {
	return Features{
		Camera:      t == Video && !f.NoCamera,
		ScreenShare: t == Video && !f.NoScreenShare,
		Chat:        !f.NoChat,
	}
}

// validate holds every field to its bounds.
func (q *CreateRequest) validate(allowed Entitlements) error {
	if q.ExternalUserID != "" && q.Name == "" {
		return fault.Invalidf("name is required when external_user_id is given")
	}
	name := error(nil)
	if q.Name != "" || q.StartAt.IsZero() {
		name = validate.Name("name", q.Name, 1, maxText)
	}
	breakout := 0
	if q.BreakoutRooms != nil {
		breakout = *q.BreakoutRooms
	}
	return firstError(
		name,
		validate.Range("max_participants", q.MaxParticipants, 1, allowed.MaxParticipants),
		validate.Range("empty_timeout", q.EmptyTimeout, 0, maxEmptyTimeout),
		validate.Name("metadata.room_title", q.Title, 1, maxText),
		validate.Text("metadata.welcome_message", q.WelcomeMessage, 0, maxWelcome, true),
		validate.Text("client_room_id", q.ClientRoomID, 0, maxText, false),
		validate.Text("external_user_id", q.ExternalUserID, 0, maxText, false),
		validate.URL("logout_url", q.LogoutURL, maxText),
		validate.URL("webhook_url", q.WebhookURL, maxWebhookURL),
		validate.Range("metadata.room_features."+featureDuration, q.Duration, 0, maxDuration),
		validate.Range("metadata.room_features."+featureBreakoutRooms, breakout, 0, maxBreakoutRooms),
	)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
