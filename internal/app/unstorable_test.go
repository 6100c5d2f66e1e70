package app

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/config"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

var (
	describedPath      = regexp.MustCompile(`^  (/\S+):$`)
	describedMethod    = regexp.MustCompile(`^    (get|put|post|patch|delete):$`)
	describedParameter = regexp.MustCompile(`name: (\w+)(?:, |\s+)in: query`)
	pathParameter      = regexp.MustCompile(`{\w+}`)
)

// TestPostgres_UnstorableText sends texts that PostgreSQL refuses, in every path and query: NUL, and
// bytes that are not UTF-8. A client must not be able to cause a response of 5xx with them.
func TestPostgres_UnstorableText(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.DatabaseURL = seal.Secret(storetest.Postgres(t)) })
	send := func(method, target, body string, headers ...string) {
		t.Helper()
		if status := s.send(strings.ToUpper(method), target, body, headers...); status >= 500 {
			t.Errorf("%s %s: got status %d, want one below 500", method, target, status)
		}
	}
	for prefix, file := range map[string]string{
		"/api/join":   "../api/join/openapi.yaml",
		"/api/manage": "../api/manage/openapi.yaml",
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parameters := describedParameter.FindAllStringSubmatch(string(raw), -1)
		path, sent := "", 0
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimRight(line, "\n")
			if m := describedPath.FindStringSubmatch(line); m != nil {
				path = prefix + m[1]
			}
			m := describedMethod.FindStringSubmatch(line)
			if m == nil || path == prefix+"/stream" { // it does not end
				continue
			}
			for _, text := range []string{"%00", "%ff"} {
				if hostile := pathParameter.ReplaceAllString(path, text); hostile != path {
					send(m[1], hostile, `{}`, "Authorization", "Bearer "+s.AdminToken)
					sent++
				}
				for _, p := range parameters {
					if m[1] == "get" {
						send(m[1], pathParameter.ReplaceAllString(path, s.ProjectID)+"?"+p[1]+"="+text, "",
							"Authorization", "Bearer "+s.AdminToken)
					}
				}
			}
		}
		if sent < 10 {
			t.Errorf("%s: got %d operations with a parameter in the path, want at least 10", file, sent)
		}
	}
	body := `{"project_id":"\u0000"}`
	send(http.MethodPost, "/api/v3/rooms/create_quick_audio_room", body, "hash-signature",
		sign.Legacy(s.ProjectSecret, []byte(body)))
	for _, target := range []string{
		"/api/v4/rooms/TEXT/events", "/api/v4/rooms/room_status?room_id=TEXT", "/api/v4/rooms/list_rooms?state=TEXT",
		"/api/v4/rooms/list_rooms?client_room_id=TEXT", "/api/v4/rooms/list_rooms?cursor=TEXT",
		"/api/v4/rooms/get_active_room_info?room_id=TEXT", "/api/v4/analytics/get_analytics?room_id=TEXT",
		"/api/v5/requests?cursor=TEXT", "/api/v5/projects/TEXT",
	} {
		for _, text := range []string{"%00", "%ff"} {
			target, timestamp := strings.Replace(target, "TEXT", text, 1), sign.FormatTimestamp(time.Now())
			send(http.MethodGet, target, "", "api-key", s.APIKey, "timestamp", timestamp, "hash-signature",
				sign.V5(s.GatewaySecret, http.MethodGet, target, timestamp, "", nil))
		}
	}
	// The calls above share a transaction of the request log with later ones.
	testkit.Eventually(t, "the calls are recorded", func() bool {
		return len(s.calls("limit=1&project_id="+s.ProjectID)) == 1
	})
	if log := s.log.String(); strings.Contains(log, "SQLSTATE") {
		t.Errorf("log: got an error of PostgreSQL, want none:\n%.1000s", log[strings.Index(log, "SQLSTATE"):])
	}
}
