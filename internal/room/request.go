package room

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/internal/fault"
	"parley/internal/project"
)

// Request is what a client asks for when it creates a room. Fields that it
// left out are zero; the transport has checked that required ones are there.
type Request struct {
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
	Once            *Once
}

// Entitlements is what a plan allows a room.
type Entitlements struct {
	MaxParticipants int
	Duration        time.Duration
	BreakoutRooms   int
}

// Technical is what the service itself can bear, whatever a plan says.
var Technical = Entitlements{MaxParticipants: 1000, Duration: maxDuration * time.Minute, BreakoutRooms: 16}

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

// decide is the policy: from what the plan allows, what the project sets and
// what the request asks it makes the room's rules, or says which field breaks
// which bound. A feature asked for beyond the plan is lowered to it and named
// in adjusted. It is pure.
func decide(allowed Entitlements, settings project.Settings, q Request) (r Room, adjusted []string, err error) {
	allowed = allowed.within(settings.Features)
	if err := q.check(allowed); err != nil {
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
		Features:        features(q.Type, settings.Features),
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

// within returns what a project leaves of what the plan allows.
func (e Entitlements) within(f project.Features) Entitlements {
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

// features returns what people may do in a room of the type.
func features(t Type, f project.Features) Features {
	return Features{
		Camera:      t == Video && !f.NoCamera,
		ScreenShare: t == Video && !f.NoScreenShare,
		Chat:        !f.NoChat,
	}
}

// check holds every field to its bounds.
func (q *Request) check(allowed Entitlements) error {
	if q.ExternalUserID != "" && q.Name == "" {
		return fault.Invalidf("name is required when external_user_id is given")
	}
	name := error(nil)
	if q.Name != "" || q.StartAt.IsZero() {
		name = checkText("name", q.Name, 1, maxText, false)
	}
	breakout := 0
	if q.BreakoutRooms != nil {
		breakout = *q.BreakoutRooms
	}
	return firstError(
		name,
		checkRange("max_participants", q.MaxParticipants, 1, allowed.MaxParticipants),
		checkRange("empty_timeout", q.EmptyTimeout, 0, maxEmptyTimeout),
		checkText("metadata.room_title", q.Title, 1, maxText, false),
		checkText("metadata.welcome_message", q.WelcomeMessage, 0, maxWelcome, true),
		checkText("client_room_id", q.ClientRoomID, 0, maxText, false),
		checkText("external_user_id", q.ExternalUserID, 0, maxText, false),
		checkURL("logout_url", q.LogoutURL, maxText),
		checkURL("webhook_url", q.WebhookURL, maxWebhookURL),
		checkRange("metadata.room_features."+featureDuration, q.Duration, 0, maxDuration),
		checkRange("metadata.room_features."+featureBreakoutRooms, breakout, 0, maxBreakoutRooms),
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

func checkRange(field string, n, low, high int) error {
	if n < low || n > high {
		return fault.Invalidf("%s must be between %d and %d, not %d", field, low, high, n)
	}
	return nil
}

// checkText holds a text to its length in characters (not bytes). A text that
// must not be empty may not be blank either. Control characters are refused,
// line breaks aside where lines are meant.
func checkText(field, text string, low, high int, lines bool) error {
	if !utf8.ValidString(text) {
		return fault.Invalidf("%s must be UTF-8", field)
	}
	if low > 0 && strings.TrimSpace(text) == "" {
		return fault.Invalidf("%s must have %d to %d characters and not be blank", field, low, high)
	}
	if n := utf8.RuneCountInString(text); n > high {
		return fault.Invalidf("%s must have at most %d characters, not %d", field, high, n)
	}
	for _, c := range text {
		if unicode.IsControl(c) && !(lines && (c == '\n' || c == '\r')) {
			return fault.Invalidf("%s must not contain control characters such as U+%04X", field, c)
		}
	}
	return nil
}

// checkURL holds an optional address to be absolute, http or https, without
// credentials, and of a length in characters.
func checkURL(field, text string, high int) error {
	if text == "" {
		return nil
	}
	if err := checkText(field, text, 1, high, false); err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.ContainsFunc(text, unicode.IsSpace) || !isPort(u.Port()) {
		return fault.Invalidf("%s must be an absolute http or https URL", field)
	}
	if u.User != nil {
		return fault.Invalidf("%s must not contain a user name or password", field)
	}
	return nil
}

func isPort(text string) bool {
	if text == "" {
		return true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}
