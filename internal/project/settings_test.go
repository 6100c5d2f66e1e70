package project_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/store/storetest"
)

// TestSettings_RoundTrip checks on both databases that settings are read as they
// were set, and that an edit keeps the fields that it does not name.
func TestSettings_RoundTrip(t *testing.T) {
	t.Parallel()
	for name, open := range storetest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			d := newFixture(open(t))
			p := d.createProject(t)
			rapid.Check(t, func(t *rapid.T) {
				want := drawSettings(t)
				if err := d.Configure(ctx, p.ID, want); err != nil {
					t.Fatal(err)
				}
				got, err := d.Get(ctx, p.ID)
				if diff := cmp.Diff(want, got.Settings); err != nil || diff != "" {
					t.Fatalf("error %v, settings (-want +got):\n%s", err, diff)
				}
				want.Locks.Chat = !want.Locks.Chat
				edited, err := d.Edit(ctx, p.ID, project.Edit{Settings: func(s *project.Settings) error {
					s.Locks.Chat = !s.Locks.Chat
					return nil
				}})
				if diff := cmp.Diff(want, edited.Settings); err != nil || diff != "" {
					t.Fatalf("edit: error %v, settings (-want +got):\n%s", err, diff)
				}
				got, err = d.Get(ctx, p.ID)
				if diff := cmp.Diff(edited, got, storetest.Exact); err != nil || diff != "" {
					t.Fatalf("project after the edit: error %v (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

func drawSettings(t *rapid.T) project.Settings {
	flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
	number := func(name string, high int) int { return rapid.IntRange(0, high).Draw(t, name) }
	s := project.Settings{
		RequireSecretSignatures: flag("require_secret_signatures"),
		DefaultEmptyTimeout:     number("default_empty_timeout", 86400),
		DefaultLogoutURL: rapid.SampledFrom([]string{"", "https://example.org/bye?x=é"}).Draw(t,
			"default_logout_url"),
		DefaultWebhookURL: rapid.SampledFrom([]string{"", "http://10.0.0.1:8080/hook"}).Draw(t,
			"default_webhook_url"),
		InvitationsRequired: flag("invitations_required"),
		HiddenParticipants:  flag("hidden_participants"),
		WebhookEvents: rapid.SampledFrom([][]event.Type{nil, {event.RoomEnded},
			{event.ParticipantLeft, event.KeyRotated}}).Draw(t, "webhook_events"),
		EmbedOrigins: rapid.SampledFrom([][]string{nil, {"https://a.example"},
			{"https://b.example:8443", "http://localhost:3000"}}).Draw(t, "embed_origins"),
		BrandName:  rapid.SampledFrom([]string{"", "Acme Школа"}).Draw(t, "brand_name"),
		BrandColor: rapid.SampledFrom([]string{"", "#0a6b3d"}).Draw(t, "brand_color"),
		Features: project.Features{
			MaxParticipants: number("max_participants", 1000),
			RoomDuration:    number("room_duration", 1440),
			NoCamera:        flag("no_camera"),
			NoScreenShare:   flag("no_screen_share"),
			NoChat:          flag("no_chat"),
		},
		Locks: project.Locks{
			Microphone:  flag("microphone"),
			Camera:      flag("camera"),
			ScreenShare: flag("screen_share"),
			Chat:        flag("chat"),
			WaitingRoom: flag("waiting room"),
		},
	}
	if flag("breakout_rooms set") {
		n := number("breakout_rooms", 16)
		s.Features.BreakoutRooms = &n
	}
	return s
}

func TestSettings_Bounds(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newFixture(storetest.SQLite(t))
	p := d.createProject(t)
	type (
		settings = project.Settings
		features = project.Features
	)
	number := func(n int) *int { return &n }
	var many []string
	for range 21 {
		many = append(many, "https://"+strings.Repeat("a", len(many)+1))
	}
	for _, tc := range []struct {
		s    settings
		want string
	}{
		{settings{DefaultEmptyTimeout: 86401}, "default_empty_timeout must be between 0 and 86400, not 86401"},
		{settings{DefaultEmptyTimeout: -1}, "default_empty_timeout must be between 0 and 86400, not -1"},
		{settings{BrandName: strings.Repeat("x", 41)}, "brand_name must have at most 40 characters, not 41"},
		{settings{BrandColor: "green"}, `brand_color must be a color such as "#1f5f8b", not "green"`},
		{settings{BrandColor: "#0a6b3"}, `brand_color must be a color such as "#1f5f8b", not "#0a6b3"`},
		{settings{BrandColor: "#" + strings.Repeat("0", 90)}, `brand_color must be a color such as "#1f5f8b", not "#0000000000000000000…"`},
		{settings{BrandColor: "#7a7a7a"}, "brand_color must have a contrast of at least 4.5 to the page (#f5f4f0), not 3.9: choose a darker color"},
		{settings{BrandColor: "#ffffff"}, "brand_color must have a contrast of at least 4.5 to the page (#f5f4f0), not 1.1: choose a darker color"},
		{settings{DefaultLogoutURL: "example.org"}, "default_logout_url must be an absolute http or https URL"},
		{settings{DefaultLogoutURL: "https://a:b@example.org"}, "default_logout_url must not contain a user name or password"},
		{settings{DefaultLogoutURL: "https://example.org/" + strings.Repeat("x", 236)}, "default_logout_url must have at most 255 characters, not 256"},
		{settings{DefaultWebhookURL: "ftp://example.org"}, "default_webhook_url must be an absolute http or https URL"},
		{settings{DefaultWebhookURL: "https://example.org/" + strings.Repeat("x", 2029)}, "default_webhook_url must have at most 2048 characters, not 2049"},
		{settings{DefaultWebhookURL: "https://example.org/" + strings.Repeat("é", 1015)}, "default_webhook_url must have at most 2048 bytes, not 2050"},
		{settings{EmbedOrigins: []string{"https://example.org/"}}, `embed_origins must contain origins such as https://example.org or https://example.org:8443, not "https://example.org/"`},
		{settings{EmbedOrigins: many}, "embed_origins must contain at most 20 origins, not 21"},
		{settings{WebhookEvents: []event.Type{event.RoomEnded, "room.exploded"}}, `webhook_events must contain event types such as room.ended, not "room.exploded"`},
		{settings{WebhookEvents: []event.Type{event.AttendanceMarked}}, `webhook_events must contain event types such as room.ended, not "attendance.marked"`},
		{settings{Features: features{MaxParticipants: 1001}}, "features.max_participants must be between 0 and 1000, not 1001"},
		{settings{Features: features{RoomDuration: 1441}}, "features.room_duration must be between 0 and 1440, not 1441"},
		{settings{Features: features{BreakoutRooms: number(17)}}, "features.breakout_rooms must be between 0 and 16, not 17"},
		{settings{Features: features{BreakoutRooms: number(-1)}}, "features.breakout_rooms must be between 0 and 16, not -1"},
	} {
		if err := d.Configure(ctx, p.ID, tc.s); !fault.Is(err, fault.Invalid) || err.Error() != tc.want {
			t.Errorf("%v, want %s", err, tc.want)
		}
	}
	got, err := d.Get(ctx, p.ID)
	if diff := cmp.Diff(settings{}, got.Settings); err != nil || diff != "" {
		t.Errorf("settings after the refused changes: error %v (-want +got):\n%s", err, diff)
	}
	most := settings{DefaultEmptyTimeout: 86400, EmbedOrigins: many[:20],
		Features: features{MaxParticipants: 1000, RoomDuration: 1440, BreakoutRooms: number(16)}}
	if err := d.Configure(ctx, p.ID, most); err != nil {
		t.Error(err)
	}
	if err := d.Configure(ctx, p.ID, settings{EmbedOrigins: []string{"HTTPS://A.example:443", "https://a.example",
		"https://b.example"}}); err != nil {
		t.Error(err)
	}
	if got, err := d.Get(ctx, p.ID); err != nil || strings.Join(got.Settings.EmbedOrigins,
		" ") != "https://a.example https://b.example" {
		t.Errorf("got origins %v, %v, want https://a.example and https://b.example", got.Settings.EmbedOrigins, err)
	}
}
