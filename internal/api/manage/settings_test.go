package manage

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// defaults returns the settings of a new project in their JSON form.
func defaults() m {
	return m{
		"require_secret_signatures": false, "default_empty_timeout": 0.0, "default_logout_url": "",
		"default_webhook_url":  "",
		"invitations_required": false, "hidden_participants": false, "embed_origins": []any{},
		"webhook_events": []any{}, "brand_name": "", "brand_color": "",
		"features": m{"max_participants": 0.0, "room_duration": 0.0, "camera": true, "screen_share": true,
			"chat": true},
		"locks": m{"microphone": false, "camera": false, "screen_share": false, "chat": false,
			"waiting_room": false},
		"retention": m{"rooms_days": 0.0, "people_days": 0.0, "deliveries_days": 0.0, "calls_days": 0.0},
	}
}

func testSettings(t *testing.T, b *fixture) {
	b.t = t
	path := "/projects/" + b.createProject()["project_id"].(string)
	shown := func() m { return b.mustCall("GET", path, nil)["settings"].(m) }
	assertSettings := func(name string, want m) {
		t.Helper()
		if diff := cmp.Diff(want, shown()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	assertSettings("a new project", defaults())

	// Each setting alone: a change affects no other setting, and null restores
	// the default.
	each := m{
		"require_secret_signatures": true, "default_empty_timeout": 86400.0,
		"default_logout_url":  "https://example.org/bye",
		"default_webhook_url": "https://example.org/hook", "invitations_required": true, "hidden_participants": true,
		"embed_origins":  []any{"https://a.example", "http://localhost:3000"},
		"webhook_events": []any{"room.ended", "key.rotated"},
		"brand_name":     "Acme", "brand_color": "#0a6b3d",
		"features": m{"max_participants": 7.0, "room_duration": 45.0, "breakout_rooms": 0.0, "camera": false,
			"screen_share": false, "chat": false},
		"locks": m{"microphone": true, "camera": true, "screen_share": true, "chat": true,
			"waiting_room": true},
		"retention": m{"rooms_days": 3650.0, "people_days": 1.0, "deliveries_days": 2.0, "calls_days": 3.0},
	}
	for name, value := range each {
		inner, nested := value.(m)
		if !nested {
			want := defaults()
			want[name] = value
			b.mustCall("PATCH", path, m{name: value})
			assertSettings(name, want)
			b.mustCall("PATCH", path, m{name: nil})
			assertSettings(name+" null", defaults())
			continue
		}
		for field, value := range inner {
			want := defaults()
			want[name].(m)[field] = value
			b.mustCall("PATCH", path, m{name: m{field: value}})
			assertSettings(name+"."+field, want)
			b.mustCall("PATCH", path, m{name: m{field: nil}})
			assertSettings(name+"."+field+" null", defaults())
		}
	}

	// All settings at once, then some of them.
	b.mustCall("PATCH", path, each)
	assertSettings("all", each)
	b.mustCall("PATCH", path, m{"features": m{}, "locks": m{}})
	assertSettings("nothing named", each)
	b.mustCall("PATCH", path, m{"features": nil, "default_logout_url": "", "embed_origins": []any{},
		"locks": m{"chat": nil}})
	want := maps.Clone(each)
	want["features"], want["default_logout_url"], want["embed_origins"] = defaults()["features"], "", []any{}
	want["locks"] = m{"microphone": true, "camera": true, "screen_share": true, "chat": false, "waiting_room": true}
	assertSettings("some back", want)
	b.mustCall("PATCH", path, m{"embed_origins": []any{"HTTPS://A.example:443", "https://a.example"}})
	want["embed_origins"] = []any{"https://a.example"}
	assertSettings("origins as browsers write them", want)

	for _, c := range []struct {
		body any
		want string
	}{
		{m{"features": m{"recording": true}}, `unknown field "features.recording", the fields are features.breakout_rooms, features.camera, features.chat, features.max_participants, features.room_duration, features.screen_share`},
		{m{"locks": m{"Chat": true}}, `unknown field "locks.Chat", the fields are locks.camera, locks.chat, locks.microphone, locks.screen_share, locks.waiting_room`},
		{`{"locks":{"chat":true,"chat":false}}`, "the body has a field twice: chat"},
		{m{"features.camera": false}, `unknown field "features.camera", the fields are ` + strings.Join(slices.Sorted(maps.Keys(fieldNames())), ", ")},
		{m{"features": true}, "features must be an object"},
		{m{"features": []any{}}, "features must be an object"},
		{m{"features": m{"camera": "no"}}, "features.camera must be true or false"},
		{m{"features": m{"breakout_rooms": "2"}}, "features.breakout_rooms must be an integer"},
		{m{"features": m{"breakout_rooms": 17}}, "features.breakout_rooms must be between 0 and 16, not 17"},
		{m{"features": m{"max_participants": 1001}}, "features.max_participants must be between 0 and 1000, not 1001"},
		{m{"features": m{"room_duration": 1441}}, "features.room_duration must be between 0 and 1440, not 1441"},
		{`{"features": {"room_duration": 9223372036854775807}}`, "features.room_duration must be between 0 and 1440"},
		{m{"embed_origins": "https://a.example"}, "embed_origins must be a list of strings"},
		{m{"embed_origins": []any{5}}, "embed_origins must be a list of strings"},
		{m{"embed_origins": []any{"https://a.example/"}}, `embed_origins must contain origins such as https://example.org or https://example.org:8443, not "https://a.example/"`},
		{m{"embed_origins": []any{nil}}, `embed_origins must contain origins such as https://example.org or https://example.org:8443, not ""`},
		{m{"embed_origins": []any{"http://a.example"}}, `embed_origins must contain origins with https, or with http or the scheme of an app for localhost, not "http://a.example"`},
		{m{"brand_name": 5}, "brand_name must be a string"},
		{m{"brand_name": strings.Repeat("x", 41)}, "brand_name must have at most 40 characters, not 41"},
		{m{"brand_color": "#7a7a7a"}, "brand_color must have a contrast of at least 4.5 to the page (#f5f4f0), not 3.9: choose a darker color"},
		{m{"default_logout_url": "/bye"}, "default_logout_url must be an absolute http or https URL"},
		{m{"default_logout_url": 5}, "default_logout_url must be a string"},
		{m{"default_webhook_url": "https://a:b@example.org"}, "default_webhook_url must not contain a user name or password"},
	} {
		b.assertError("PATCH", path, c.body, 400, "invalid_request", c.want)
	}
	assertSettings("after rejected changes", want)
}

// fieldNames returns the fields that a change of a project may have.
func fieldNames() m {
	names := defaults()
	names["name"] = nil
	return names
}
