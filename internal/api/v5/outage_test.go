package v5

import (
	"net/http"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/apitest"
	"parley/internal/counter"
	"parley/internal/project"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/usage"
)

// TestGateway_DatabaseDown stops the PostgreSQL server, and in another case
// freezes it. A frozen server keeps its connections open and does not respond,
// which takes longest to detect.
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
	_, uncached, err := b.keys.CreateProject(t.Context(),
		project.Draft{OrganizationID: b.organization.ID, Name: "Uncached"})
	must(t, err)
	c := apitest.New(t, description, b.handler)
	send := func(route string, apiKey, secret seal.Secret) *http.Response {
		t.Helper()
		resp := c.Do(t, http.MethodGet, prefix+route,
			signHeaders(apiKey, secret, "GET", prefix+route, sign.FormatTimestamp(b.now), nil), nil)
		return resp
	}
	call := func(route string) *http.Response {
		t.Helper()
		return send(route, b.issued.APIKey, b.issued.GatewaySecret)
	}
	unavailable := func(resp *http.Response, what string) {
		t.Helper()
		if code, _ := decodeError(t, resp); resp.StatusCode != 503 || code != "SVC_GATEWAY_UNAVAILABLE" ||
			resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s: got %d %s, Retry-After %q, want 503 SVC_GATEWAY_UNAVAILABLE, some Retry-After", what,
				resp.StatusCode, code, resp.Header.Get("Retry-After"))
		}
	}
	call("keys")
	from()

	decodeData[Keys](t, call("keys"))
	if resp := call("limits"); resp.Header.Get("X-Gateway-Requests-Used") != "3" {
		t.Errorf("X-Gateway-Requests-Used: got %q, want 3", resp.Header.Get("X-Gateway-Requests-Used"))
	}
	unavailable(call("requests"), "requests")
	unavailable(call("usage"), "usage")
	unavailable(send("keys", uncached.APIKey, uncached.GatewaySecret), "a key that is not in memory")
	if resp := send("keys", seal.NewAPIKey(false), uncached.GatewaySecret); resp.StatusCode != 401 {
		t.Errorf("a key that is known not to exist: got %d, want 401", resp.StatusCode)
	}
	// A new counter cannot read the earlier count.
	b.counter = counter.New(b.db, func() time.Time { return b.now })
	c.WithHandler(b.serve(t, usage.NoProvider{}, b.options), func() {
		if resp := call("limits"); resp.StatusCode != 200 ||
			resp.Header.Get("X-Gateway-Requests-Used") != "unavailable" {
			t.Errorf("limits without a database: got %d, requests used %q, want 200 and unavailable",
				resp.StatusCode, resp.Header.Get("X-Gateway-Requests-Used"))
		}
		unavailable(call("requests"), "requests without a count")
	})

	to()
	b.now = b.now.Add(time.Minute)
	recovered := func() bool { return send("keys", uncached.APIKey, uncached.GatewaySecret).StatusCode == 200 }
	testkit.Eventually(t, "the API recovers", recovered)
	decodeData[Requests](t, call("requests"))
	decodeData[Usage](t, call("usage"))
}
