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
	for kind, sources := range map[room.Type][]any{
		room.Audio: {"microphone"},
		room.Video: {"camera", "microphone", "screen_share", "screen_share_audio"},
	} {
		token, err := h.engine.Pass(room.MediaPass{
			Session: "r.1", Identity: "p-1", Name: "Ada", Role: room.Host, Type: kind, TTL: 10 * time.Minute})
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
			t.Errorf("%s: valid from %d to %d", kind, iat, exp)
		}
		delete(got, "iat")
		delete(got, "nbf")
		delete(got, "exp")
		// The whole of it: what is not listed here is not granted.
		want := map[string]any{
			"iss": "parley", "sub": "p-1", "identity": "p-1", "name": "Ada",
			"attributes": map[string]any{"role": "host"},
			"video": map[string]any{
				"roomJoin": true, "room": "r.1",
				"canPublish": true, "canPublishSources": sources, "canPublishData": true,
				"canSubscribe": true, "canUpdateOwnMetadata": false,
			},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the pass says\n%v, want\n%v", kind, got, want)
		}
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
