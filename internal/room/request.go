package room

import (
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
	Name            string // the creator's display name
	MaxParticipants int
	EmptyTimeout    int // seconds; 0 is the project's default
	ClientRoomID    string
	Title           string
	WelcomeMessage  string
}

// Entitlements is what a plan allows a room.
type Entitlements struct {
	MaxParticipants int
	Duration        time.Duration
}

// Technical is what the service itself can bear, whatever a plan says.
var Technical = Entitlements{MaxParticipants: 1000, Duration: 1440 * time.Minute}

const (
	maxText             = 255
	maxWelcome          = 2000
	maxEmptyTimeout     = 86400
	defaultEmptyTimeout = 300
)

// decide is the policy: from what the plan allows, what the project sets and
// what the request asks it makes the room's rules, or says which field breaks
// which bound. It is pure.
func decide(allowed Entitlements, settings project.Settings, q Request) (Room, error) {
	if err := firstError(
		checkText("name", q.Name, 1, maxText, false),
		checkRange("max_participants", q.MaxParticipants, 1, allowed.MaxParticipants),
		checkRange("empty_timeout", q.EmptyTimeout, 0, maxEmptyTimeout),
		checkText("metadata.room_title", q.Title, 1, maxText, false),
		checkText("metadata.welcome_message", q.WelcomeMessage, 0, maxWelcome, true),
		checkText("client_room_id", q.ClientRoomID, 0, maxText, false),
	); err != nil {
		return Room{}, err
	}
	empty := q.EmptyTimeout
	if empty == 0 {
		empty = settings.DefaultEmptyTimeout
	}
	if empty == 0 {
		empty = defaultEmptyTimeout
	}
	return Room{
		ClientRoomID:    q.ClientRoomID,
		Type:            q.Type,
		Title:           q.Title,
		WelcomeMessage:  q.WelcomeMessage,
		CreatorName:     q.Name,
		MaxParticipants: q.MaxParticipants,
		EmptyTimeout:    time.Duration(empty) * time.Second,
		Duration:        allowed.Duration,
	}, nil
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
