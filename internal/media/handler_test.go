package media_test

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/livekit/protocol/auth"
	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"parley/internal/media"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

func TestHandler_ServesOnlySignaling(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	// Even a token with all grants can only be used to join.
	admin, err := auth.NewAccessToken("parley", testSecret).SetIdentity("admin").SetVideoGrant(&auth.VideoGrant{
		RoomCreate: true,
		RoomList:   true,
		RoomAdmin:  true,
		RoomJoin:   true,
		Room:       "r.1",
	}).ToJWT()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"POST", "/twirp/livekit.RoomService/ListRooms", 405},
		{"GET", "/twirp/livekit.RoomService/ListRooms", 404},
		{"GET", "/", 404},
		{"GET", "/agent", 404},
		{"GET", "/whip/v1", 404},
		{"GET", "/debug/pprof/", 404},
		{"GET", "/rtc/v1/other", 404},
		{"POST", "/rtc/validate", 405},
		{"GET", "/rtc", 404}, // not a WebSocket
		{"GET", "/rtc/validate", 200},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c.method, c.path+"?access_token="+admin, strings.NewReader("{}"))
		f.engine.Handler().ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, w.Code, c.want)
		}
	}
}

func TestHandler_ChecksToken(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	f.openSession(t, "r.2", room.Audio)
	sign := func(key, secret string, valid time.Duration) string {
		token, err := auth.NewAccessToken(key, secret).SetIdentity("eve").SetValidFor(valid).
			SetVideoGrant(&auth.VideoGrant{RoomJoin: true, Room: "r.1"}).ToJWT()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	expired := expiredToken(t)
	for name, c := range map[string]struct {
		path, token string
		want        int
	}{
		"no token":             {"/rtc/validate", "", 401},
		"nonsense":             {"/rtc/validate", "eyJhbGciOiJIUzI1NiJ9.nonsense.x", 401},
		"another key":          {"/rtc/validate", sign("other", testSecret, time.Minute), 401},
		"another secret":       {"/rtc/validate", sign("parley", strings.Repeat("x", 40), time.Minute), 401},
		"expired":              {"/rtc/validate", expired, 401},
		"unknown session":      {"/rtc/validate", f.accessToken(t, "r.3", "eve", room.Video), 404},
		"valid":                {"/rtc/validate", f.accessToken(t, "r.1", "ada", room.Video), 200},
		"audio session":        {"/rtc/validate", f.accessToken(t, "r.2", "ada", room.Audio), 200},
		"audio session, newer": {"/rtc/v1/validate", f.accessToken(t, "r.2", "ada", room.Audio), 404},
	} {
		if got := f.getStatus(t, c.path, c.token); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func expiredToken(t *testing.T) string {
	t.Helper()
	// LiveKit accepts tokens for one minute after their expiry.
	return signClaims(t, map[string]any{
		"iss": "parley", "sub": "eve", "iat": time.Now().Add(-time.Hour).Unix(), "exp": time.Now().Add(-2 * time.Minute).Unix(),
		"video": map[string]any{"roomJoin": true, "room": "r.1"},
	})
}

// A participant has only the identity that was issued. With the publish parameter, LiveKit
// would add a suffix that the client chooses.
func TestHandler_IgnoresPublishParameter(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	baseURL := strings.Replace(f.url, "http", "ws", 1) + "/rtc?protocol=16&publish=again&access_token="
	ws, _, err := websocket.DefaultDialer.Dial(baseURL+f.accessToken(t, "r.1", "eve", room.Video), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.Close() }()
	_, data, err := ws.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	first := &livekit.SignalResponse{}
	if err := proto.Unmarshal(data, first); err != nil {
		t.Fatal(err)
	}
	if got := first.GetJoin().GetParticipant().GetIdentity(); got != "eve" {
		t.Errorf("joined as %q, want eve", got)
	}
}

func TestHandler_MessageTooLong(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	eve := f.join(t, "r.1", "eve", room.Video)
	// The error is ignored, because the server may close the connection during the write.
	_ = eve.Write(make([]byte, 2<<20))
	testkit.Eventually(t, "the connection is closed", eve.Closed)
	f.join(t, "r.1", "ada", room.Video)
}

// No secret is logged, even at debug level.
func TestLogs_NoSecrets(t *testing.T) {
	var lines testkit.Buffer
	f := newFixture(t, func(c *media.Config) {
		c.Log = slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	f.openSession(t, "r.1", room.Video)
	token := f.accessToken(t, "r.1", "ada", room.Video)
	ada := joinWithToken(t, f.url, token)
	publish(t, ada, "mic", mediatest.Microphone)
	freshToken(t, ada)
	bad := token[:len(token)-4] + "AAAA"
	refusedStatus(t, f.url, bad)
	absent := f.accessToken(t, "r.9", "ada", room.Video)
	refusedStatus(t, f.url, absent)
	ada.Leave()
	f.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "ada", ada.SID(),
		room.LeftByChoice})

	text := lines.String()
	for name, secret := range map[string]string{
		"token": token, "forged token": bad, "other token": absent, "fresh token": ada.Token(),
		"signing secret": testSecret, "token in a URL": "access_token=ey",
		"stream password": strings.SplitAfter(ada.Description(), "ice-pwd:")[1][:20],
	} {
		if strings.Contains(text, secret) {
			t.Errorf("log: got the %s in it, want no secret", name)
		}
	}
	// The signature is checked alone too, because the rest of the token may be truncated.
	if signature := token[strings.LastIndex(token, ".")+1:]; strings.Contains(text, signature) {
		t.Error("log: got the signature of the token in it, want no secret")
	}
	if n := strings.Count(text, "media engine: "); n < 20 {
		t.Errorf("got %d lines of the engine, want at least 20 at debug level", n)
	}
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("log line: got %q, want valid JSON", line)
		}
	}
}
