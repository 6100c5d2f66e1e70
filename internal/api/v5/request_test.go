package v5

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/apitest"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/usage"
)

// flushRequestLog writes the recorded calls to the database.
func (b *fixture) flushRequestLog(t testing.TB) {
	t.Helper()
	b.recorder.ExplainPending()
	must(t, b.recorder.Flush(t.Context()))
}

func TestRequests_ListsCalls(t *testing.T) {
	t.Parallel()
	onDatabases(t, testListRequests)
}

func testListRequests(t *testing.T, url string) {
	b := setupOn(t, url, nil)
	c := apitest.New(t, description, b.handler)
	call := func(route string) *http.Response {
		target := prefix + route
		header := b.signedHeaders("GET", target, nil)
		header.Set("User-Agent", "test/1")
		return c.Do(t, http.MethodGet, target, header, nil)
	}
	for range 5 {
		call("keys")
		b.now = b.now.Add(time.Second)
	}
	must(t, b.projects.Suspend(t.Context(), b.project.ID))
	suspended := call("limits?secret=1")
	must(t, b.projects.Resume(t.Context(), b.project.ID))
	b.flushRequestLog(t)

	page := decodeData[Requests](t, call("requests?limit=2"))
	if page.Availability != AvailabilityAvailable || len(page.Items) != 2 || page.NextCursor == nil {
		t.Fatalf("first page: got %+v, want two items and a cursor", page)
	}
	latest := page.Items[0]
	if latest.RequestId != suspended.Header.Get("X-Gateway-Request-ID") || latest.Status != 403 ||
		*latest.Code != "SVC_GATEWAY_PROJECT_SUSPENDED" ||
		latest.Path != prefix+"limits" || latest.Method != "GET" || latest.AuthResult != Ok || latest.Hint != nil ||
		*latest.ClockSkewSeconds != 0 ||
		*latest.UserAgent != "test/1" || latest.KeySlot != Current {
		t.Errorf("the refused call: got %+v, want 403 because the project is suspended", latest)
	}
	if second := page.Items[1]; second.Status != 200 || second.Code != nil {
		t.Errorf("the call before: got %+v, want 200 without a code", second)
	}
	seen := len(page.Items)
	for page.NextCursor != nil {
		page = decodeData[Requests](t, call("requests?limit=3&cursor="+*page.NextCursor))
		for _, item := range page.Items {
			if seen++; item.Path != prefix+"keys" {
				t.Errorf("got %+v, want the path %skeys", item, prefix)
			}
		}
	}
	if seen != 6 {
		t.Errorf("got %d calls, want 6", seen)
	}

	t.Run("of this project only", func(t *testing.T) {
		_, issued, err := b.keys.CreateProject(t.Context(), project.Draft{OrganizationID: b.organization.ID, Name: "Other"})
		must(t, err)
		b.flushRequestLog(t)
		header := signHeaders(issued.APIKey, issued.GatewaySecret, "GET", prefix+"requests",
			sign.FormatTimestamp(b.now), nil)
		if page := decodeData[Requests](t, c.Do(t, http.MethodGet, prefix+"requests", header,
			nil)); len(page.Items) != 0 || page.NextCursor != nil {
			t.Errorf("another project: got %+v, want no items", page)
		}
	})
	t.Run("not configured", func(t *testing.T) {
		c.WithHandler(b.serve(t, usage.NoProvider{}, Options{Skew: time.Minute}), func() {
			resp := call("requests")
			var body strings.Builder
			must(t, resp.Header.Write(&body))
			if page := decodeData[map[string]any](t, resp); len(page) != 2 || page["availability"] != "unavailable" ||
				len(page["items"].([]any)) != 0 {
				t.Errorf("without a request log: got %v, want unavailable and no items", page)
			}
		})
	})
}

func TestRequests_RetiredKeys(t *testing.T) {
	t.Parallel()
	onDatabases(t, testRetiredKeys)
}

func testRetiredKeys(t *testing.T, url string) {
	b := setupOn(t, url, nil)
	c := apitest.New(t, description, b.handler)
	old, target := b.issued, prefix+"keys"
	call := func(issued key.IssuedCredentials, timestamp string) int {
		return c.Do(t, http.MethodGet, target, signHeaders(issued.APIKey, issued.GatewaySecret, "GET", target,
			timestamp, nil), nil).StatusCode
	}
	rotated, err := b.keys.RotateKey(t.Context(), b.project.ID, key.Rotation{Overlap: time.Hour})
	must(t, err)
	b.issued.APIKey, b.issued.GatewaySecret = rotated.APIKey, rotated.GatewaySecret
	if first, second := call(old, b.timestamp(0)), call(b.issued, b.timestamp(0)); first != 200 || second != 200 {
		t.Errorf("during the overlap: got %d for the old pair and %d for the new one, want 200", first, second)
	}
	b.now = b.now.Add(time.Hour)
	if now, past := call(old, b.timestamp(0)), call(old, b.timestamp(-time.Hour)); now != 401 || past != 401 {
		t.Errorf("the old pair after the overlap: got %d, and %d with an earlier time, want 401", now, past)
	}
	must(t, b.keys.Sweep(t.Context()))
	b.now = b.now.Add(time.Second)
	for range 2 { // found in the database, then in memory
		if got := call(old, b.timestamp(0)); got != 401 {
			t.Errorf("the old pair after the sweep: got %d, want 401", got)
		}
	}
	items := b.listCalls(t, 100)
	if len(items) != 6 {
		t.Fatalf("got %d items, want 6", len(items))
	}
	for i, item := range items {
		want := RequestItem{KeySlot: Retired, AuthResult: RetiredKey}
		switch i {
		case 4:
			want = RequestItem{KeySlot: Current, AuthResult: Ok}
		case 5:
			want = RequestItem{KeySlot: Overlap, AuthResult: Ok}
		}
		if item.KeySlot != want.KeySlot || item.AuthResult != want.AuthResult {
			t.Errorf("item %d: got %+v, want %+v", i, item, want)
		}
	}
	b.now = b.now.Add(8 * 24 * time.Hour)
	must(t, b.keys.Sweep(t.Context()))
	if got, calls := call(old, b.timestamp(0)), len(b.listCalls(t, 100)); got != 401 || calls != 6 {
		t.Errorf("a deleted key: got %d and %d recorded calls, want 401 and 6", got, calls)
	}
}
