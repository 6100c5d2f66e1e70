package app

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley.example/client"
	"parley.example/client/sign"
	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/testkit"
)

// calls lists the calls that the management API returns for a query.
func (s *server) calls(query string) []manage.Call {
	s.t.Helper()
	var out manage.CallList
	s.getManagement("/calls?"+query, &out)
	return out.Calls
}

// getManagement reads from the management API.
func (s *server) getManagement(path string, out any) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.app.BaseURL()+"/api/manage"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.AdminToken)
	if status := s.do(r, out); status != http.StatusOK {
		s.t.Fatalf("GET %s: got status %d, want 200", path, status)
	}
}

// send sends a request with headers, and returns the status.
func (s *server) send(method, target, body string, headers ...string) int {
	s.t.Helper()
	r, err := http.NewRequest(method, s.app.BaseURL()+target, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "test/1")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return s.do(r, nil)
}

// Every call that names a project is recorded with its true cause and the mistake of the
// client, and any other rejected call is counted.
func TestCalls_RecordsEveryAPI(t *testing.T) {
	s := startServer(t, func(cfg *config.Config) { cfg.LegacyCompanionBodySignatures = true })
	const create = "/api/v3/rooms/create_quick_audio_room"
	body := fmt.Sprintf(`{ "project_id":%q,"name":"Amina","max_participants":2,"empty_timeout":0,`+
		`"metadata":{"room_title":"T","welcome_message":""}}`, s.ProjectID)
	signature := func(credential, body string) string { return sign.Legacy(credential, []byte(body)) }
	empty := strings.Replace(body, `"max_participants":2`, `"max_participants":0`, 1)
	compact := strings.Replace(body, "{ ", "{", 1)
	target := "/api/v4/rooms/0192f0c1-2d3e-7a4b-8c5d-6e7f8091a2b3/events"
	timestamped := func(target string, at time.Time) []string {
		timestamp := sign.FormatTimestamp(at)
		return []string{"api-key", s.APIKey, "timestamp", timestamp,
			"hash-signature", sign.V5(s.GatewaySecret, "GET", target, timestamp, "", nil)}
	}
	now := time.Now()
	type call struct{ Version, Route, Cause, Hint, Slot, Signer string }
	var want []call
	for _, tc := range []struct {
		method, target, body string
		headers              []string
		status               int
		want                 call
	}{
		{"POST", create, body, []string{"hash-signature", signature(s.ProjectSecret, body)}, 200,
			call{Version: "v3", Route: create, Slot: "secret"}},
		{"POST", create, body, []string{"hash-signature", signature(s.APIKey, body)}, 200,
			call{Version: "v3", Route: create, Slot: "current"}},
		{"POST", create, body, []string{"api-key", s.APIKey, "hash-signature", signature(s.APIKey, body)}, 200,
			call{Version: "v3", Route: create, Slot: "current"}},
		{"POST", create, body, []string{"api-key", s.APIKey, "hash-signature", signature(s.ProjectSecret, body)}, 200,
			call{Version: "v3", Route: create, Slot: "current", Signer: "secret"}},
		{"POST", create, body, []string{"hash-signature", signature(s.APIKey+"\n", body)}, 401,
			call{"v3", create, requestlog.CauseBadSignature, requestlog.HintSecretNewline, "", ""}},
		{"POST", create, body, []string{"api-key", s.APIKey, "hash-signature", signature(s.APIKey, compact)}, 401,
			call{"v3", create, requestlog.CauseBadSignature, requestlog.HintSpaces, "current", ""}},
		{"POST", create, body, []string{"api-key", "pk_x", "hash-signature", signature(s.APIKey, body)}, 401,
			call{"v3", create, requestlog.CauseUnknownKey, "", "", ""}},
		{"POST", create, empty, []string{"hash-signature", signature(s.APIKey, empty)}, 400,
			call{"v3", create, "invalid_request", "max_participants must be between 1 and 1000, not 0", "current", ""}},
		{"GET", target, "", timestamped(target, now.Add(-time.Hour)), 401,
			call{"v4", "/api/v4/rooms/{room_id}/events", requestlog.CauseStaleTimestamp, "", "current", ""}},
		{"GET", target, "", timestamped(target, now), 404,
			call{"v4", "/api/v4/rooms/{room_id}/events", "room_not_found",
				"there is no such room: rooms and their events are deleted 365 days after the room has ended", "current", ""}},
		{"GET", target, "", []string{"api-key", s.APIKey, "hash-signature", signature(s.ProjectSecret, target)}, 404,
			call{"v4", "/api/v4/rooms/{room_id}/events", "room_not_found",
				"there is no such room: rooms and their events are deleted 365 days after the room has ended", "current", "secret"}},
		{"GET", "/api/v5/keys?x=1", "", timestamped("/api/v5/keys", now), 401,
			call{"v5", "/api/v5/keys", requestlog.CauseBadSignature, requestlog.HintQuery, "current", ""}},
		{"GET", "/api/v5/keys", "", timestamped("/api/v5/keys", now), 200,
			call{Version: "v5", Route: "/api/v5/keys", Slot: "current"}},
	} {
		if got := s.send(tc.method, tc.target, tc.body, tc.headers...); got != tc.status {
			t.Fatalf("%s %s: got status %d, want %d for %+v", tc.method, tc.target, got, tc.status, tc.want)
		}
		want = append(want, tc.want)
	}
	var calls []manage.Call
	testkit.Eventually(t, "all calls are recorded", func() bool {
		calls = s.calls("limit=100&project_id=" + s.ProjectID)
		return len(calls) == len(want)
	})
	byCall := map[call]int{}
	for _, c := range calls {
		signer := ""
		if c.SignerSlot != nil {
			signer = string(*c.SignerSlot)
		}
		byCall[call{c.Version, c.Route, c.Cause, c.Hint, string(c.KeySlot), signer}]++
		if c.ClientAddress != "127.0.0.1" || c.UserAgent != "test/1" || c.RequestId == "" || c.DurationMs <= 0 {
			t.Errorf("got %+v, want the address, the user agent, the request ID and the duration", c)
		}
	}
	wantByCall := map[call]int{}
	for _, c := range want {
		wantByCall[c]++
	}
	if diff := cmp.Diff(wantByCall, byCall); diff != "" {
		t.Errorf("the recorded calls differ (-want +got):\n%s", diff)
	}

	for query, want := range map[string]int{
		"status=401": 5, "status=4xx": 8, "cause=bad_signature": 3, "version=v4": 3, "version=v3&status=200": 4,
		"key_slot=secret": 3, "route=" + url.QueryEscape("/api/v4/rooms/{room_id}/events"): 3,
		"since=" + url.QueryEscape(now.Add(time.Hour).Format(time.RFC3339)): 0,
	} {
		if got := len(s.calls(query + "&project_id=" + s.ProjectID)); got != want {
			t.Errorf("%s: got %d calls, want %d", query, got, want)
		}
	}
	var managed []manage.Call
	testkit.Eventually(t, "a call of the management API is recorded", func() bool {
		managed = s.calls("version=manage")
		return len(managed) > 0
	})
	for _, c := range managed {
		if c.Route != "/api/manage/calls" || c.KeySlot != "token" || c.TokenId == "" {
			t.Errorf("a call of the management API: got %+v, want the route of this list, by a token", c)
		}
	}
	if !s.log.HasLine("path="+create, "status=401", "project_id="+s.ProjectID, "cause=bad_signature", "duration_ms=") {
		t.Error("the access log has no line with the project and the cause of a rejected call")
	}
}

// The hint of a rejected call is the rule that it broke, without the value. Version 5 shows hints for signatures only.
func TestCalls_HintsWithoutValues(t *testing.T) {
	s := startServer(t, nil)
	if got := s.send("POST", "/api/manage/users", `{"email":"ada","role":"owner"}`,
		"Authorization", "Bearer "+s.AdminToken); got != http.StatusBadRequest {
		t.Fatalf("a wrong email address: got status %d, want 400", got)
	}
	const target = "/api/v5/requests?limit=0"
	timestamp := sign.FormatTimestamp(time.Now())
	if got := s.send("GET", target, "", "api-key", s.APIKey, "timestamp", timestamp, "hash-signature",
		sign.V5(s.GatewaySecret, "GET", target, timestamp, "", nil)); got != http.StatusBadRequest {
		t.Fatalf("a wrong limit: got status %d, want 400", got)
	}
	for query, want := range map[string]string{
		"status=400":                           "email must be an email address such as ada@example.org",
		"status=400&project_id=" + s.ProjectID: "limit must be a whole number of at least 1, in digits; more than 100 means 100",
	} {
		var calls []manage.Call
		testkit.Eventually(t, "the call is recorded", func() bool {
			calls = s.calls(query)
			return len(calls) == 1
		})
		if got := calls[0].Hint; got != want {
			t.Errorf("%s: got the hint %q, want %q", query, got, want)
		}
	}
	c := s.client()
	recent, err := c.Requests(t.Context(), client.RequestsQuery{})
	if err != nil || len(recent.Items) != 1 || recent.Items[0].Hint != "" {
		t.Errorf("version 5: got %+v, %v, want one call without a hint", recent, err)
	}
}

// A key that was pasted into an address is not in the access log.
func TestAccessLog_OmitsCredentials(t *testing.T) {
	s := startServer(t, nil)
	res, err := http.Get(s.app.BaseURL() + "/r/gs_0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	testkit.Eventually(t, "the request is logged", func() bool { return s.log.HasLine("path=[secret]", "status=") })
	if strings.Contains(s.log.String(), "0123456789abcdef") {
		t.Errorf("the log has the key:\n%s", s.log)
	}
}

// A stranger cannot fill the log with requests for what does not exist, or for the health report.
func TestAccessLog_LimitsStrangers(t *testing.T) {
	s := startServer(t, nil)
	const flood = 4 * maxStrangerLines
	for _, path := range []string{"/healthz", "/nothing/here"} {
		for range flood {
			res, err := http.Get(s.app.BaseURL() + path)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
		}
	}
	s.tryCreateRoom("wrong", 2) // its line comes after those of the flood
	testkit.Eventually(t, "the last call is logged", func() bool { return s.log.HasLine("status=401") })
	for _, path := range []string{"/healthz", "/nothing/here"} {
		lines := strings.Count(s.log.String(), "path="+path+" ")
		if lines == 0 || lines > 3*maxStrangerLines { // ten seconds may have ended once
			t.Errorf("%s: got %d lines for %d requests, want 1 to %d", path, lines, flood, 3*maxStrangerLines)
		}
	}
}

// A stranger who knows a project cannot fill its log: calls that show no credential are
// counted only, after the first of each minute.
func TestCalls_FloodIsCounted(t *testing.T) {
	s := startServer(t, nil)
	const flood = failedAuthenticationsPerMinute + 50
	for range flood {
		s.tryCreateRoom("wrong", 2)
	}
	counted, recorded := 0, 0
	testkit.Eventually(t, "all calls are recorded or counted", func() bool {
		var out manage.RejectedCallList
		s.getManagement("/rejected-calls", &out)
		counted, recorded = 0, 0
		for _, c := range out.RejectedCalls {
			counted += int(c.Calls)
		}
		for query := "limit=100&project_id=" + s.ProjectID; query != ""; {
			var page manage.CallList
			s.getManagement("/calls?"+query, &page)
			recorded += len(page.Calls)
			query = ""
			if page.NextCursor != nil {
				query = "limit=100&project_id=" + s.ProjectID + "&cursor=" + *page.NextCursor
			}
		}
		return counted+recorded == flood
	})
	if most := 2 * 20; recorded == 0 || recorded > most { // 20 a minute, and a minute may have ended
		t.Errorf("got %d calls recorded and %d counted, want 1 to %d recorded", recorded, counted, most)
	}
}

// A call of an integrator is recorded in the project that it concerns. Another integrator of that
// project does not see it, and learns nothing about further projects.
func TestCalls_OfIntegrator(t *testing.T) {
	s := startServer(t, nil)
	own, err := s.app.projects.Get(t.Context(), s.ProjectID)
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.app.projects.Create(t.Context(), project.Draft{OrganizationID: own.OrganizationID, Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	newToken := func(projects ...string) string {
		_, token, err := s.app.tokens.Create(t.Context(), operator.NewToken{Name: "customer", Role: operator.Integrator,
			ProjectIDs: projects})
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + token.Reveal()
	}
	both, one := newToken(s.ProjectID, other.ID), newToken(s.ProjectID)
	ofOther, ofOwn := "/api/manage/projects/"+other.ID, "/api/manage/projects/"+s.ProjectID
	for _, sent := range []struct {
		token, target string
		status        int
	}{
		{both, ofOwn, 200}, {both, ofOther, 200}, {both, "/api/manage/caller", 200},
		{one, "/api/manage/rooms", 200}, {one, ofOther, 404},
	} {
		if got := s.send("GET", sent.target, "", "Authorization", sent.token); got != sent.status {
			t.Fatalf("GET %s as an integrator: got status %d, want %d", sent.target, got, sent.status)
		}
	}
	paths := func(query string, headers ...string) (paths []string) {
		r, err := http.NewRequest(http.MethodGet, s.app.BaseURL()+"/api/manage/calls?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", append(headers, "Bearer "+s.AdminToken)[0])
		var out manage.CallList
		if status := s.do(r, &out); status != http.StatusOK {
			t.Fatalf("GET /calls?%s: got status %d, want 200", query, status)
		}
		for _, c := range out.Calls {
			if c.Path != "/api/manage/calls" {
				paths = append(paths, c.Path)
			}
		}
		slices.Sort(paths)
		return paths
	}
	for _, log := range []struct {
		query string
		want  []string
	}{
		{"version=manage&project_id=" + s.ProjectID, []string{ofOwn, "/api/manage/rooms"}},
		{"version=manage&project_id=" + other.ID, []string{ofOther}},
		{"version=manage", []string{"/api/manage/caller", ofOther}},
	} {
		slices.Sort(log.want)
		var got []string
		testkit.Eventually(t, "the calls are recorded", func() bool {
			got = paths(log.query)
			return len(got) >= len(log.want)
		})
		if !slices.Equal(got, log.want) {
			t.Errorf("%s: got the calls %v, want %v", log.query, got, log.want)
		}
	}
	for _, query := range []string{"", "version=manage"} {
		if got, want := paths(query, one), []string{"/api/manage/rooms"}; !slices.Equal(got, want) {
			t.Errorf("calls that an integrator of one project sees with %q: got %v, want its own, %v", query, got, want)
		}
	}
}

// A call that names no project is counted by cause and address.
func TestCalls_CountsRejected(t *testing.T) {
	testkit.WithinOne(t, 24*time.Hour, time.Minute)
	s := startServer(t, nil)
	firstDay := time.Now().UTC().Format(time.DateOnly)
	body := `{"project_id":"0192f0c1-2d3e-7a4b-8c5d-6e7f8091a2b3"}`
	for range 3 {
		s.send("POST", "/api/v3/rooms/create_quick_audio_room", body, "hash-signature", sign.Legacy("wrong", []byte(body)))
	}
	s.send("GET", "/api/v5/keys", "", "api-key", "pk_x", "timestamp", "1", "hash-signature", "00")
	s.send("GET", "/api/manage/projects", "", "Authorization", "Bearer wrong")
	type count struct {
		Version, Cause string
		Calls          int64
	}
	var got []count
	testkit.Eventually(t, "three causes are counted", func() bool {
		var out manage.RejectedCallList
		s.getManagement("/rejected-calls", &out)
		got = nil
		for _, c := range out.RejectedCalls {
			got = append(got, count{c.Version, c.Cause, c.Calls})
			if c.Address != "127.0.0.1" || c.Date < firstDay || c.Date > time.Now().UTC().Format(time.DateOnly) {
				t.Errorf("got %+v, want today and the address 127.0.0.1", c)
			}
		}
		return len(got) == 3
	})
	for _, want := range []count{
		{"v3", requestlog.CauseUnknownProject, 3}, {"v5", requestlog.CauseUnknownKey, 1}, {"manage", "unauthorized", 1},
	} {
		found := false
		for _, c := range got {
			found = found || c == want
		}
		if !found {
			t.Errorf("got %+v, want %+v among them", got, want)
		}
	}
	if calls := s.calls("project_id=" + s.ProjectID); len(calls) != 0 {
		t.Errorf("got %d calls of our project, want none: %+v", len(calls), calls)
	}
}
