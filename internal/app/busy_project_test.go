package app

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/key"
	"parley/internal/requestlog"
	"parley/internal/testkit"
)

// signedGetAs makes a call of version 5 with a user agent and returns its status.
func (s *server) signedGetAs(apiKey, gatewaySecret, userAgent string, out any) int {
	s.t.Helper()
	const path = "/api/v5/requests"
	r, err := http.NewRequest(http.MethodGet, s.app.BaseURL()+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	now := sign.FormatTimestamp(time.Now())
	r.Header.Set("api-key", apiKey)
	r.Header.Set("timestamp", now)
	r.Header.Set("hash-signature", sign.V5(gatewaySecret, http.MethodGet, path, now, "", nil))
	r.Header.Set("User-Agent", userAgent)
	return s.do(r, out)
}

// TestCalls_BusyProjectKeepsRejections rejects a call and then records more accepted calls than are kept. The
// rejected call is still listed.
func TestCalls_BusyProjectKeepsRejections(t *testing.T) {
	for name, use := range engines {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, func(c *config.Config) { use(t, c) })
			if status := s.signedGetAs(s.APIKey, "gs_wrong", "client/1", nil); status != http.StatusUnauthorized {
				t.Fatalf("a call with a wrong secret: got status %d, want 401", status)
			}
			ofProject := "project_id=" + s.ProjectID + "&version=v5&limit=20"
			var rejected []manage.Call
			listRejected := func() bool {
				rejected = s.calls(ofProject + "&status=rejected")
				return len(rejected) == 1 && rejected[0].Cause == requestlog.CauseBadSignature
			}
			testkit.Eventually(t, "the rejected call is listed", listRejected)
			const batches, perBatch = 12, 10_000
			for range batches {
				for n := range perBatch {
					s.app.callStats.requestLog.Record(requestlog.Call{
						RequestID:  fmt.Sprint(n),
						ProjectID:  s.ProjectID,
						API:        "v5",
						ReceivedAt: time.Now(),
						Method:     http.MethodGet,
						Path:       "/api/v5/keys",
						Status:     http.StatusOK,
						KeySlot:    "current",
					}, nil)
				}
				if err := s.app.callStats.requestLog.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if !listRejected() {
				t.Errorf("rejected calls after %d accepted ones: got %+v, want the one before them", batches*perBatch, rejected)
			}
			before := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
			if old := s.calls(ofProject + "&status=rejected&before=" + before); len(old) != 1 {
				t.Errorf("rejected calls before %s: got %+v, want one", before, old)
			}
			accepted := s.calls(ofProject)
			isRejected := func(c manage.Call) bool { return c.Status != http.StatusOK }
			if len(accepted) != 20 || slices.ContainsFunc(accepted, isRejected) {
				t.Errorf("latest calls: got %+v, want 20 accepted ones", accepted)
			}
			var items struct {
				Data struct {
					Items []struct {
						Status int `json:"status"`
					} `json:"items"`
				} `json:"data"`
			}
			status := s.signedGetAs(s.APIKey, s.GatewaySecret, "client/1", &items)
			if status != http.StatusOK || len(items.Data.Items) == 0 || items.Data.Items[0].Status != http.StatusOK {
				t.Errorf("requests of version 5: got %d, %+v, want 200 and the latest calls", status, items)
			}
		})
	}
}

// TestKeys_RareCaller rotates a key. A caller that used the old key once is listed besides one that uses it all
// the time, and one from before the rotation until it uses the new key.
func TestKeys_RareCaller(t *testing.T) {
	for name, use := range engines {
		t.Run(name, func(t *testing.T) {
			if name != "sqlite" {
				testkit.Slow(t) // the callers are written every five seconds
			}
			s := startServer(t, func(c *config.Config) { use(t, c) })
			call := func(apiKey, secret, userAgent string) {
				t.Helper()
				if status := s.signedGetAs(apiKey, secret, userAgent, nil); status != http.StatusOK {
					t.Fatalf("a call of %s: got status %d, want 200", userAgent, status)
				}
			}
			oldKey, oldSecret := s.APIKey, s.GatewaySecret
			call(oldKey, oldSecret, "nightly/1")
			testkit.Eventually(t, "the caller with the only key is listed", func() bool {
				var list manage.KeyList
				s.getManagement("/projects/"+s.ProjectID+"/keys", &list)
				return len(*list.Keys[0].RecentCallers) == 1
			})
			rotated, err := s.app.keys.RotateKey(t.Context(), s.ProjectID, key.Rotation{Overlap: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			newKey, newSecret := rotated.APIKey.Reveal(), rotated.GatewaySecret.Reveal()
			call(oldKey, oldSecret, "hourly/1")
			for range 1000 { // calls beyond the rate are rejected and count as well
				s.signedGetAs(oldKey, oldSecret, "app/1", nil)
			}
			agents := func(callers *[]manage.KeyCaller) (names []string) {
				for _, c := range *callers {
					if c.Address != "127.0.0.1" || time.Since(c.At.Time) > time.Hour {
						t.Errorf("got the caller %+v, want a recent one with the address 127.0.0.1", c)
					}
					names = append(names, c.UserAgent)
				}
				return names
			}
			await := func(wantNew, wantOld []string) {
				t.Helper()
				var list manage.KeyList
				testkit.Eventually(t, fmt.Sprintf("the callers are %v with the new key and %v with the old one", wantNew, wantOld),
					func() bool {
						s.getManagement("/projects/"+s.ProjectID+"/keys", &list)
						return slices.Equal(agents(list.Keys[0].RecentCallers), wantNew) &&
							slices.Equal(agents(list.Keys[1].RecentCallers), wantOld)
					})
				if by := list.Keys[1].LastUsedBy; by == nil || by.UserAgent != "app/1" {
					t.Errorf("last caller with the old key: got %+v, want app/1", by)
				}
			}
			await(nil, []string{"app/1", "hourly/1", "nightly/1"})
			s.signedGetAs(newKey, newSecret, "nightly/1", nil)
			await([]string{"nightly/1"}, []string{"app/1", "hourly/1"})
		})
	}
}
