package sdk

import (
	"encoding/json"
	"fmt"
	"testing"

	"parley/test/parleytest"
)

// checkRotation replaces both credentials of a project while it makes calls with the old ones, and
// then calls with the new ones. No call fails until the overlaps are over.
func (d *driver) checkRotation(t *testing.T, s service) {
	old := createProject(t, s.dataDir, s.organizationID, "rotation-"+d.language.name)
	type rotation struct {
		rotated credentials
		err     error
	}
	done := make(chan rotation, 1)
	go func() {
		rotated := old
		err := rotateInto(&rotated, "key", "rotate", "--data-dir", s.dataDir, old.ProjectID)
		if err == nil {
			err = rotateInto(&rotated, "project", "rotate-secret", "--data-dir", s.dataDir, old.ProjectID)
		}
		done <- rotation{rotated, err}
	}()
	var rotated credentials
	calls := 0
	for rotated == (credentials{}) {
		d.mustCallWith(t, s, old, calls)
		calls++
		select {
		case result := <-done:
			if result.err != nil {
				t.Fatal(result.err)
			}
			rotated = result.rotated
		default:
		}
	}
	if rotated.APIKey == old.APIKey || rotated.GatewaySecret == old.GatewaySecret ||
		rotated.ProjectSecret == old.ProjectSecret {
		t.Fatalf("got %+v after the rotations of %+v, want other values", rotated, old)
	}
	for _, c := range []credentials{old, rotated, old, rotated} {
		d.mustCallWith(t, s, c, calls)
		calls++
	}
	for _, args := range [][]string{{"key", "revoke-overlap"}, {"project", "revoke-secret-overlap"}} {
		if out, err := parleytest.Command(nil, append(args, "--data-dir", s.dataDir, "--yes", old.ProjectID)...).
			CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	d.mustCallWith(t, s, rotated, calls)
	outcome := d.ask(t, map[string]any{"do": "call", "base_url": s.url, "credentials": old, "options": map[string]any{},
		"operation": "keys", "arguments": map[string]any{}})
	if failure, _ := outcome["error"].(map[string]any); failure["kind"] != "unauthorized" {
		t.Errorf("a call with the old key after its overlap: got %v, want unauthorized", outcome)
	}
}

// mustCallWith makes a call with the key pair and one with the project secret.
func (d *driver) mustCallWith(t *testing.T, s service, c credentials, n int) {
	t.Helper()
	s.project = c
	d.call(t, s, "keys", map[string]any{})
	d.call(t, s, "create_quick_video_room", map[string]any{"name": "Amina", "max_participants": 2, "empty_timeout": 300,
		"metadata": map[string]any{"room_title": "Standup", "welcome_message": ""}, "idempotency_key": fmt.Sprint("rotation-", n)})
}

// rotateInto runs a command that prints new credentials as JSON, and sets them.
func rotateInto(c *credentials, args ...string) error {
	out, err := parleytest.Command(nil, append(args, "--overlap", "1h", "--json")...).Output()
	if err != nil {
		return fmt.Errorf("%v: %w", args, err)
	}
	return json.Unmarshal(out, c)
}
