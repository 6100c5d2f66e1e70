package v5

import (
	"net/http"
	"testing"
	"time"

	"parley/client/sign"
	"parley/internal/api/apitest"
	"parley/internal/counter"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// TestGateway_DatabaseDown stops the server below us, and holds it still:
// connections stay open then and nothing answers, which is the slowest way to
// be gone.
func TestGateway_DatabaseDown(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]struct {
		from, to func(*storetest.PostgresServer, testing.TB)
	}{
		"stopped": {(*storetest.PostgresServer).Stop, (*storetest.PostgresServer).Start},
		"frozen":  {(*storetest.PostgresServer).Freeze, (*storetest.PostgresServer).Thaw},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := storetest.NewPostgresServer(t)
			testOutage(t, cluster, func() { outage.from(cluster, t) }, func() { outage.to(cluster, t) })
		})
	}
}

func testOutage(t *testing.T, cluster *storetest.PostgresServer, from, to func()) {
	b := setupOn(t, cluster.NewDatabase(t), nil)
	_, unseen, err := b.keys.CreateProject(t.Context(), b.organization.ID, "Not asked for yet")
	must(t, err)
	c := apitest.New(t, Description(), b.handler)
	ask := func(route string, apiKey, secret seal.Secret) *http.Response {
		t.Helper()
		began := time.Now()
		answer := c.Do(t, http.MethodGet, prefix+route, signHeaders(apiKey, secret, "GET", prefix+route, sign.FormatTimestamp(b.now), nil), nil)
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s took %v", route, took)
		}
		return answer
	}
	call := func(route string) *http.Response {
		t.Helper()
		return ask(route, b.issued.APIKey, b.issued.GatewaySecret)
	}
	unavailable := func(answer *http.Response, what string) {
		t.Helper()
		if code, _ := decodeError(t, answer); answer.StatusCode != 503 || code != "SVC_GATEWAY_UNAVAILABLE" || answer.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", what, answer.StatusCode, code)
		}
	}
	call("keys")
	from()

	decodeData[Keys](t, call("keys"))
	if answer := call("limits"); answer.Header.Get("X-Gateway-Requests-Used") != "3" {
		t.Errorf("used: %q", answer.Header.Get("X-Gateway-Requests-Used"))
	}
	unavailable(call("requests"), "requests")
	unavailable(call("usage"), "usage")
	unavailable(ask("keys", unseen.APIKey, unseen.GatewaySecret), "a key that is not in memory")
	if answer := ask("keys", seal.NewAPIKey(), unseen.GatewaySecret); answer.StatusCode != 401 {
		t.Errorf("a key that is ruled out: %d", answer.StatusCode)
	}
	// A counter that cannot say the count so far.
	b.counter = counter.New(b.db, func() time.Time { return b.now })
	c.WithHandler(b.serve(t, usage.NoProvider{}, b.options), func() {
		if answer := call("limits"); answer.StatusCode != 200 || answer.Header.Get("X-Gateway-Requests-Used") != "unavailable" {
			t.Errorf("%d %q", answer.StatusCode, answer.Header.Get("X-Gateway-Requests-Used"))
		}
		unavailable(call("requests"), "requests without a count")
	})

	to()
	b.now = b.now.Add(time.Minute)
	back := func() bool { return ask("keys", unseen.APIKey, unseen.GatewaySecret).StatusCode == 200 }
	for deadline := time.Now().Add(10 * time.Second); !back(); {
		if time.Now().After(deadline) {
			t.Fatal("it never came back")
		}
	}
	decodeData[Requests](t, call("requests"))
	decodeData[Usage](t, call("usage"))
}
