package sdk

import (
	"math"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
)

// checkJoinLinks lets the SDK sign links, and verifies them as the server does.
func (d *driver) checkJoinLinks(t *testing.T, published credentials) {
	const id = "0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f71"
	const hour = time.Hour
	seen := map[string]bool{}
	for _, test := range []struct {
		name      string
		arguments map[string]any
		want      sign.JoinLink // without ID and times
		age       time.Duration
	}{
		{"the defaults", map[string]any{"room_id": id}, sign.JoinLink{RoomID: id, Role: "guest"}, hour},
		{"the defaults again", map[string]any{"room_id": id}, sign.JoinLink{RoomID: id, Role: "guest"}, hour},
		{"all fields", map[string]any{"room_id": id, "role": "host", "name": "Zoë 🎉", "user_id": "4711", "single_use": true,
			"expires_in": 86400}, sign.JoinLink{
			RoomID:    id,
			Role:      "host",
			Name:      "Zoë 🎉",
			UserID:    "4711",
			SingleUse: true,
		}, 24 * hour},
		{"a co-host for a second", map[string]any{"room_id": id, "role": "cohost", "expires_in": 1},
			sign.JoinLink{RoomID: id, Role: "cohost", SingleUse: true}, time.Second},
	} {
		outcome := d.signJoinLink(t, published, test.arguments)
		result, _ := outcome["result"].(map[string]any)
		link, _ := result["text"].(string)
		token, found := strings.CutPrefix(link, "https://meet.example.org/r/"+id+"#j=")
		got, err := sign.VerifyJoinLink([]string{published.ProjectSecret}, token)
		if !found || err != nil {
			t.Errorf("%s: got %v, error %v, want a signed link", test.name, outcome, err)
			continue
		}
		if age := got.ExpiresAt.Sub(got.IssuedAt); age != test.age || math.Abs(time.Since(got.IssuedAt).Minutes()) > 2 {
			t.Errorf("%s: got a link issued at %s for %s, want one of now for %s", test.name, got.IssuedAt, age, test.age)
		}
		if seen[got.ID] || len(got.ID) < 16 {
			t.Errorf("%s: got the ID %q, want a random one", test.name, got.ID)
		}
		seen[got.ID] = true
		got.ID, got.IssuedAt, got.ExpiresAt = "", time.Time{}, time.Time{}
		if got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
	for name, arguments := range map[string]map[string]any{
		"no room":            {"room_id": ""},
		"an unknown role":    {"room_id": id, "role": "admin"},
		"more than a day":    {"room_id": id, "expires_in": 86401},
		"a negative time":    {"room_id": id, "expires_in": -1},
		"a name too long":    {"room_id": id, "name": strings.Repeat("ä", 256)},
		"a user ID likewise": {"room_id": id, "user_id": strings.Repeat("a", 256)},
	} {
		failure, _ := d.signJoinLink(t, published, arguments)["error"].(map[string]any)
		if failure["kind"] != "invalid_argument" {
			t.Errorf("%s: got %v, want an invalid argument", name, failure)
		}
	}
	withoutSecret := published
	withoutSecret.ProjectSecret = ""
	failure, _ := d.signJoinLink(t, withoutSecret, map[string]any{"room_id": id})["error"].(map[string]any)
	if failure["kind"] != "missing_credential" {
		t.Errorf("without a project secret: got %v, want a missing credential", failure)
	}
}

func (d *driver) signJoinLink(t *testing.T, known credentials, arguments map[string]any) map[string]any {
	t.Helper()
	return d.ask(t, map[string]any{"do": "call", "base_url": "https://meet.example.org", "credentials": known,
		"options": map[string]any{}, "operation": "sign_join_link", "arguments": arguments})
}
