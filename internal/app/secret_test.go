package app

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/config"
	"parley/internal/quickstart"
	"parley/internal/testkit"
)

// secretTracker makes calls and remembers every secret that they create, with
// the responses that may contain it.
type secretTracker struct {
	*server
	responses map[string]string   // call → its response
	secrets   map[string][]string // secret → the calls whose responses may contain it
}

// TestSecrets_NotExposed creates every kind of secret, uses each where it
// belongs and where it does not, and searches for all of them: in every response
// but the one that creates it, in the log, the metrics, the diagnostics and
// every file of the data directory, in clear text and in the usual encodings.
func TestSecrets_NotExposed(t *testing.T) {
	s := &secretTracker{server: startServer(t, func(c *config.Config) { c.LegacyV3KeyHeader = true }),
		responses: map[string]string{}, secrets: map[string][]string{}}
	for _, secret := range []string{s.APIKey, s.GatewaySecret, s.ProjectSecret, s.AdminToken} {
		s.secrets[secret] = nil
	}
	master, err := os.ReadFile(filepath.Join(s.cfg.DataDir, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	s.secrets[strings.TrimSpace(string(master))] = nil
	media, err := s.app.db.MediaSecret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.secrets[media.Reveal()] = nil

	s.visitRoom()
	s.callOlderVersions()
	s.manageAll()
	s.readGateway()
	s.call("metrics", http.MethodGet, "/metrics", nil, s.bearer())
	s.call("page", http.MethodGet, "/r/01890000-0000-7000-8000-000000000000", nil, nil)
	if len(s.secrets) < 16 || len(s.responses) < 40 {
		t.Errorf("collected %d secrets and %d responses, want at least 16 and 40", len(s.secrets), len(s.responses))
	}

	for name, text := range s.responses {
		for secret, makers := range s.secrets {
			if !slices.Contains(makers, name) {
				s.assertAbsent("the response to "+name, text, secret)
			}
		}
	}
	s.scan("while the service runs")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.scan("after the stop")
	if log := s.log.String(); !strings.Contains(log, "create_quick_audio_room") || !strings.Contains(log, "/seats") {
		t.Error("the log has no lines of the requests, want them")
	}
}

// scan searches everything that the service leaves behind.
func (s *secretTracker) scan(when string) {
	s.t.Helper()
	texts := map[string]string{"the log": s.log.String(), "the output": s.out.String()}
	entries, err := os.ReadDir(s.cfg.DataDir)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() { // the local socket
			continue
		}
		raw, err := os.ReadFile(filepath.Join(s.cfg.DataDir, e.Name()))
		if err != nil {
			s.t.Fatal(err)
		}
		if e.Name() != quickstart.FileName && e.Name() != "master.key" {
			texts[e.Name()] = string(raw)
		}
	}
	if len(texts["parley.db"])+len(texts["parley.db-wal"]) < 100_000 {
		s.t.Error("got less than 100 kB of the database, want all of it")
	}
	for where, text := range texts {
		for secret := range s.secrets {
			s.assertAbsent(where+" "+when, text, secret)
		}
	}
}

// assertAbsent searches for a secret in clear text, decoded, and in hexadecimal
// or Base64.
func (s *secretTracker) assertAbsent(where, text, secret string) {
	s.t.Helper()
	encodings := []string{secret, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret))}
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")); err == nil && len(raw) == 32 {
		encodings = append(encodings, string(raw), hex.EncodeToString(raw), strings.TrimPrefix(secret, "whsec_"))
	}
	for i, encoded := range encodings {
		if strings.Contains(text, encoded) {
			s.t.Errorf("%s: got the secret %.5s… (encoding %d) in it, want no secret", where, secret, i)
		}
	}
}

// call makes a call and keeps its response. makes names the response fields that
// may contain a new secret.
func (s *secretTracker) call(name, method, target string, body []byte,
	header http.Header, makes ...string) map[string]any {
	s.t.Helper()
	r, err := http.NewRequest(method, s.app.BaseURL()+target, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	head, err := httputil.DumpResponse(answer, false)
	if err != nil {
		s.t.Fatal(err)
	}
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.responses[name] != "" {
		s.t.Fatalf("two calls have the name %s, want distinct names", name)
	}
	s.responses[name] = string(head) + string(raw)
	var fields map[string]any
	_ = json.Unmarshal(raw, &fields)
	for _, field := range makes {
		secret, ok := fields[field].(string)
		if !ok {
			s.t.Fatalf("%s: got %d %s, want the field %s", name, answer.StatusCode, raw, field)
		}
		if _, token, found := strings.Cut(secret, "#t="); found {
			secret = token
		}
		s.secrets[secret] = append(s.secrets[secret], name)
	}
	return fields
}

func (s *secretTracker) bearer() http.Header {
	return http.Header{"Authorization": {"Bearer " + s.AdminToken}}
}

// misplacedCredentials are headers with each credential in a place where it does
// not belong.
func (s *secretTracker) misplacedCredentials(h http.Header) http.Header {
	h.Set("Secret-Key", s.GatewaySecret)
	h.Set("User-Agent", "client "+s.APIKey)
	h.Set("X-Request-ID", s.ProjectSecret)
	h.Set("Referer", "https://example.org/?secret="+s.GatewaySecret)
	h.Set("X-Forwarded-For", s.APIKey)
	h.Set("Cookie", "token="+s.AdminToken)
	return h
}

func (s *secretTracker) callOlderVersions() {
	signed := func(k string, body []byte) http.Header {
		return s.misplacedCredentials(http.Header{"Hash-Signature": {sign.Legacy(k, body)}})
	}
	room := func(more string) []byte {
		return fmt.Appendf(nil,
			`{"project_id":%q,"max_participants":3,"empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""}%s}`, s.ProjectID, more)
	}
	const quick, video = "/api/v3/rooms/create_quick_audio_room", "/api/v4/rooms/create_schedule_video_room"
	body := room(`,"name":"Amina"`)
	once := signed(s.APIKey, body)
	once.Set("Idempotency-Key", "once")
	s.call("v3 quick", http.MethodPost, quick, body, once, "final_link")
	s.call("v3 quick again", http.MethodPost, quick, body, once, "final_link")
	s.call("v3 key alone", http.MethodPost, quick, body, s.misplacedCredentials(http.Header{"Key": {s.APIKey}}),
		"final_link")
	s.call("v3 refused", http.MethodPost, quick, body,
		s.misplacedCredentials(http.Header{"Key": {s.GatewaySecret}, "Api-Key": {s.ProjectSecret}}))
	bad := room(`,"name":5,"` + s.GatewaySecret + `":1`)
	s.call("v3 bad fields", http.MethodPost, quick, bad, signed(s.ProjectSecret, bad))
	s.call("v3 secrets in the query", http.MethodPost, quick+"?key="+s.APIKey+"&secret="+s.GatewaySecret, body,
		signed("wrong", body))
	at := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04")
	body = room(`,"start_at":"` + at + `","name":"Amina"`)
	made := s.call("v4 scheduled", http.MethodPost, video, body, signed(s.ProjectSecret, body), "final_link")
	body = room(`,"start_at":"` + s.ProjectSecret + `"`)
	s.call("v4 refused", http.MethodPost, video, body, signed("wrong", body))
	event := fmt.Appendf(nil, `{"room_id":%q,"user_info":{"name":"Ben"}}`, made["room_id"])
	s.call("v4 event", http.MethodPost, fmt.Sprintf("/api/v4/webhook/get_room_events/%s", made["room_id"]),
		event, signed(s.ProjectSecret, event))
	status := []byte(`{"status":"active"}`)
	s.call("v4 status", http.MethodPut, "/api/v4/projects/update_project_status?project_id="+s.ProjectID,
		status, signed(s.APIKey, status))
}

func (s *secretTracker) visitRoom() {
	body := fmt.Appendf(nil,
		`{"project_id":%q,"name":"Amina","max_participants":3,"empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""}}`, s.ProjectID)
	made := s.call("room", http.MethodPost, "/api/v3/rooms/create_quick_audio_room", body,
		http.Header{"Hash-Signature": {sign.Legacy(s.APIKey, body)}}, "final_link")
	_, token, _ := strings.Cut(made["final_link"].(string), "#t=")
	path := fmt.Sprintf("/api/join/rooms/%s/", made["room_id"])
	const seatKey = "a-seat-key-that-a-browser-has-made-of-chance"
	s.secrets[seatKey] = nil
	visit := fmt.Appendf(nil, `{"name":"Amina","seat_key":%q,"link":%q}`, seatKey, token)
	s.call("preview", http.MethodPost, path+"preview", visit, s.misplacedCredentials(http.Header{}))
	seat := s.call("seat", http.MethodPost, path+"seats", visit, s.misplacedCredentials(http.Header{}), "media_token")
	s.call("wrong link", http.MethodPost, path+"seats",
		[]byte(`{"name":"B","seat_key":"`+seatKey+`2","link":"`+s.ProjectSecret+`"}`), nil)
	s.call("invitation", http.MethodPost, path+"invitations",
		[]byte(`{"role":"cohost","seat_key":"`+seatKey+`"}`), nil, "link")
	mediaToken := seat["media_token"].(string)
	s.call("media", http.MethodGet, "/rtc/validate?access_token="+mediaToken, nil, nil)
	s.call("media, no socket", http.MethodGet, "/rtc?access_token="+mediaToken, nil, nil)
	s.call("media, a broken token", http.MethodGet, "/rtc/v1/validate?access_token="+mediaToken+"x", nil, nil)
	s.call("page of the room", http.MethodGet, fmt.Sprintf("/r/%s?t=%s", made["room_id"], token), nil, nil)
	s.call("room, managed", http.MethodGet, fmt.Sprintf("/api/manage/rooms/%s", made["room_id"]), nil, s.bearer())
}

func (s *secretTracker) manageAll() {
	project := "/api/manage/projects/" + s.ProjectID
	post := func(name, path, body string, makes ...string) map[string]any {
		s.t.Helper()
		return s.call(name, http.MethodPost, path, []byte(body), s.misplacedCredentials(s.bearer()), makes...)
	}
	post("a project is made", "/api/manage/projects", fmt.Sprintf(`{"organization_id":%q,"name":"Second"}`,
		s.OrganizationID), "project_secret", "api_key", "gateway_secret")
	post("a key is rotated", project+"/keys/rotate", `{}`, "api_key", "gateway_secret")
	post("a second rotation", project+"/keys/rotate", `{}`)
	post("a secret is rotated", project+"/rotate-secret", `{}`, "project_secret")
	token := post("a token is made", "/api/manage/tokens", `{"name":"other"}`, "token")
	s.call("not a token", http.MethodGet, "/api/manage/tokens", nil,
		http.Header{"Authorization": {"Bearer " + s.APIKey}})
	post("unknown field", "/api/manage/tokens", fmt.Sprintf(`{"name":"x","secret":%q}`, s.GatewaySecret))
	for _, path := range []string{"/api/manage/organizations", "/api/manage/projects", project, project + "/keys",
		"/api/manage/rooms", "/api/manage/tokens"} {
		s.call("GET "+path, http.MethodGet, path, nil, s.bearer())
	}
	post("a token is revoked", fmt.Sprintf("/api/manage/tokens/%s/revoke", token["token_id"]), "")
}

func (s *secretTracker) readGateway() {
	read := func(name, target, secret string) {
		s.t.Helper()
		now := sign.FormatTimestamp(time.Now())
		s.call(name, http.MethodGet, target, nil,
			s.misplacedCredentials(http.Header{"Api-Key": {s.APIKey}, "Timestamp": {now},
				"Hash-Signature": {sign.V5(secret, http.MethodGet, target, now, "", nil)}}))
	}
	for _, target := range []string{"keys", "usage", "limits", "requests", "requests?limit=0", "keys?key=" +
		s.GatewaySecret, "nowhere", "openapi.json"} {
		read("v5 "+strings.ReplaceAll(target, s.GatewaySecret, "SECRET"), "/api/v5/"+target, s.GatewaySecret)
	}
	read("v5, a wrong secret", "/api/v5/keys", s.ProjectSecret)
	read("v5, a newline in the secret", "/api/v5/keys", s.GatewaySecret+"\n")
	s.call("v5, unsigned", http.MethodGet, "/api/v5/keys", nil,
		s.misplacedCredentials(http.Header{"Api-Key": {s.APIKey}, "Key": {s.APIKey}}))
	n := 0
	testkit.Eventually(s.t, "the refused calls are listed", func() bool {
		n++
		name := fmt.Sprintf("v5 requests, %d", n)
		read(name, "/api/v5/requests?limit=100", s.GatewaySecret)
		return strings.Count(s.responses[name], `"bad_signature"`) >= 2
	})
}
