package media_test

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"parley/internal/room"
)

func TestPassGrantsTakingPartAndNothingElse(t *testing.T) {
	h := newHouse(t)
	for name, c := range map[string]struct {
		pass    room.MediaPass
		sources []any
		data    bool
	}{
		"sound":           {room.MediaPass{Type: room.Audio, Grants: everything}, []any{"microphone"}, true},
		"everything":      {room.MediaPass{Type: room.Video, Grants: everything}, []any{"camera", "microphone", "screen_share", "screen_share_audio"}, true},
		"a locked camera": {room.MediaPass{Type: room.Video, Grants: room.Grants{Microphone: true, Chat: true}}, []any{"microphone"}, true},
		"a shared screen": {room.MediaPass{Type: room.Video, Grants: room.Grants{ScreenShare: true}}, []any{"screen_share", "screen_share_audio"}, false},
		"words":           {room.MediaPass{Type: room.Audio, Grants: room.Grants{Camera: true, ScreenShare: true, Chat: true}}, nil, true},
		"nothing":         {room.MediaPass{Type: room.Video}, nil, false},
		"hidden":          {room.MediaPass{Type: room.Video, Grants: everything, Hidden: true}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.pass
			p.Session, p.Identity, p.Name, p.Role, p.TTL = "r.1", "p-1", "Ada", room.Host, 10*time.Minute
			token, err := h.engine.Pass(p)
			if err != nil {
				t.Fatal(err)
			}
			body, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatal(err)
			}
			iat, exp := int64(got["iat"].(float64)), int64(got["exp"].(float64))
			if exp-iat != 600 || time.Since(time.Unix(iat, 0)).Abs() > 5*time.Second {
				t.Errorf("valid from %d to %d", iat, exp)
			}
			delete(got, "iat")
			delete(got, "nbf")
			delete(got, "exp")
			// The whole of it: what is not listed here is not granted.
			video := map[string]any{
				"roomJoin": true, "room": "r.1",
				"canPublish": len(c.sources) > 0, "canPublishData": c.data,
				"canSubscribe": true, "canUpdateOwnMetadata": false,
				"canSubscribeMetrics": false, "canManageAgentSession": false,
			}
			if len(c.sources) > 0 {
				video["canPublishSources"] = c.sources
			}
			if p.Hidden {
				video["hidden"] = true
			}
			want := map[string]any{
				"iss": "parley", "sub": "p-1", "identity": "p-1", "name": "Ada",
				"attributes": map[string]any{"role": "host", "room_type": string(p.Type)},
				"video":      video,
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the pass says\n%v, want\n%v", got, want)
			}
		})
	}
}

func TestPassNeedsToBeComplete(t *testing.T) {
	h := newHouse(t)
	good := room.MediaPass{Session: "r.1", Identity: "p-1", Role: room.Guest, Type: room.Audio, TTL: time.Minute}
	for name, change := range map[string]func(*room.MediaPass){
		"session":  func(p *room.MediaPass) { p.Session = "" },
		"identity": func(p *room.MediaPass) { p.Identity = "" },
		"type":     func(p *room.MediaPass) { p.Type = "smell" },
		"time":     func(p *room.MediaPass) { p.TTL = 0 },
	} {
		p := good
		change(&p)
		if token, err := h.engine.Pass(p); err == nil {
			t.Errorf("a pass without %s: %s", name, token)
		}
	}
}

func signClaims(t *testing.T, claims jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(testSecret))
	if err != nil {
		t.Fatal(err)
	}
	return token
}
