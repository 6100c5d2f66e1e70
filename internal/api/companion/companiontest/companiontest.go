// Package companiontest tests the companion routes, on either version: every
// refusal of every route, and a meeting from its start to its analytics. It is
// imported by tests only.
package companiontest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/client/sign"
	"parley/internal/api/companion"
	"parley/internal/api/contract"
	"parley/internal/api/legacy"
	"parley/internal/api/legacy/legacytest"
	"parley/internal/key"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// Rooms is what either version needs of the rooms.
type Rooms interface {
	legacy.Rooms
	companion.Rooms
	Get(ctx context.Context, id string) (*room.Room, error)
	MarkAttendance(ctx context.Context, roomID, name string, body []byte, exclusive bool) error
}

// Version is a version under test.
type Version struct {
	Prefix string // "/api/v3"
	Serve  func(rooms Rooms, limits legacy.Limits, options companion.Options) http.Handler
	// StartAt writes a start time as the version reads it, and WrongStart is
	// what it says of one that is not.
	StartAt    func(at time.Time) string
	WrongStart string
	// Ended serves the version after its end; nil where it has none.
	Ended http.Handler
	// OwnLink says whether the answer to reschedule_room has a link.
	OwnLink bool
	// Events says whether a room's events can be read.
	Events bool
}

// Options are those of an ordinary server.
var Options = companion.Options{Skew: 5 * time.Minute}

// House is a version on a real database, with rooms in which people can be.
type House struct {
	*legacytest.Bundle
	Version
	Checker *contract.Checker
	Meeting *room.Service // whose clock is Now
	Now     time.Time
}

// NewHouse returns a House. The checker collects what it meets.
func NewHouse(t testing.TB, b *legacytest.Bundle, v Version, description []byte) *House {
	h := &House{Bundle: b, Version: v, Now: time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)}
	h.Meeting = room.NewService(b.DB, engine{}, func() string { return "https://meet.example.org" },
		func() time.Time { return h.Now }, storetest.NewID, slog.New(slog.DiscardHandler))
	h.Checker = contract.New(t, description, legacytest.Wrap(v.Serve(h.Meeting, legacy.Limits{}, Options)))
	return h
}

// Met has another checker of the same description collect every refusal.
func (h *House) Met(c *contract.Checker) func(t *testing.T) {
	return func(t *testing.T) {
		h.Checker = c
		h.with(h.Meeting, legacy.Limits{}, func() { h.Refusals(t) })
	}
}

// engine is a media engine in which nothing happens by itself.
type engine struct{ room.Media }

func (engine) Open(context.Context, room.MediaSession) error                { return nil }
func (engine) Admit(string)                                                 {}
func (engine) Participants(context.Context, string) ([]room.Present, error) { return nil, nil }
func (engine) Pass(room.MediaPass) (string, error)                          { return "token", nil }
func (engine) Announce(context.Context, string, room.Info) error            { return nil }
func (engine) Allow(context.Context, string, string, room.Role, room.Grants) error {
	return nil
}
func (engine) Tell(context.Context, string, []string, room.Message) error { return nil }
func (engine) Remove(context.Context, string, string) error               { return nil }

// Timed returns the headers of a call that is signed with SVC-HMAC-V5-1.
func Timed(credentials key.Issued, method, target, idempotencyKey string, body []byte) http.Header {
	at := sign.FormatTimestamp(time.Now())
	h := http.Header{"Api-Key": {credentials.APIKey.Reveal()}, "Timestamp": {at},
		"Hash-Signature": {sign.V5(credentials.GatewaySecret.Reveal(), method, target, at, idempotencyKey, body)}}
	if method == http.MethodPost {
		h.Set("Content-Type", "application/json")
	}
	if idempotencyKey != "" {
		h.Set("Idempotency-Key", idempotencyKey)
	}
	return h
}

// Call sends a rightly signed call; fields are its body, or nil for a GET.
func (h *House) Call(t testing.TB, route string, fields map[string]any) *http.Response {
	t.Helper()
	method, body := http.MethodGet, []byte(nil)
	if fields != nil {
		method, body = http.MethodPost, legacytest.Encode(t, fields)
	}
	return h.Checker.Do(t, method, h.Prefix+route, Timed(h.Issued, method, h.Prefix+route, "", body), body)
}

// Good is Call, for one that has to succeed.
func (h *House) Good(t testing.TB, route string, fields map[string]any) map[string]any {
	t.Helper()
	answer := h.Call(t, route, fields)
	out := legacytest.Fields(t, answer)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", route, answer.StatusCode, out)
	}
	return out
}

// Scheduled makes a room that opens in an hour, Quick one that is open.
func (h *House) Scheduled(t testing.TB) string {
	t.Helper()
	created, err := h.Meeting.Schedule(t.Context(), h.Project, h.request(h.Now.Add(time.Hour)))
	legacytest.Must(t, err)
	return created.ID
}

// Quick makes a room that is open.
func (h *House) Quick(t testing.TB) string {
	t.Helper()
	created, err := h.Meeting.CreateQuick(t.Context(), h.Project, h.request(time.Time{}))
	legacytest.Must(t, err)
	return created.ID
}

func (h *House) request(startAt time.Time) room.Request {
	return room.Request{Type: room.Video, StartAt: startAt, MaxParticipants: 9, Title: "Standup", WelcomeMessage: "Hello", Name: "Amina",
		ExternalUserID: "4711", WebhookURL: "https://example.org/hook"}
}

// Enter lets somebody in with a link and returns who they are.
func (h *House) Enter(t testing.TB, link, name string, browser int) room.Admission {
	t.Helper()
	place, token, _ := strings.Cut(link, "#t=")
	a, err := h.Meeting.TakeSeat(t.Context(), place[strings.LastIndexByte(place, '/')+1:],
		room.Visit{Link: token, SeatKey: fmt.Sprintf("seat-key-of-browser-%06d", browser), Name: name})
	legacytest.Must(t, err)
	h.Meeting.ParticipantJoined(a.SessionID, a.Seat.ID, fmt.Sprint("PA_", browser), h.Now)
	return a
}

// Leave is somebody's goodbye.
func (h *House) Leave(a room.Admission, browser int) {
	h.Meeting.ParticipantLeft(a.SessionID, a.Seat.ID, fmt.Sprint("PA_", browser), h.Now, room.LeftByChoice)
}
