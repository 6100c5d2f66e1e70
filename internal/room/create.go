package room

import (
	"cmp"
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/seal"
	"parley/internal/validate"
)

// Created is a new room and the link that makes its first user the host; for an
// existing room, a new link into it. Idempotency records contain it as JSON, so
// its JSON names must not change.
type Created struct {
	ID           string `json:"id"`
	ClientRoomID string `json:"client_room_id,omitempty"`
	Type         Type   `json:"type"`
	// StartAt is in the time zone of the request; zero for a quick room.
	StartAt   time.Time `json:"start_at,omitzero"`
	FinalLink string    `json:"final_link"` // {public_url}/r/{room_id}#t=TOKEN
	GuestLink string    `json:"guest_link"` // {public_url}/r/{room_id}
	// Adjusted names the features that were lowered to what the plan allows.
	Adjusted []string `json:"adjusted_features,omitempty"`
}

// CreateQuick creates a room that is open immediately. It does not check the status of
// the project. If BeginIdempotent has loaded a saved result into key, it returns that.
// Errors: Invalid with the field and the bound, Conflict if the client_room_id is taken
// or a request with the same key is in flight.
func (s *Bookings) CreateQuick(ctx context.Context, p project.Project, request Spec, key *IdempotencyKey) (
	Created, error,
) {
	if saved := key.savedResult(); saved != nil {
		return *saved, nil
	}
	request.StartAt = time.Time{}
	return s.create(ctx, p, request, key, s.now())
}

// Schedule creates a room that opens at its start time. Errors: those of CreateQuick,
// and Invalid for a start time that is past or too far ahead; see checkStart.
func (s *Bookings) Schedule(ctx context.Context, p project.Project, request Spec, key *IdempotencyKey) (
	Created, error,
) {
	if saved := key.savedResult(); saved != nil {
		return *saved, nil
	}
	now := s.now()
	if err := checkStart(request.StartAt, now); err != nil {
		return Created{}, err
	}
	return s.create(ctx, p, request, key, now)
}

func (s *Bookings) create(ctx context.Context, p project.Project, request Spec, key *IdempotencyKey, now time.Time) (
	Created, error,
) {
	allowed, err := s.entitlements(ctx, p)
	if err != nil {
		return Created{}, err
	}
	r, adjusted, err := newRoom(allowed, p.Settings, request)
	if err != nil {
		return Created{}, err
	}
	token := seal.NewLinkToken().Reveal()
	r.ID = s.newID()
	r.ProjectID = p.ID
	r.CreatorLinkHash = seal.Hash(token)
	r.initialize(now)
	guest := s.publicURL() + "/r/" + r.ID
	created := Created{
		ID:           r.ID,
		ClientRoomID: r.ClientRoomID,
		Type:         r.Type,
		StartAt:      r.StartAt,
		FinalLink:    guest + "#t=" + token,
		GuestLink:    guest,
		Adjusted:     adjusted,
	}
	events := r.drainEvents(s.newID)
	pending := false // deliveries wait for the sender of webhooks
	err = s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.saveResult(ctx, key, created, now); err != nil {
			return err
		}
		if err := s.useQuota(ctx, p, QuotaRooms, allowed.Quotas.Rooms, now); err != nil {
			return err
		}
		if err := s.store.InsertRoom(ctx, &r); err != nil {
			return err
		}
		if err := s.store.AppendEvents(ctx, events); err != nil {
			return err
		}
		pending, err = s.options.Webhooks.RoomCreated(ctx, p.Settings, r.WebhookURL, events)
		return err
	})
	if err != nil {
		return Created{}, err
	}
	if pending {
		s.options.Webhooks.Wake()
	}
	return created, nil
}

// entitlements returns what the project's plan allows its rooms.
func (s *Bookings) entitlements(ctx context.Context, p project.Project) (Entitlements, error) {
	if s.options.Plans == nil {
		return MaxEntitlements, nil
	}
	return s.options.Plans.Entitlements(ctx, p)
}

// Spec holds the settings of a room that the request for its creation sets. Omitted
// fields of a request are zero, and some then mean a default; a room has the
// resolved values.
type Spec struct {
	Type            Type
	ClientRoomID    string    // the integrator's own id, unique in its project forever; may be empty
	StartAt         time.Time // when the room opens; zero for a quick room
	Title           string
	WelcomeMessage  string
	CreatorName     string // display name; only a scheduled room may have none
	ExternalUserID  string // identifies the creator in the integrator's system; may be empty
	LogoutURL       string // opened when a participant leaves; empty means the project's default
	WebhookURL      string // additional target for the room's events; may be empty
	MaxParticipants int
	// EmptyTimeout is how long after the last leave the room ends, in whole seconds.
	// In a request 0 means the project's default.
	EmptyTimeout time.Duration
	// Duration is how long after the first join the room ends, in whole minutes. In a
	// request 0 means the limit of the plan.
	Duration time.Duration
	// BreakoutRooms is the maximum number of breakout rooms that are open at once. In
	// a request 0 means the limit of the plan, unless NoBreakoutRooms is set, which
	// only requests have.
	BreakoutRooms   int
	NoBreakoutRooms bool
}

// Entitlements are the limits that a plan sets for a room, and for all rooms of a project.
type Entitlements struct {
	MaxParticipants int
	Duration        time.Duration
	BreakoutRooms   int
	Quotas          Quotas
}

// MaxEntitlements are the limits of the service itself, which no plan exceeds.
var MaxEntitlements = Entitlements{
	MaxParticipants: validate.MaxParticipants,
	Duration:        validate.MaxRoomDuration * time.Minute,
	BreakoutRooms:   validate.MaxBreakoutRooms,
}

const (
	maxWelcome          = 2000 // characters
	defaultEmptyTimeout = 300
	startTolerance      = 60 * time.Second
	maxDaysAhead        = 366 // of a start time, and of the end of a link
)

// The names of features in responses.
const (
	featureDuration      = "room_duration"
	featureBreakoutRooms = "breakout_room_features.allowed_number_rooms"
)

// newRoom returns the room for a request. It returns Invalid if a field is out of
// its bounds; adjusted names the features that were lowered to what the plan allows.
func newRoom(allowed Entitlements, settings project.Settings, request Spec) (
	r Room, adjusted []string, err error,
) {
	adjusted, err = request.resolve(allowed, settings)
	return Room{Spec: request, Features: roomFeatures(request.Type, settings.Features), Locks: Locks(settings.Locks)},
		adjusted, err
}

// resolve turns the settings of a request into those of a room. It returns Invalid
// with the field and the bound. A feature that exceeds the entitlements of the plan
// or of the project is lowered to them and named in adjusted.
func (s *Spec) resolve(allowed Entitlements, settings project.Settings) (adjusted []string, err error) {
	allowed = allowed.restrictTo(settings.Features)
	if err := s.validate(allowed); err != nil {
		return nil, err
	}
	if s.EmptyTimeout == 0 {
		s.EmptyTimeout = time.Duration(cmp.Or(settings.DefaultEmptyTimeout, defaultEmptyTimeout)) * time.Second
	}
	if s.Duration > allowed.Duration {
		adjusted = append(adjusted, featureDuration)
	}
	if s.Duration == 0 || s.Duration > allowed.Duration {
		s.Duration = allowed.Duration
	}
	if s.BreakoutRooms > allowed.BreakoutRooms {
		adjusted = append(adjusted, featureBreakoutRooms)
	}
	if s.BreakoutRooms == 0 && !s.NoBreakoutRooms || s.BreakoutRooms > allowed.BreakoutRooms {
		s.BreakoutRooms = allowed.BreakoutRooms
	}
	s.NoBreakoutRooms = false
	return adjusted, nil
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
func (s *Spec) validate(allowed Entitlements) error {
	if s.ExternalUserID != "" && s.CreatorName == "" {
		return fault.Invalidf("name is required when external_user_id is given")
	}
	name := error(nil)
	if s.CreatorName != "" || s.StartAt.IsZero() {
		name = validate.Name("name", s.CreatorName, 1, validate.MaxText)
	}
	return firstError(
		name,
		validate.Range("max_participants", s.MaxParticipants, 1, allowed.MaxParticipants),
		validate.Range("empty_timeout", int(s.EmptyTimeout/time.Second), 0, validate.MaxEmptyTimeout),
		validate.Name("title", s.Title, 1, validate.MaxText),
		validate.Text("welcome_message", s.WelcomeMessage, 0, maxWelcome, true),
		validate.Text("client_room_id", s.ClientRoomID, 0, validate.MaxText, false),
		validate.Text("external_user_id", s.ExternalUserID, 0, validate.MaxText, false),
		validate.URL("logout_url", s.LogoutURL, validate.MaxURL),
		validate.WebhookURL("webhook_url", s.WebhookURL),
		validate.Range("duration", int(s.Duration/time.Minute), 0, validate.MaxRoomDuration),
		validate.Range("breakout_rooms", s.BreakoutRooms, 0, validate.MaxBreakoutRooms),
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

// checkStart returns Invalid unless a start time is in the future and at most maxDaysAhead
// days ahead. A start up to 60 seconds in the past (startTolerance) counts as the future,
// because the current minute without its seconds is past too. The message leaves this
// out; the API descriptions say it.
func checkStart(at, now time.Time) error {
	switch {
	case at.Before(now.Add(-startTolerance)):
		return fault.Invalidf("start_at must be in the future, and %s is past", formatStart(at))
	case at.After(now.Add(maxDaysAhead * 24 * time.Hour)):
		return fault.Invalidf("start_at must be at most %d days ahead, and %s is later", maxDaysAhead, formatStart(at))
	}
	return nil
}

// formatStart formats a start time for a message: RFC 3339 with the offset of its
// location, and Z for UTC.
func formatStart(at time.Time) string { return at.Format("2006-01-02T15:04:05.999Z07:00") }
