package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/config"
	"parley/internal/overview"
	"parley/internal/shell"
	"parley/internal/testkit"
)

// webhookServer is a server that sends the webhooks of its project to a receiver with a status that a test changes.
type webhookServer struct {
	*server
	receiver *httptest.Server
	status   atomic.Int32
}

func startWebhookServer(t *testing.T) *webhookServer {
	t.Helper()
	var s webhookServer
	s.status.Store(http.StatusInternalServerError)
	s.receiver = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(s.status.Load()))
	}))
	t.Cleanup(s.receiver.Close)
	s.server = startServer(t, func(c *config.Config) { c.WebhookAllowPrivate = true })
	s.manage(http.MethodPatch, "/projects/"+s.ProjectID, fmt.Sprintf(`{"default_webhook_url":%q}`, s.receiver.URL))
	return &s
}

// manage sends a call of the management API, which must succeed.
func (s *webhookServer) manage(method, path, body string) {
	s.t.Helper()
	if status := s.send(method, "/api/manage"+path, body, "Authorization", "Bearer "+s.AdminToken); status/100 != 2 {
		s.t.Fatalf("%s %s: got status %d, want a success", method, path, status)
	}
}

// sendTest sends a test event to the receiver.
func (s *webhookServer) sendTest() {
	s.t.Helper()
	s.manage(http.MethodPost, "/projects/"+s.ProjectID+"/webhook-test", "")
}

// projectFindings returns the findings of the project as they will be after a time.
func (s *webhookServer) projectFindings(after time.Duration) (found []overview.Finding) {
	s.t.Helper()
	o, err := s.app.newOverview(func() time.Time { return time.Now().Add(after) }).All(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range o.Findings {
		if f.ProjectID == s.ProjectID {
			found = append(found, f)
		}
	}
	return found
}

// A receiver that fails 20 times and for an hour is paused, one that is gone at once, and any by hand. That is a
// finding until the target is resumed, as its command does.
func TestOverview_PausedWebhookTarget(t *testing.T) {
	for name, c := range map[string]struct {
		status, before int  // the failures before the one of this test
		byHand         bool // whether an operator pauses it
		id             string
		level          overview.Level
		says           string
	}{
		"many failures": {http.StatusInternalServerError, 19, false, "webhook_target_paused", overview.Warning,
			" are paused after 20 failures, since "},
		"gone": {http.StatusGone, 0, false, "webhook_target_paused", overview.Warning,
			" are paused after 1 failure, since "},
		"by hand": {http.StatusOK, 0, true, "webhook_target_held", overview.Note, " are paused by hand since "},
	} {
		t.Run(name, func(t *testing.T) {
			s := startWebhookServer(t)
			s.status.Store(int32(c.status))
			for range c.before {
				err := s.app.db.Write(t.Context(), func(ctx context.Context) error {
					_, err := s.app.db.RecordTargetFailure(ctx, s.ProjectID, s.receiver.URL, time.Now().Add(-2*time.Hour))
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			s.sendTest()
			if c.byHand {
				s.manage(http.MethodPost, "/projects/"+s.ProjectID+"/webhook-pause", fmt.Sprintf(`{"url":%q}`, s.receiver.URL))
			}
			var found []overview.Finding
			testkit.Eventually(t, "the finding "+c.id, func() bool {
				found = s.projectFindings(0)
				return len(found) == 1 && found[0].ID == c.id
			})
			want := "parley webhook resume " + s.ProjectID + " " + shell.Quote(s.receiver.URL)
			if f := found[0]; f.Level != c.level || !strings.Contains(f.Text, s.receiver.URL+c.says) ||
				!slices.Equal(f.Commands, []string{want}) {
				t.Errorf("got the finding %+v, want a %s with %q and the command %s", f, c.level, c.says, want)
			}
			s.status.Store(http.StatusOK)
			s.manage(http.MethodPost, "/projects/"+s.ProjectID+"/webhook-resume", fmt.Sprintf(`{"url":%q}`, s.receiver.URL))
			s.sendTest()
			testkit.Eventually(t, "the deliveries arrive, and the finding is gone", func() bool {
				targets, err := s.app.webhooks.Targets(t.Context(), s.ProjectID)
				return err == nil && len(targets) == 0 && len(s.projectFindings(0)) == 0
			})
		})
	}
}

// A receiver with few deliveries is never paused. It is found after an hour of failures, and not any more after it was
// repaired and the command of the finding has sent what waits.
func TestOverview_FailingWebhookTarget(t *testing.T) {
	s := startWebhookServer(t)
	s.sendTest()
	testkit.Eventually(t, "an attempt fails", func() bool {
		targets, err := s.app.webhooks.Targets(t.Context(), s.ProjectID)
		return err == nil && len(targets) == 1
	})
	if got := s.projectFindings(50 * time.Minute); len(got) > 0 {
		t.Errorf("before an hour of failures: got the findings %+v, want none", got)
	}
	got := s.projectFindings(70 * time.Minute)
	want := "parley webhook retry --project " + s.ProjectID + " --target " + shell.Quote(s.receiver.URL)
	if len(got) != 1 || got[0].ID != "webhook_target_failing" || got[0].Level != overview.Warning ||
		len(got[0].Commands) != 1 || got[0].Commands[0] != want {
		t.Fatalf("after an hour of failures: got the findings %+v, want the warning webhook_target_failing with %s", got,
			want)
	}
	if got := s.projectFindings(100 * time.Hour); len(got) > 0 {
		t.Errorf("after the last attempt of the delivery: got the findings %+v, want none", got)
	}
	s.status.Store(http.StatusOK)
	s.manage(http.MethodPost, "/webhook-retries", fmt.Sprintf(`{"project_id":%q,"url":%q}`, s.ProjectID, s.receiver.URL))
	testkit.Eventually(t, "the finding is gone", func() bool { return len(s.projectFindings(70*time.Minute)) == 0 })
}
