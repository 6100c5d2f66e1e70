package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley.example/client"
	"parley.example/client/sign"
)

const (
	projectID     = "0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10"
	roomID        = "0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f71"
	apiKey        = "pk_0000TestKeyDoNotUse00000000000"
	gatewaySecret = "gs_0000TestSecretDoNotUse0000000000000000000000"
	projectSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

var credentials = client.Credentials{ProjectID: projectID, APIKey: apiKey,
	GatewaySecret: gatewaySecret, ProjectSecret: projectSecret}

// A received request, as it stood on the wire.
type received struct {
	method string
	target string
	header http.Header
	body   string
	at     time.Time
}

// A server verifies signatures and answers as the descriptions say. Its clock
// may be off, and it may be told to do something else with the next requests.
type server struct {
	mu       sync.Mutex
	requests []received
	script   []http.HandlerFunc // for the requests to come; nil is the ordinary answer
	ahead    time.Duration      // of the client's clock
	skew     time.Duration
	calls    []map[string]any // what the list of requests holds
}

func newServer() *server { return &server{skew: sign.DefaultSkew} }

// respondWith sets the handler of the next requests.
func (s *server) respondWith(script ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, script...)
}

func (s *server) requestsSeen() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *server) setAhead(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = d
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, received{r.Method, r.RequestURI, r.Header.Clone(), string(body), time.Now()})
	now := time.Now().Add(s.ahead)
	var scripted http.HandlerFunc
	if len(s.script) > 0 {
		scripted, s.script = s.script[0], s.script[1:]
	}
	number := len(s.requests)
	s.mu.Unlock()

	v5 := strings.HasPrefix(r.URL.Path, "/api/v5/")
	w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	if v5 {
		w.Header().Set("X-Gateway-Request-ID", fmt.Sprintf("req_%d", number))
	} else {
		w.Header().Set("X-Request-ID", fmt.Sprintf("req_%d", number))
	}
	switch {
	case scripted != nil:
		scripted(w, r)
	case v5:
		s.serveGateway(w, r, now, body)
	case r.Header.Get("timestamp") != "":
		s.serveMeetings(w, r, now, body)
	default:
		serveLegacy(w, r, body)
	}
}

func (s *server) serveGateway(w http.ResponseWriter, r *http.Request, now time.Time, body []byte) {
	if r.URL.Path == "/api/v5/openapi.json" {
		fmt.Fprint(w, `{"openapi":"3.1.0","info":{"title":"Parley API, version 5","version":"5"},"paths":{}}`)
		return
	}
	h := r.Header
	timestamp := h.Get("timestamp")
	fresh := sign.CheckTimestamp(timestamp, now, s.skew).Freshness == sign.Fresh
	signed := sign.VerifyV5(gatewaySecret, r.Method, r.RequestURI, timestamp, "", body, h.Get("hash-signature"))
	if h.Get("api-key") != apiKey || !fresh || !signed {
		errorResponseV5(401, "SVC_UNAUTHORIZED", "the API key, signature or timestamp was not accepted")(w, r)
		return
	}
	w.Header().Set("X-Gateway-Requests-Used", "17")
	switch r.URL.Path {
	case "/api/v5/keys":
		fmt.Fprint(w, keysAnswer)
	case "/api/v5/usage":
		fmt.Fprint(w, usageAnswer)
	case "/api/v5/limits":
		fmt.Fprint(w, limitsAnswer)
	case "/api/v5/requests":
		s.serveRequests(w, r.URL.Query())
	}
}

// serveRequests pages through calls. A cursor is the index of the first call
// with a prefix that needs escaping in a query.
func (s *server) serveRequests(w http.ResponseWriter, query url.Values) {
	limit, from := 50, 0
	fmt.Sscanf(query.Get("limit"), "%d", &limit)
	fmt.Sscanf(query.Get("cursor"), "a/b+c=&%d", &from)
	data := map[string]any{"availability": "available", "items": s.calls[from:min(from+limit, len(s.calls))]}
	if from+limit < len(s.calls) {
		data["next_cursor"] = fmt.Sprintf("a/b+c=&%d", from+limit)
	}
	json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func serveLegacy(w http.ResponseWriter, r *http.Request, body []byte) {
	var in struct {
		ProjectID    string `json:"project_id"`
		Status       string `json:"status"`
		ClientRoomID string `json:"client_room_id"`
	}
	if r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(body, &in) != nil {
		errorResponse(400, "the body must be JSON")(w, r)
		return
	}
	event := strings.HasPrefix(r.URL.Path, "/api/v4/webhook/")
	signature := r.Header.Get("hash-signature")
	signed := sign.VerifyLegacy(projectSecret, body, signature) || !event && sign.VerifyLegacy(apiKey, body, signature)
	if !signed || !event && in.ProjectID+r.URL.Query().Get("project_id") != projectID {
		errorResponse(401, "invalid signature")(w, r)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /api/v4/rooms/create_quick_audio_room", "POST /api/v4/rooms/create_quick_video_room":
		fmt.Fprintf(w, `{"status":true,"final_link":"https://meet.example.org/r/%s#t=1","room_id":%q}`, roomID, roomID)
	case "POST /api/v3/rooms/create_schedule_video_room":
		fmt.Fprint(w, scheduledV3("video"))
	case "POST /api/v3/rooms/create_schedule_audio_room":
		fmt.Fprint(w, scheduledV3("audio"))
	case "POST /api/v4/rooms/create_schedule_video_room", "POST /api/v4/rooms/create_schedule_audio_room":
		w.Header().Set("X-Feature-Adjusted", "room_duration, breakout_room_features.allowed_number_rooms")
		w.Header().Set("X-Ignored-Fields", "metadata.logout_url")
		fmt.Fprintf(w, `{"status":true,"message":"the room is scheduled","room_type":"video","start_time":"2027-01-31T09:30:00+01:00",
			"room_id":%q,"client_room_id":%q,"final_link":"https://meet.example.org/r/%s#t=1"}`, roomID, in.ClientRoomID, roomID)
	case "PUT /api/v4/projects/update_project_status":
		fmt.Fprintf(w, `{"message":"the project is now %s","status":%q}`, in.Status, in.Status)
	case "POST /api/v4/webhook/get_room_events/" + roomID:
		fmt.Fprint(w, `{"joined":true}`)
	default:
		errorResponse(404, "there is no such room")(w, r)
	}
}

func scheduledV3(kind string) string {
	return fmt.Sprintf(
		`{"status":true,"message":"the room is scheduled","room_type":%q,"start_time":"2027-01-31T09:30:00+01:00","room_id":%q}`, kind, roomID)
}

// errorResponse responds with an error as versions 3 and 4 do, with headers in
// pairs.
func errorResponse(status int, sentence string, header ...string) http.HandlerFunc {
	body, err := json.Marshal(map[string]string{"error": sentence})
	if err != nil {
		panic(err)
	}
	return reply(status, string(body), header...)
}

// errorResponseV5 responds with an error as version 5 does.
func errorResponseV5(status int, code, sentence string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := w.Header().Get("X-Gateway-Request-ID")
		body := fmt.Sprintf(`{"error":{"code":%q,"message":%q,"request_id":%q}}`, code, sentence, id)
		reply(status, body, header...)(w, r)
	}
}

func reply(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for pair := range slices.Chunk(header, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// dropConnection closes the connection instead of responding.
func dropConnection(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

const keysAnswer = `{"data":{
	"current":{"id":"k2","api_key":"pk_0000T…0000","status":"active","signing_profile":"SVC-HMAC-V5-1","created_at":"2026-11-20T10:00:00.000Z","last_used_at":null},
	"overlap":{"id":"k1","api_key":"pk_9999T…9999","status":"retiring","retiring_since":"2026-11-20T10:00:00.000Z","overlap_ends_at":"2026-11-21T10:00:00.000Z","last_used_at":"2026-11-20T11:00:00.250Z","requests_since_rotation":3}}}`

const usageAnswer = `{"data":{"organization_id":"o1","billing_model":"payg",
	"period":{"start":"2026-11-01T00:00:00.000Z","end":"2026-12-01T00:00:00.000Z"},"as_of":"2026-11-21T10:00:00.000Z",
	"totals":{"participant_minutes":90.25,"audio_participant_minutes":30,"video_participant_minutes":60.25,"rooms_created":4,"sessions":3,"peak_concurrent_participants":7},
	"plan":{"availability":"available","name":"default","included_minutes":{"availability":"unavailable"},"used_minutes":{"availability":"available","value":90.25}},
	"pay_as_you_go":{"availability":"available","currency":"EUR","unit":"participant_minute","unit_price":"0.0042","amount_due":"0.37905"}}}`

const limitsAnswer = `{"data":{"availability":"available","entitlements":[
	{"key":"max_participants","value":1000,"unit":"participants","scope":"room","source":"plan:default","availability":"available"}]}}`

// start serves s on 127.0.0.1 and returns a client of it.
func start(t testing.TB, s *server, credentials client.Credentials, options client.Options) *client.Client {
	t.Helper()
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	return connect(t, listening.URL, credentials, options)
}

func connect(t testing.TB, baseURL string, credentials client.Credentials, options client.Options) *client.Client {
	t.Helper()
	c, err := client.New(baseURL, credentials, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newSynctestClient serves s over pipes in a bubble of testing/synctest, in
// which time passes instantly.
func newSynctestClient(t *testing.T, s http.Handler, options client.Options) *client.Client {
	t.Helper()
	options.HTTPClient = &http.Client{Transport: serveOnPipes(t, s)}
	return connect(t, "http://parley.test", credentials, options)
}

func serveOnPipes(t *testing.T, s http.Handler) http.RoundTripper {
	t.Helper()
	pipes := &pipeListener{connections: make(chan net.Conn), closed: make(chan struct{})}
	serving := &http.Server{Handler: s}
	go serving.Serve(pipes)
	transport := &http.Transport{DialContext: pipes.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		serving.Close()
	})
	return transport
}

type pipeListener struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.connections <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.connections:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }
