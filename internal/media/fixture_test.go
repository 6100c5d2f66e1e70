package media_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/media"
	"parley/internal/media/mediatest"
	"parley/internal/metrics"
	"parley/internal/refusal"
	"parley/internal/room"
	"parley/internal/testkit"
)

const testSecret = "a-signing-secret-of-forty-characters-now"

var allGrants = room.Grants{Microphone: true, Camera: true, ScreenShare: true, Chat: true}

// fixture is an engine with an HTTP server, an observer and an authorizer.
type fixture struct {
	*observer
	authorizer fakeAuthorizer
	engine     *media.Engine
	log        *testkit.Buffer
	url        string
	cfg        media.Config
}

// newConfig returns a configuration for loopback.
func newConfig(udpPort int, log *slog.Logger) media.Config {
	return media.Config{
		SigningKey:    "parley",
		SigningSecret: testSecret,
		NodeIP:        "127.0.0.1",
		UDPPort:       udpPort,
		Log:           log,
		Refusals:      refusal.NewRecorder(nil, log, time.Now),
		Metrics:       metrics.NewMedia(nil),
	}
}

// newFixture starts an engine on loopback and stops it with the test.
func newFixture(t *testing.T, change ...func(*media.Config)) *fixture {
	t.Helper()
	f := &fixture{observer: &observer{}, log: &testkit.Buffer{}}
	cfg := newConfig(testkit.FreeUDPPort(t), slog.New(slog.NewJSONHandler(f.log, nil)))
	for _, apply := range change {
		apply(&cfg)
	}
	f.cfg = cfg
	engine, err := media.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.engine = engine
	f.observer.onJoined = engine.Admit
	t.Cleanup(func() { engine.Stop(context.Background()) })
	if err := engine.Start(t.Context(), f.observer, &f.authorizer); err != nil {
		t.Fatal(err)
	}
	f.url = serveSignaling(t, engine)
	return f
}

func serveSignaling(t *testing.T, engine *media.Engine) string {
	t.Helper()
	mux := http.NewServeMux()
	for _, path := range media.SignalingPaths() {
		mux.Handle(path, engine.Handler())
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func (f *fixture) openSession(t *testing.T, name string, kind room.Type) {
	t.Helper()
	if err := f.engine.Open(t.Context(), room.MediaSession{Name: name, Type: kind, MaxParticipants: 20}); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) accessToken(t *testing.T, session, identity string, kind room.Type) string {
	t.Helper()
	return f.accessTokenFor(t, session, identity, room.Authorization{Type: kind, Grants: allGrants})
}

// accessTokenFor returns an access token whose holder has the given authorization.
func (f *fixture) accessTokenFor(t *testing.T, session, identity string, a room.Authorization) string {
	t.Helper()
	f.authorizer.grant(session, identity, a)
	token, err := f.engine.AccessToken(room.AccessTokenSpec{Session: session, Identity: identity, TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// getStatus requests a path of the signaling with a token and returns the status.
func (f *fixture) getStatus(t *testing.T, path, token string) int {
	t.Helper()
	res, err := http.Get(f.url + path + "?access_token=" + url.QueryEscape(token))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// join joins an open session with a new access token.
func (f *fixture) join(t *testing.T, session, identity string, kind room.Type) *mediatest.Participant {
	t.Helper()
	return joinWithToken(t, f.url, f.accessToken(t, session, identity, kind))
}

// joinWithToken joins with a token. The connection is aborted at the end of the test.
func joinWithToken(t *testing.T, base, token string) *mediatest.Participant {
	t.Helper()
	p, err := mediatest.Join(t.Context(), base, token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Abort)
	return p
}

// refusedStatus expects that the server refuses to join with a token, and returns the
// status of the response.
func refusedStatus(t *testing.T, base, token string) int {
	t.Helper()
	p, err := mediatest.Join(t.Context(), base, token)
	if err == nil {
		p.Abort()
		t.Fatal("joined, want a refusal")
	}
	var refusal *mediatest.RefusedError
	if !errors.As(err, &refusal) {
		t.Fatalf("join: got error %v, want a refusal by the server", err)
	}
	return refusal.Status
}

func publish(t *testing.T, p *mediatest.Participant, name string, source mediatest.Source) {
	t.Helper()
	if err := p.Publish(t.Context(), name, source); err != nil {
		t.Fatal(err)
	}
}

// publishMislabeled announces a track as one kind and sends another.
func publishMislabeled(t *testing.T, p *mediatest.Participant, name string, source mediatest.Source, announced,
	real mediatest.TrackType) {
	t.Helper()
	if err := p.PublishMislabeled(t.Context(), name, source, announced, real); err != nil {
		t.Fatal(err)
	}
}

// awaitPackets waits until more packets arrive from another participant's tracks of a source.
func awaitPackets(t *testing.T, p *mediatest.Participant, identity string, source mediatest.Source) {
	t.Helper()
	if err := p.AwaitPacketsFrom(t.Context(), identity, source); err != nil {
		t.Fatal(err)
	}
}

func awaitEnd(t *testing.T, p *mediatest.Participant, reason string) mediatest.End {
	t.Helper()
	end, err := p.AwaitEnd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if end.Reason != reason {
		t.Fatalf("disconnected with reason %s, want %s", end.Reason, reason)
	}
	return end
}

// freshToken waits for the fresh token that the server sends during a session.
func freshToken(t *testing.T, p *mediatest.Participant) string {
	t.Helper()
	testkit.Eventually(t, "a fresh token", func() bool { return p.Token() != "" })
	return p.Token()
}

func (f *fixture) participants(t *testing.T, session string) []room.Participant {
	t.Helper()
	list, err := f.engine.Participants(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// observerCall is one call to the observer.
type observerCall struct {
	session, identity, sid string
	reason                 room.LeaveReason // empty: joined
}

type observer struct {
	onJoined func(connection string) // called as soon as a connection is reported; may be nil

	mu    sync.Mutex
	calls []observerCall
}

func (o *observer) ParticipantJoined(session, identity, sid string, at time.Time) {
	o.record(observerCall{session, identity, sid, ""}, at)
	if o.onJoined != nil {
		o.onJoined(sid)
	}
}

func (o *observer) ParticipantLeft(session, identity, sid string, at time.Time, reason room.LeaveReason) {
	o.record(observerCall{session, identity, sid, reason}, at)
}

// fakeAuthorizer admits every participant that is not denied, and returns an error if one
// is set. A participant without an authorization of its own has all grants.
type fakeAuthorizer struct {
	mu             sync.Mutex
	denied         map[string]bool // session and identity
	authorizations map[string]room.Authorization
	types          map[string]room.Type // by the first part of the session's name
	err            error
}

func (d *fakeAuthorizer) Authorize(_ context.Context, session, identity string) (room.Authorization, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, known := d.authorizations[session+" "+identity]
	if !known {
		prefix, _, _ := strings.Cut(session, ".")
		a = room.Authorization{Type: cmp.Or(d.types[prefix], room.Video), Grants: allGrants}
	}
	a.Admitted = !d.denied[session+" "+identity]
	return a, d.err
}

// grant sets the authorization of a participant.
func (d *fakeAuthorizer) grant(session, identity string, a room.Authorization) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.authorizations == nil {
		d.authorizations = map[string]room.Authorization{}
	}
	a.Name, a.Role = identity+" by name", cmp.Or(a.Role, room.Guest)
	d.authorizations[session+" "+identity] = a
}

// setDenied sets the denied participants, by session and identity, and the error.
func (d *fakeAuthorizer) setDenied(denied map[string]bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.denied, d.err = denied, err
}

func (o *observer) record(s observerCall, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(at).Abs() > time.Minute {
		s.identity += " at a wrong time"
	}
	o.calls = append(o.calls, s)
}

func (o *observer) recorded() []observerCall {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]observerCall(nil), o.calls...)
}

// expectCalls waits for exactly these calls in this order.
func (o *observer) expectCalls(t *testing.T, want ...observerCall) {
	t.Helper()
	testkit.Eventually(t, "the observer is called", func() bool { return len(o.recorded()) >= len(want) })
	got := o.recorded()
	if len(got) != len(want) {
		t.Fatalf("observer calls are %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("observer call %d is %v, want %v", i, got[i], want[i])
		}
	}
}
