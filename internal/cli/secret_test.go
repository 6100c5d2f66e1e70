package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/quickstart"
	"parley/internal/testkit"
)

// TestCommands_NoSecretExposed runs every command against a server with debug
// logs, collects each secret that was ever created, and searches for them where
// they must not be: in the output of other commands, in the log, and in the
// files of the data directory.
func TestCommands_NoSecretExposed(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	var log, greeting testkit.Buffer
	stopped := make(chan int, 1)
	go func() {
		stopped <- Main(ctx, []string{"serve", "--no-supervise", "--demo", "--data-dir", dir, "--listen", "127.0.0.1:0",
			"--rtc-udp-port", fmt.Sprint(testkit.FreeUDPPort(t)), "--log-level", "debug"}, nil, &greeting, &log)
	}()
	t.Cleanup(stop)
	q := awaitQuickstart(t, dir)

	secrets := map[string]bool{} // all that were created
	collect := func(v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"project_secret", "api_key", "gateway_secret", "token", "admin_token"} {
			if text, ok := fields[name].(string); ok {
				secrets[text] = true
			}
		}
	}
	collect(q)
	var shown strings.Builder // output of commands that create no secret
	run := func(words ...string) string {
		t.Helper()
		var out, errs strings.Builder
		status := Main(context.Background(), append(words, "--data-dir", dir), nil, &out, &errs)
		if status != 0 {
			t.Fatalf("parley %s: got exit status %d, want 0: %s", strings.Join(words, " "), status, errs.String())
		}
		shown.WriteString(errs.String())
		return out.String()
	}
	shows := func(words ...string) {
		t.Helper()
		shown.WriteString(run(words...))
		shown.WriteString(run(append(words, "--json")...))
	}
	makes := func(words ...string) map[string]any {
		t.Helper()
		var made map[string]any
		if err := json.Unmarshal([]byte(run(append(words, "--json")...)), &made); err != nil {
			t.Fatal(err)
		}
		collect(made)
		return made
	}
	const room = `{"name":"Amina","max_participants":10,"empty_timeout":300,"metadata":{"room_title":"Standup","welcome_message":""}}`
	capitals := strings.ToUpper(q.OrganizationID)   // as some databases print an ID
	const name = "d41d8cd98f00b204e9800998ecf8427e" // no ID, although it is a UUID without dashes
	own := makes("project", "create", "--org", capitals, "--name", name)["project_id"].(string)
	shows("project", "show", name)
	for _, id := range []string{q.ProjectID, own} {
		makes("key", "rotate", id)
		makes("key", "rotate", id, "--force", "--overlap", "1h")
		makes("project", "rotate-secret", id)
		shows("key", "list", id)
		shows("project", "show", id)
		shown.WriteString(run("key", "revoke-overlap", id))
		shown.WriteString(run("project", "revoke-secret-overlap", id, "--json"))
		makes("key", "rotate", id, "--overlap", "0")
		makes("project", "rotate-secret", id, "--overlap", "0")
	}
	token := makes("token", "create", "--name", "other")["token_id"].(string)
	shows("token", "list")
	shows("token", "revoke", token)
	shows("org", "list")
	shows("org", "set", q.OrganizationID, "name=Mine")
	shows("project", "list")
	shows("project", "set", own, "default_empty_timeout=60")
	shows("request", "POST", "/api/v3/rooms/create_quick_audio_room", "--body", room)
	var rooms []map[string]any
	if err := json.Unmarshal([]byte(run("room", "list", "--json")), &rooms); err != nil {
		t.Fatal(err)
	}
	shows("room", "list")
	shows("room", "show", rooms[0]["room_id"].(string))
	shown.WriteString(run("room", "end", rooms[0]["room_id"].(string)))
	shows("project", "suspend", q.ProjectID, "--end-rooms")
	shows("project", "resume", q.ProjectID)
	refused := func(words ...string) {
		t.Helper()
		var out, errs strings.Builder
		if status := Main(context.Background(), append(words, "--data-dir", dir), nil, &out, &errs); status == 0 {
			t.Errorf("parley %s: got exit status 0, want an error", strings.Join(words, " "))
		}
		shown.WriteString(out.String() + errs.String())
	}
	refused("key", "rotate", own, "--overlap", "9d")
	refused("project", "show", q.APIKey) // a secret where an id belongs
	refused("org", "list", "--token", q.AdminToken+"x")
	if now, err := quickstart.Read(dir); err != nil {
		t.Errorf("read the quickstart file: %v", err)
	} else if collect(now); now.APIKey == q.APIKey || !secrets[now.APIKey] {
		t.Errorf("got API key %.8s… in the quickstart file, want the new one", now.APIKey)
	}

	if want := 4 + 3 + 2*8 + 1; len(secrets) != want {
		t.Errorf("collected %d secrets, want %d", len(secrets), want)
	}
	assertAbsent := func(where, text string) {
		for secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s contains the secret %.8s…", where, secret)
			}
		}
	}
	assertAbsent("answers", shown.String())
	assertAbsent("greeting", greeting.String())
	searchFiles := func() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.Type().IsRegular() { // the local socket
				continue
			}
			raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if e.Name() != quickstart.FileName {
				assertAbsent(e.Name(), string(raw))
			}
		}
	}
	searchFiles()
	stop()
	if status := <-stopped; status != 0 {
		t.Errorf("parley serve: got exit status %d, want 0", status)
	}
	searchFiles()
	assertAbsent("log", log.String())
	if !strings.Contains(log.String(), "/api/manage/projects/") {
		t.Error("the log has no lines of the requests, want them")
	}
}

func awaitQuickstart(t *testing.T, dir string) quickstart.File {
	t.Helper()
	q, ok := awaitServing(dir)
	if !ok {
		t.Fatal("the server was not healthy within 20 seconds")
	}
	return q
}
