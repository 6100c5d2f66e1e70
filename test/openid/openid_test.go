// Package openid_test signs in to the console with a real OpenID Connect provider. It is a
// module of its own, so that the server does not depend on the provider's library.
package openid_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"parley/internal/api/httpx"
	"parley/internal/api/manage"
	"parley/internal/openid"
	"parley/internal/operator"
	"parley/internal/store"
	"parley/test/openid/provider"
)

// testProvider is an OpenID Connect provider.
type testProvider struct {
	*httptest.Server
	clients map[string]*storage.Client
	handler atomic.Pointer[http.Handler]
	idToken atomic.Pointer[string] // the last one that was issued
	replace atomic.Pointer[string] // an ID token that is sent in the place of the next one
}

func newProvider(t *testing.T) *testProvider {
	t.Helper()
	p := &testProvider{clients: map[string]*storage.Client{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/oauth/token" {
			(*p.handler.Load()).ServeHTTP(w, r)
			return
		}
		recorder := httptest.NewRecorder()
		(*p.handler.Load()).ServeHTTP(recorder, r)
		p.sendTokens(w, recorder)
	}))
	t.Cleanup(p.Close)
	p.rotateKeys()
	return p
}

// rotateKeys restarts the provider with another signing key.
func (p *testProvider) rotateKeys() {
	h := provider.NewHandler(p.URL, p.clients)
	p.handler.Store(&h)
}

func (p *testProvider) sendTokens(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	var tokens map[string]any
	if json.Unmarshal(answer.Body.Bytes(), &tokens) == nil {
		if issued, ok := tokens["id_token"].(string); ok {
			p.idToken.Store(&issued)
			if other := p.replace.Swap(nil); other != nil {
				tokens["id_token"] = *other
			}
			raw, _ := json.Marshal(tokens)
			answer.Body = bytes.NewBuffer(raw)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// server is the part of Parley that people sign in to.
type server struct {
	*httptest.Server
	operators *operator.Service
	now       atomic.Int64 // nanoseconds since the start; the clock of the client moves only here
}

type rooms struct{ manage.Rooms }

func (rooms) NodeID() string { return "node" }

// newServer starts a server that is a client of the provider. It signs in only those who are
// allowed, if there are any.
func newServer(t *testing.T, p *testProvider, clientID string, allowed ...string) *server {
	t.Helper()
	db, err := store.Open(t.Context(), "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &server{}
	start := time.Now()
	now := func() time.Time { return start.Add(time.Duration(s.now.Load())) }
	s.operators = operator.NewService(db, time.Now, func() string { return uuid.Must(uuid.NewV7()).String() })
	services := manage.Services{
		Tokens:  s.operators,
		Console: s.operators,
		Rooms:   rooms{},
		BaseURL: func() string { return s.URL },
		OpenID: openid.New(openid.Config{
			Issuer:       p.URL,
			ClientID:     clientID,
			ClientSecret: provider.ClientSecret,
			Name:         "Example",
			Allowed:      allowed,
			RedirectURL:  func() string { return s.URL + manage.OpenIDCallbackPath },
		}, now),
	}
	mux := http.NewServeMux()
	mux.Handle("/api/manage/", manage.NewHandler(services))
	mux.Handle("/console/openid/", manage.NewOpenIDHandler(services))
	mux.HandleFunc("/console", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "console") })
	mux.HandleFunc("/console/sign-in", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "sign in")
	})
	s.Server = httptest.NewTLSServer(httpx.Middleware(mux, httpx.Options{Log: slog.New(slog.DiscardHandler)}))
	t.Cleanup(s.Close)
	p.clients[clientID] = provider.NewClient(clientID, s.URL+manage.OpenIDCallbackPath)
	return s
}

// browser returns a browser with no cookies.
func (s *server) browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: s.Client().Transport, Jar: jar}
}

var formID = regexp.MustCompile(`name="id" value="([^"]+)"`)

// begin goes to the provider and enters a name and a password there. It returns the URL to
// which the provider sends the browser back.
func (s *server) begin(t *testing.T, p *testProvider, b *http.Client, name string) (back string) {
	t.Helper()
	page, err := b.Get(s.URL + "/console/openid/start")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = page.Body.Close() }()
	body, err := io.ReadAll(page.Body)
	if err != nil {
		t.Fatal(err)
	}
	id := formID.FindSubmatch(body)
	if id == nil || !strings.HasPrefix(page.Request.URL.String(), p.URL) {
		t.Fatalf("start: got %s with %s, want the provider's sign-in page", page.Request.URL, body)
	}
	stop := *b
	stop.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), s.URL) {
			back = r.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}
	answer, err := stop.PostForm(p.URL+"/login/username",
		url.Values{"id": {string(id[1])}, "username": {name}, "password": {provider.Password}})
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if back == "" {
		t.Fatalf("sign in at the provider as %s: got %s, want to be sent back", name, answer.Request.URL)
	}
	return back
}

// finish follows the URL of the provider and returns where the browser ends.
func (s *server) finish(t *testing.T, b *http.Client, back string) string {
	t.Helper()
	answer, err := b.Get(back)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return strings.TrimPrefix(answer.Request.URL.String(), s.URL)
}

func (s *server) signIn(t *testing.T, p *testProvider, name string) (b *http.Client, ended string) {
	t.Helper()
	b = s.browser(t)
	return b, s.finish(t, b, s.begin(t, p, b, name))
}

// caller returns the status of GET /caller and the name in it.
func (s *server) caller(t *testing.T, b *http.Client) (status int, name string) {
	t.Helper()
	answer, err := b.Get(s.URL + "/api/manage/caller")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var c manage.Caller
	if err := json.NewDecoder(answer.Body).Decode(&c); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, c.Name
}

func (s *server) requireSignIn(t *testing.T, p *testProvider, name, want string) *http.Client {
	t.Helper()
	b, ended := s.signIn(t, p, name)
	if ended != want {
		t.Errorf("sign in as %s: got %s, want %s", name, ended, want)
	}
	if status, _ := s.caller(t, b); (status == http.StatusOK) != (want == "/console") {
		t.Errorf("caller after a sign-in as %s that ended at %s: got %d", name, ended, status)
	}
	return b
}

func TestSignIn(t *testing.T) {
	p := newProvider(t)
	s := newServer(t, p, "parley")
	var ids []string
	for _, name := range []string{"ada", "bob"} {
		u, err := s.operators.CreateUser(t.Context(), operator.NewUser{Email: name + "@example.org", Name: name,
			Role: operator.Auditor})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, u.ID)
	}
	ada := s.requireSignIn(t, p, "ada", "/console")
	if status, name := s.caller(t, ada); status != http.StatusOK || name != "ada" {
		t.Errorf("caller: got %d %q, want 200 ada", status, name)
	}
	s.requireSignIn(t, p, "bob", "/console/sign-in?error=email_not_verified")
	s.requireSignIn(t, p, "eve", "/console/sign-in?error=not_a_user")

	p.rotateKeys()
	s.requireSignIn(t, p, "ada", "/console")

	if _, err := s.operators.DeleteUser(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	if status, _ := s.caller(t, ada); status != http.StatusUnauthorized {
		t.Errorf("caller who was deleted: got %d, want 401", status)
	}
	s.requireSignIn(t, p, "ada", "/console/sign-in?error=not_a_user")
}

// TestSignIn_Allowed checks that a user who is not allowed cannot sign in, also if the account is
// connected already.
func TestSignIn_Allowed(t *testing.T) {
	const notAllowed = "/console/sign-in?error=email_not_allowed"
	p := newProvider(t)
	for i, c := range []struct {
		allowed []string
		want    map[string]string
	}{
		{[]string{"eve@example.org"}, map[string]string{"ada": notAllowed, "eve": "/console",
			"bob": "/console/sign-in?error=email_not_verified"}},
		{[]string{"ada@example.com", "@example.org"}, map[string]string{"ada": "/console", "eve": "/console"}},
		{[]string{"@xample.org", "@org"}, map[string]string{"ada": notAllowed}},
	} {
		s := newServer(t, p, fmt.Sprintf("parley%d", i), c.allowed...)
		for name, want := range c.want {
			_, err := s.operators.CreateUser(t.Context(), operator.NewUser{Email: name + "@example.org", Role: operator.Auditor})
			if err != nil {
				t.Fatal(err)
			}
			s.requireSignIn(t, p, name, want)
		}
	}
}

// TestSignIn_InvalidTokens checks that an ID token only signs in the browser for which it was
// issued, in time.
func TestSignIn_InvalidTokens(t *testing.T) {
	p := newProvider(t)
	s, other := newServer(t, p, "parley"), newServer(t, p, "another service")
	for _, service := range []*server{s, other} {
		if _, err := service.operators.CreateUser(t.Context(), operator.NewUser{Email: "ada@example.org",
			Role: operator.Owner}); err != nil {
			t.Fatal(err)
		}
	}
	const failed = "/console/sign-in?error=openid_failed"
	s.requireSignIn(t, p, "ada", "/console")
	p.replace.Store(p.idToken.Load())
	s.requireSignIn(t, p, "ada", failed) // with the nonce of the first sign-in

	other.requireSignIn(t, p, "ada", "/console")
	p.replace.Store(p.idToken.Load())
	s.requireSignIn(t, p, "ada", failed) // with another audience

	stranger := newProvider(t)
	from := newServer(t, stranger, "parley")
	from.signIn(t, stranger, "ada")
	p.replace.Store(stranger.idToken.Load())
	s.requireSignIn(t, p, "ada", failed) // of another issuer

	s.now.Store(int64(48 * time.Hour))
	s.requireSignIn(t, p, "ada", failed) // expired
	s.now.Store(0)

	b := s.browser(t)
	back := s.begin(t, p, b, "ada")
	if ended := s.finish(t, s.browser(t), back); ended != "/console/sign-in?error=openid_expired" {
		t.Errorf("another browser with the link of the provider: got %s, want openid_expired", ended)
	}
	if ended := s.finish(t, b, back); ended != "/console" {
		t.Errorf("the browser itself: got %s, want /console", ended)
	}
	if ended := s.finish(t, b, back); ended != "/console/sign-in?error=openid_expired" {
		t.Errorf("the same link again: got %s, want openid_expired", ended)
	}
	if ended := s.finish(t, b, s.URL+manage.OpenIDCallbackPath+"?error=access_denied"); ended !=
		"/console/sign-in?error=openid_refused" {
		t.Errorf("refused by the provider: got %s, want openid_refused", ended)
	}
}

// TestSignIn_ProviderDown checks that the service works while the provider does not answer, and
// signs people in as soon as it does.
func TestSignIn_ProviderDown(t *testing.T) {
	p := newProvider(t)
	s := newServer(t, p, "parley")
	if _, err := s.operators.CreateUser(t.Context(), operator.NewUser{Email: "ada@example.org",
		Role: operator.Owner}); err != nil {
		t.Fatal(err)
	}
	var down http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
	})
	p.handler.Store(&down)
	requireUnavailable := func(state string) {
		t.Helper()
		ended := s.finish(t, s.browser(t), s.URL+"/console/openid/start")
		if want := "/console/sign-in?error=openid_unavailable"; ended != want {
			t.Errorf("sign-in %s: got %s, want %s", state, ended, want)
		}
	}
	requireUnavailable("without a provider")
	p.rotateKeys()
	requireUnavailable("within a second after the failure")
	s.now.Store(int64(time.Second))
	s.requireSignIn(t, p, "ada", "/console")
}
