package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/config"
	"parley/internal/overview"
	"parley/internal/shell"
	"parley/internal/testkit"
)

// A receiver with few deliveries is never paused. It is found after an hour of failures, and not any more after it was
// repaired and the command of the finding has sent what waits.
func TestOverview_FailingWebhookTarget(t *testing.T) {
	var works atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(receiver.Close)
	s := startServer(t, func(c *config.Config) { c.WebhookAllowPrivate = true })
	manage := func(method, path, body string) {
		t.Helper()
		if status := s.send(method, "/api/manage"+path, body, "Authorization", "Bearer "+s.AdminToken); status/100 != 2 {
			t.Fatalf("%s %s: got status %d, want a success", method, path, status)
		}
	}
	found := func(after time.Duration) (of []overview.Finding) {
		t.Helper()
		o, err := s.app.newOverview(func() time.Time { return time.Now().Add(after) }).All(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range o.Findings {
			if f.ProjectID == s.ProjectID {
				of = append(of, f)
			}
		}
		return of
	}
	manage(http.MethodPatch, "/projects/"+s.ProjectID, fmt.Sprintf(`{"default_webhook_url":%q}`, receiver.URL))
	manage(http.MethodPost, "/projects/"+s.ProjectID+"/webhook-test", "")
	testkit.Eventually(t, "an attempt fails", func() bool {
		targets, err := s.app.webhooks.Targets(t.Context(), s.ProjectID)
		return err == nil && len(targets) == 1
	})
	if got := found(50 * time.Minute); len(got) > 0 {
		t.Errorf("before an hour of failures: got the findings %+v, want none", got)
	}
	got := found(70 * time.Minute)
	want := "parley webhook retry --project " + s.ProjectID + " --target " + shell.Quote(receiver.URL)
	if len(got) != 1 || got[0].ID != "webhook_target_failing" || got[0].Level != overview.Warning ||
		len(got[0].Commands) != 1 || got[0].Commands[0] != want {
		t.Fatalf("after an hour of failures: got the findings %+v, want the warning webhook_target_failing with %s", got,
			want)
	}
	if got := found(100 * time.Hour); len(got) > 0 {
		t.Errorf("after the last attempt of the delivery: got the findings %+v, want none", got)
	}
	works.Store(true)
	manage(http.MethodPost, "/webhook-retries", fmt.Sprintf(`{"project_id":%q,"url":%q}`, s.ProjectID, receiver.URL))
	testkit.Eventually(t, "the finding is gone", func() bool { return len(found(70*time.Minute)) == 0 })
}
