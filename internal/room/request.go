package room

import (
	"cmp"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// CreateRequest is a request to create a room. Omitted fields are zero; the
// transport has checked that the required ones are present.
type CreateRequest struct {
	Type            Type
	StartAt         time.Time // scheduled rooms only
	Name            string    // the creator's display name
	MaxParticipants int
	EmptyTimeout    int // seconds; 0 means the project's default
	ClientRoomID    string
	ExternalUserID  string // identifies the creator in the integrator's system
	LogoutURL       string
	WebhookURL      string
	Title           string
	WelcomeMessage  string
	Duration        int  // minutes; 0 means the limit of the plan
	BreakoutRooms   *int // nil means the limit of the plan
	IdempotencyKey  *IdempotencyKey
}

// Entitlements are the limits that a plan sets for a room.
type Entitlements struct {
	MaxParticipants int
	Duration        time.Duration
	BreakoutRooms   int
}

// MaxEntitlements are the limits of the service itself, which no plan exceeds.
var MaxEntitlements = Entitlements{
	MaxParticipants: validate.MaxParticipants,
	Duration:        validate.MaxRoomDuration * time.Minute,
	BreakoutRooms:   validate.MaxBreakoutRooms,
}

const (
	maxText             = 255
	maxWelcome          = 2000
	defaultEmptyTimeout = 300
	startTolerance      = 60 * time.Second
	startHorizon        = 366 * 24 * time.Hour
)

// The names of features in responses.
const (
	featureDuration      = "room_duration"
	featureBreakoutRooms = "breakout_room_features.allowed_number_rooms"
)

// applyPolicy builds a room from the entitlements of the plan, the settings of the
// project and the request. It returns Invalid with the field and the bound. A
// feature that exceeds the entitlements is lowered to them and named in adjusted.
// It is pure.
func applyPolicy(allowed Entitlements, settings project.Settings, q CreateRequest) (
	r Room, adjusted []string, err error,
) {
	allowed = allowed.restrictTo(settings.Features)
	if err := q.validate(allowed); err != nil {
		return Room{}, nil, err
	}
	emptyTimeout := cmp.Or(q.EmptyTimeout, settings.DefaultEmptyTimeout, defaultEmptyTimeout)
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
		EmptyTimeout:    time.Duration(emptyTimeout) * time.Second,
		Duration:        allowed.Duration,
		BreakoutRooms:   allowed.BreakoutRooms,
		Features:        roomFeatures(q.Type, settings.Features),
		Locks:           Locks(settings.Locks),
	}
	if requested := time.Duration(q.Duration) * time.Minute; requested > allowed.Duration {
		adjusted = append(adjusted, featureDuration)
	} else if requested > 0 {
		r.Duration = requested
	}
	if q.BreakoutRooms != nil {
		if r.BreakoutRooms = *q.BreakoutRooms; r.BreakoutRooms > allowed.BreakoutRooms {
			r.BreakoutRooms = allowed.BreakoutRooms
			adjusted = append(adjusted, featureBreakoutRooms)
		}
	}
	return r, adjusted, nil
}

// restrictTo returns the entitlements lowered to the project's own limits.
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

// roomFeatures returns the features of a new room of the type.
func roomFeatures(t Type, f project.Features) Features {
	return Features{
		Camera:      t == Video && !f.NoCamera,
		ScreenShare: t == Video && !f.NoScreenShare,
		Chat:        !f.NoChat,
	}
}

// validate returns Invalid with the first field that is out of bounds, and the
// bound.
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
		validate.Range("empty_timeout", q.EmptyTimeout, 0, validate.MaxEmptyTimeout),
		validate.Name("metadata.room_title", q.Title, 1, maxText),
		validate.Text("metadata.welcome_message", q.WelcomeMessage, 0, maxWelcome, true),
		validate.Text("client_room_id", q.ClientRoomID, 0, maxText, false),
		validate.Text("external_user_id", q.ExternalUserID, 0, maxText, false),
		validate.URL("logout_url", q.LogoutURL, maxText),
		validate.URL("webhook_url", q.WebhookURL, validate.MaxWebhookURL),
		validate.Range("metadata.room_features."+featureDuration, q.Duration, 0, validate.MaxRoomDuration),
		validate.Range("metadata.room_features."+featureBreakoutRooms, breakout, 0, validate.MaxBreakoutRooms),
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

// checkStart returns Invalid unless a start time is in the future, with a tolerance
// of 60 seconds, and at most 366 days ahead.
func checkStart(at, now time.Time) error {
	switch {
	case at.Before(now.Add(-startTolerance)):
		return fault.Invalidf("start_at must be in the future, and %s is past", formatStart(at))
	case at.After(now.Add(startHorizon)):
		return fault.Invalidf("start_at must be at most 366 days ahead, and %s is later", formatStart(at))
	}
	return nil
}

// formatStart formats a start time for a message: RFC 3339 with the offset of its
// location, and Z for UTC.
func formatStart(at time.Time) string { return at.Format("2006-01-02T15:04:05.999Z07:00") }
