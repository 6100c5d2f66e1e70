package roomstest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/apitest"
	"parley/internal/api/roomapi"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

// MeetingRooms is the part of the room service that both versions call.
type MeetingRooms interface {
	roomapi.Rooms
	Get(ctx context.Context, id string) (*room.Room, error)
	MarkAttendance(ctx context.Context, p project.Project, roomID, name string, body []byte, exclusive bool) error
}

// Version is a version under test.
type Version struct {
	Prefix string // "/api/v3"
	Serve  func(rooms MeetingRooms, limits roomapi.Limits, options roomapi.Options) http.Handler
	// StartAt formats a start time for the version. InvalidStartMessage is the
	// version's error for an invalid start time, without the value.
	StartAt             func(at time.Time) string
	InvalidStartMessage string
	// EndedHandler serves the version after its end; nil if it has none.
	EndedHandler http.Handler
	// ReturnsLink reports whether the response of reschedule_room has a link.
	ReturnsLink bool
	// HasEvents reports whether the version can list the events of a room.
	HasEvents bool
}

// DefaultOptions are the options of a server with default settings.
var DefaultOptions = roomapi.Options{Skew: 5 * time.Minute}

// MeetingFixture is a version with a real database and rooms that people can join.
type MeetingFixture struct {
	*Fixture
	Version
	Checker   *apitest.Checker
	LiveRooms *room.Service // whose clock is Now
	Hooks     *webhook.Service
	Now       time.Time
}

// NewMeetingFixture returns a MeetingFixture for a version and its description.
func NewMeetingFixture(t testing.TB, b *Fixture, v Version, description []byte) *MeetingFixture {
	f := &MeetingFixture{Fixture: b, Version: v, Hooks: webhook.NewService(b.DB, time.Now, storetest.NewID),
		Now: time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)}
	f.LiveRooms = room.NewService(b.DB, engine{}, func() string { return "https://meet.example.org" },
		func() time.Time { return f.Now }, storetest.NewID, slog.New(slog.DiscardHandler), room.Options{Webhooks: f.Hooks})
	t.Cleanup(f.LiveRooms.Simulator.Stop)
	f.Checker = apitest.New(t, description, WithMiddleware(v.Serve(f.LiveRooms, roomapi.Limits{}, DefaultOptions)))
	return f
}

// ErrorTests returns a test that runs CheckErrors with another checker of the same
// description.
func (f *MeetingFixture) ErrorTests(c *apitest.Checker) func(t *testing.T) {
	return func(t *testing.T) {
		f.Checker = c
		f.withRooms(f.LiveRooms, roomapi.Limits{}, func() { f.CheckErrors(t) })
	}
}

// engine is a media engine that does nothing.
type engine struct{ room.Media }

func (engine) Open(context.Context, room.MediaSession) error                    { return nil }
func (engine) ConnectionType(string, string) room.ConnectionType                { return room.ConnectionUDP }
func (engine) Admit(string)                                                     {}
func (engine) Participants(context.Context, string) ([]room.Participant, error) { return nil, nil }
func (engine) AccessToken(room.AccessTokenSpec) (string, error)                 { return "token", nil }
func (engine) UpdateMetadata(context.Context, string, room.Metadata) error      { return nil }
func (engine) UpdatePermissions(context.Context, string, string, room.Role, room.Grants) error {
	return nil
}
func (engine) SendMessage(context.Context, string, []string, room.Message) error { return nil }
func (engine) Remove(context.Context, string, string) error                      { return nil }
func (engine) CloseConnection(string, string, string)                            {}
func (engine) Connection(string, string) string                                  { return "" }

// V5SignedHeaders returns the headers of a call that is signed with
// SVC-HMAC-V5-1.
func V5SignedHeaders(credentials key.IssuedCredentials, method, target, idempotencyKey string,
	body []byte) http.Header {
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

// Call sends a correctly signed call. fields are its body; nil sends a GET.
func (f *MeetingFixture) Call(t testing.TB, route string, fields map[string]any) *http.Response {
	t.Helper()
	method, body := http.MethodGet, []byte(nil)
	if fields != nil {
		method, body = http.MethodPost, EncodeJSON(t, fields)
	}
	return f.Checker.Do(t, method, f.Prefix+route, V5SignedHeaders(f.Issued, method, f.Prefix+route, "", body), body)
}

// MustCall is Call for a call that must succeed with 200.
func (f *MeetingFixture) MustCall(t testing.TB, route string, fields map[string]any) map[string]any {
	t.Helper()
	resp := f.Call(t, route, fields)
	out := DecodeFields(t, resp)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %d %v, want 200", route, resp.StatusCode, out)
	}
	return out
}

// CreateScheduled creates a room that opens in an hour and returns its id.
func (f *MeetingFixture) CreateScheduled(t testing.TB) string {
	t.Helper()
	created, err := f.LiveRooms.Schedule(t.Context(), f.Project, f.roomRequest(f.Now.Add(time.Hour)), nil)
	Must(t, err)
	return created.ID
}

// CreateQuick creates an open room and returns its id.
func (f *MeetingFixture) CreateQuick(t testing.TB) string {
	t.Helper()
	created, err := f.LiveRooms.CreateQuick(t.Context(), f.Project, f.roomRequest(time.Time{}), nil)
	Must(t, err)
	return created.ID
}

func (f *MeetingFixture) roomRequest(startAt time.Time) room.Spec {
	return room.Spec{
		Type:            room.Video,
		StartAt:         startAt,
		MaxParticipants: 9,
		Title:           "Standup",
		WelcomeMessage:  "Hello",
		CreatorName:     "Amina",
		ExternalUserID:  "4711",
		WebhookURL:      "https://example.org/hook",
	}
}

// Join joins a room with a link.
func (f *MeetingFixture) Join(t testing.TB, link, name string, browser int) room.Admission {
	t.Helper()
	place, token, _ := strings.Cut(link, "#t=")
	a, err := f.LiveRooms.ReserveSeat(t.Context(), place[strings.LastIndexByte(place, '/')+1:],
		room.JoinRequest{LinkToken: token, SeatKey: fmt.Sprintf("seat-key-of-browser-%06d", browser), Name: name})
	Must(t, err)
	f.LiveRooms.ParticipantJoined(a.SessionID, a.Seat.ID, fmt.Sprint("PA_", browser), f.Now)
	return a
}

// Leave ends the connection of a participant.
func (f *MeetingFixture) Leave(a room.Admission, browser int) {
	f.LiveRooms.ParticipantLeft(a.SessionID, a.Seat.ID, fmt.Sprint("PA_", browser), f.Now, room.LeftByChoice)
}
