package site

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLanding_ShowsHealth(t *testing.T) {
	t.Parallel()
	assets := fstest.MapFS{"docs/landing.html": {Data: []byte("<main><h1>Parley</h1><!-- health --></main>")}}
	for name, tc := range map[string]struct {
		report map[string]string
		want   string
	}{
		"works": {map[string]string{"status": "ok", "database": "ok", "restarts": "2"}, "The service works."},
		"a full disk": {map[string]string{"status": "unavailable", "database": "read_only", "media": "ok", "restarts": "2"},
			"A part of the service does not work (database: read only)."},
		"no Redis": {map[string]string{"status": "ok", "database": "ok", "media": "unavailable", "redis": "unavailable"},
			"A part of the service does not work (media: unavailable, redis: unavailable)."},
		"stops": {map[string]string{"status": "stopping", "database": "ok", "media": "ok"},
			"The service is stopping or does not work completely."},
	} {
		l, err := NewLanding(assets, func(context.Context) map[string]string { return tc.report })
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		l.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		body := w.Body.String()
		if w.Code != 200 || !strings.Contains(body, tc.want) || !strings.Contains(body, "<h1>Parley") {
			t.Errorf("%s: got %d %s, want 200 with %q", name, w.Code, body, tc.want)
		}
		if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, "frame-ancestors 'none'") {
			t.Errorf("%s: got the policy %q, want one that forbids frames", name, got)
		}
	}
}

func TestLanding_NotBuilt(t *testing.T) {
	t.Parallel()
	for name, assets := range map[string]fstest.MapFS{
		"no page": {}, "no place for the health": {"docs/landing.html": {Data: []byte("<main></main>")}},
	} {
		if _, err := NewLanding(assets, nil); err == nil || !strings.Contains(err.Error(), "make build") {
			t.Errorf("%s: got %v, want an error that names make build", name, err)
		}
	}
}
