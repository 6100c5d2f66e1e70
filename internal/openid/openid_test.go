package openid

import (
	"net/http"
	"net/http/httptest"
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
