package openid

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/fault"
)

// While the provider is down, sign-ins make one request at a time, and one a second.
func TestStart_LimitsRequestsToFailingProvider(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	arrived, proceed := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		arrived <- struct{}{}
		<-proceed
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer server.Close()
	now := time.Unix(1_800_000_000, 0)
	p := New(Config{Issuer: server.URL}, func() time.Time { return now })
	start := func(when string, want int32) {
		t.Helper()
		if _, _, err := p.Start(t.Context()); !fault.Is(err, fault.Unavailable) {
			t.Errorf("start %s: got %v, want Unavailable", when, err)
		}
		if got := requests.Load(); got != want {
			t.Errorf("start %s: got %d requests to the provider, want %d", when, got, want)
		}
	}
	ended := make(chan error)
	go func() {
		_, _, err := p.Start(t.Context())
		ended <- err
	}()
	<-arrived
	start("during another request", 1)
	close(proceed)
	if err := <-ended; !fault.Is(err, fault.Unavailable) {
		t.Errorf("first start: got %v, want Unavailable", err)
	}
	start("after a failure", 1)
	now = now.Add(failureLifetime)
	start("a second later", 2)
}

// A provider that redirects its token endpoint does not get the client secret sent elsewhere.
func TestFinish_RefusesRedirectOfTokenRequest(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"issuer":%[1]q,"authorization_endpoint":%[2]q,"token_endpoint":%[2]q,"jwks_uri":%[2]q}`,
			server.URL, server.URL+"/endpoint")
	}))
	defer server.Close()
	p := New(Config{
		Issuer:       server.URL,
		ClientID:     "parley",
		ClientSecret: "a secret",
		RedirectURL:  func() string { return "https://meet.example.org" },
	}, time.Now)
	_, signIn, err := p.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state, _, _ := signIn.parts()
	_, err = p.Finish(t.Context(), signIn, state, "code")
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(fmt.Sprint(err), "redirects its token endpoint") {
		t.Errorf("got %v, want Unavailable with the cause", err)
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("requests to the other address: got %d, want 0", n)
	}
}
