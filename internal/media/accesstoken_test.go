package media_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"parley/internal/room"
	"parley/internal/testkit"
)

// An access token only identifies a participant and a session. The permissions are decided
// when the participant connects.
func TestAccessToken_NoGrants(t *testing.T) {
	f := newFixture(t)
	token, err := f.engine.AccessToken(room.AccessTokenSpec{Session: "r.1", Identity: "p-1", TTL: 10 * time.Minute})
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
	if exp-iat != 600 || time.Since(time.Unix(iat, 0)).Abs() > testkit.Timeout {
		t.Errorf("valid from %d to %d, want 600 seconds from now", iat, exp)
	}
	delete(got, "iat")
	delete(got, "nbf")
	delete(got, "exp")
	want := map[string]any{"iss": "parley", "sub": "p-1", "identity": "p-1", "video": map[string]any{"roomJoin": true,
		"room": "r.1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

func TestPermission_ByAuthorization(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "sound.1", room.Audio)
	f.openSession(t, "picture.1", room.Video)
	const (
		camera, microphone  = livekit.TrackSource_CAMERA, livekit.TrackSource_MICROPHONE
		screen, screenAudio = livekit.TrackSource_SCREEN_SHARE, livekit.TrackSource_SCREEN_SHARE_AUDIO
	)
	for name, c := range map[string]struct {
		allowed room.Authorization
		sources []livekit.TrackSource
		data    bool
	}{
		"sound":           {room.Authorization{Type: room.Audio, Grants: allGrants}, []livekit.TrackSource{microphone}, true},
		"everything":      {room.Authorization{Type: room.Video, Grants: allGrants}, []livekit.TrackSource{camera, microphone, screen, screenAudio}, true},
		"a locked camera": {room.Authorization{Type: room.Video, Grants: room.Grants{Microphone: true, Chat: true}}, []livekit.TrackSource{microphone}, true},
		"a shared screen": {room.Authorization{Type: room.Video, Grants: room.Grants{ScreenShare: true}}, []livekit.TrackSource{screen, screenAudio}, false},
		"words":           {room.Authorization{Type: room.Audio, Grants: room.Grants{Camera: true, ScreenShare: true, Chat: true}}, nil, true},
		"nothing":         {room.Authorization{Type: room.Video}, nil, false},
		"hidden":          {room.Authorization{Type: room.Video, Grants: allGrants, Hidden: true}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			session := "picture.1"
			if c.allowed.Type == room.Audio {
				session = "sound.1"
			}
			c.allowed.Role = room.CoHost
			p := joinWithToken(t, f.url, f.accessTokenFor(t, session, "ada", c.allowed))
			got := p.JoinResponse().Participant
			// The whole permission is compared, so that nothing else is granted.
			want := &livekit.ParticipantPermission{
				CanSubscribe:      true,
				CanPublish:        len(c.sources) > 0,
				CanPublishData:    c.data,
				CanPublishSources: c.sources,
				Hidden:            c.allowed.Hidden,
			}
			if !proto.Equal(got.Permission, want) {
				t.Errorf("got %v, want %v", got.Permission, want)
			}
			if got.Name != "ada by name" || !maps.Equal(got.Attributes, map[string]string{"role": "cohost"}) ||
				got.Metadata != "" {
				t.Errorf("got participant %v, want the name \"ada by name\" and the role cohost", got)
			}
		})
	}
}

func TestAccessToken_MissingField(t *testing.T) {
	f := newFixture(t)
	good := room.AccessTokenSpec{Session: "r.1", Identity: "p-1", TTL: time.Minute}
	for name, change := range map[string]func(*room.AccessTokenSpec){
		"session":  func(p *room.AccessTokenSpec) { p.Session = "" },
		"identity": func(p *room.AccessTokenSpec) { p.Identity = "" },
		"time":     func(p *room.AccessTokenSpec) { p.TTL = 0 },
	} {
		p := good
		change(&p)
		if token, err := f.engine.AccessToken(p); err == nil {
			t.Errorf("without %s: got token %s, want an error", name, token)
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
