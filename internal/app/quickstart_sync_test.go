package app

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/internal/config"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/quickstart"
	"parley/internal/testkit"
)

// TestQuickstart_UpdatedAfterRotation checks that the file is updated after
// rotations, also if the process died between the commit and the write.
func TestQuickstart_UpdatedAfterRotation(t *testing.T) {
	s := startServer(t, nil)
	ctx := t.Context()
	keys := s.app.quickstart.WithRotation()
	path := filepath.Join(s.cfg.DataDir, quickstart.FileName)
	assertFile := func(when string, apiKey, gatewaySecret, projectSecret string) {
		t.Helper()
		q, err := quickstart.Read(s.cfg.DataDir)
		if err != nil || q.APIKey != apiKey || q.GatewaySecret != gatewaySecret || q.ProjectSecret != projectSecret ||
			q.AdminToken != s.AdminToken || q.BaseURL != s.BaseURL {
			t.Errorf("%s: got quickstart file %+v, %v, want the current credentials", when, q, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got mode %v, %v, want 0600", when, info.Mode(), err)
		}
	}
	pair, err := keys.RotateKey(ctx, s.ProjectID, key.Rotation{Overlap: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	assertFile("after the rotation of a key", pair.APIKey.Reveal(), pair.GatewaySecret.Reveal(), s.ProjectSecret)
	secret, err := keys.RotateSecret(ctx, s.ProjectID, key.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	assertFile("after the rotation of a secret", pair.APIKey.Reveal(), pair.GatewaySecret.Reveal(),
		secret.ProjectSecret.Reveal())

	other, _, err := s.app.keys.CreateProject(ctx, project.Draft{OrganizationID: s.OrganizationID, Name: "Other"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.RotateKey(ctx, other.ID, key.Rotation{}); err != nil {
		t.Fatal(err)
	}
	assertFile("after the rotation of another project", pair.APIKey.Reveal(), pair.GatewaySecret.Reveal(),
		secret.ProjectSecret.Reveal())

	t.Run("a file that cannot be written", func(t *testing.T) {
		// A directory stands where the new file would be written first.
		if err := os.Mkdir(path+".new", 0o700); err != nil {
			t.Fatal(err)
		}
		late, err := keys.RotateKey(ctx, s.ProjectID, key.Rotation{Force: true})
		if err != nil {
			t.Fatalf("rotate a key: got error %v, want the new secrets", err)
		}
		if !strings.Contains(s.log.String(), "update quickstart file failed, will retry") {
			t.Errorf("got the log %s, want the failed update", s.log)
		}
		if err := os.Remove(path + ".new"); err != nil {
			t.Fatal(err)
		}
		s.app.quickstart.Update(ctx) // as the next pass of the janitor does
		assertFile("after the next pass", late.APIKey.Reveal(), late.GatewaySecret.Reveal(), secret.ProjectSecret.Reveal())
	})
	t.Run("a process that died in between", func(t *testing.T) {
		last, err := s.app.keys.RotateKey(ctx, s.ProjectID, key.Rotation{Force: true}) // the commit without the file
		if err != nil {
			t.Fatal(err)
		}
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		again := startServer(t, func(c *config.Config) { c.DataDir = s.cfg.DataDir })
		if again.APIKey != last.APIKey.Reveal() || again.GatewaySecret != last.GatewaySecret.Reveal() ||
			again.BaseURL != again.app.BaseURL() {
			t.Errorf("got quickstart file %+v after the start, want the current credentials", again.File)
		}
		if strings.Contains(again.out.String(), "No owner's token was live") || again.AdminToken != s.AdminToken {
			t.Error("the start created a management token, want the one that is live")
		}
	})
}

// TestQuickstart_NewTokenWhenNoneIsLive checks that a start without a live
// management token creates one, with or without a quickstart file.
func TestQuickstart_NewTokenWhenNoneIsLive(t *testing.T) {
	s := startServer(t, nil)
	ctx := t.Context()
	tokens, err := s.app.tokens.List(ctx)
	if err != nil || len(tokens) != 1 {
		t.Fatalf("got tokens %v, %v, want one", tokens, err)
	}
	if _, err := s.app.tokens.Revoke(ctx, tokens[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.app.tokens.Authenticate(ctx, s.AdminToken); !fault.Is(err, fault.Unauthorized) {
		t.Fatalf("authenticate with a revoked token: got error %v, want unauthorized", err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.cfg.DataDir, quickstart.FileName)); err != nil {
		t.Fatal(err)
	}
	again := startServer(t, func(c *config.Config) { c.DataDir = s.cfg.DataDir })
	if !strings.Contains(again.out.String(),
		"No owner's token was live. A new one is in "+filepath.Join(s.cfg.DataDir, quickstart.FileName)) {
		t.Errorf("got the output %s, want the notice of a new token", again.out)
	}
	if _, err := again.app.tokens.Authenticate(ctx, again.AdminToken); err != nil || again.ProjectID != "" {
		t.Errorf("authenticate with the new token: got %v, project %q, want no project", err, again.ProjectID)
	}
}

// TestOperatorChanges_EffectiveImmediately checks that changes by operators
// apply to the next call in spite of caches.
func TestOperatorChanges_EffectiveImmediately(t *testing.T) {
	s := startServer(t, nil)
	ctx := t.Context()
	id, _ := s.createRoom(2, 300) // puts the keyring into the cache
	if err := s.app.projects.Suspend(ctx, s.ProjectID); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, s.app.BaseURL()+"/api/join/rooms/"+id+"/preview",
		strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if status := s.do(r, nil); status != http.StatusForbidden {
		t.Errorf("a preview of a suspended project: got status %d, want 403", status)
	}
	if err := s.app.projects.Resume(ctx, s.ProjectID); err != nil {
		t.Fatal(err)
	}
	name := "Renamed"
	if _, err := s.app.projects.Edit(ctx, s.ProjectID, project.Edit{Name: &name}); err != nil {
		t.Fatal(err)
	}
	old, err := s.app.keys.Keyring(ctx, s.ProjectID)
	if err != nil || old.Project.Name != name {
		t.Fatalf("got keyring %v, %v, want the project name %s", old, err, name)
	}
	if _, err := s.app.keys.RotateKey(ctx, s.ProjectID, key.Rotation{}); err != nil {
		t.Fatal(err)
	}
	keyring, err := s.app.keys.Keyring(ctx, s.ProjectID)
	if err != nil || len(keyring.LiveAPIKeys(time.Now())) != 1 || keyring.LiveAPIKeys(time.Now())[0] == s.APIKey {
		t.Errorf("got live keys %v, %v, want only the new one", keyring.LiveAPIKeys(time.Now()), err)
	}
}

// TestRunJanitor_StopsWithContext checks that the janitor does its work before
// it first waits, and stops with its context.
func TestRunJanitor_StopsWithContext(t *testing.T) {
	s := startServer(t, nil)
	if _, err := s.app.keys.RotateKey(t.Context(), s.ProjectID, key.Rotation{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.app.runJanitor(ctx); close(done) }()
	testkit.Eventually(t, "the file is current", func() bool {
		q, err := quickstart.Read(s.cfg.DataDir)
		return err == nil && q.APIKey != s.APIKey
	})
	cancel()
	select {
	case <-done:
	case <-time.After(testkit.Timeout):
		t.Errorf("janitor %s after the end of its context: got it running, want it stopped", testkit.Timeout)
	}
}
