package app

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/overview"
	"parley/internal/requestlog"
	"parley/internal/seal"
	"parley/internal/testkit"
)

// inOwnProcess runs the calling test in a process of its own and reports whether this is that
// process. Other processes return once it has passed.
func inOwnProcess(t *testing.T) bool {
	t.Helper()
	const variable = "PARLEY_TEST_OWN_PROCESS"
	if os.Getenv(variable) == t.Name() {
		return true
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), variable+"="+t.Name())
	output, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
		t.Fatalf("in its own process: got %v, want a pass; its output:\n%s", err, output)
	}
	return false
}

// fillDisk makes writes beyond a size fail for all files of this process, as on a full disk. Only
// for a test in its own process: go test could not write its files otherwise.
func fillDisk(t *testing.T, size uint64) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ) // would end the process
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk_Health checks that a database that answers but cannot write is reported as
// unhealthy.
func TestFullDisk_Health(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	s := startServer(t, func(c *config.Config) { c.RateLimitsEnabled = false })
	reports := func(status int, database string) bool {
		answer, err := http.Get(s.app.BaseURL() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		var report map[string]string
		err = json.NewDecoder(answer.Body).Decode(&report)
		return err == nil && answer.StatusCode == status && report["database"] == database
	}
	testkit.Eventually(t, "status 200 and database ok", func() bool { return reports(200, "ok") })

	fillDisk(t, 1<<20)
	large := requestlog.Call{ProjectID: s.ProjectID, UserAgent: strings.Repeat("x", 1<<20)}
	n := int64(0)
	testkit.Eventually(t, "status 503 and database read_only", func() bool {
		n++
		_ = s.app.db.InsertCalls(t.Context(), []requestlog.Block{{ProjectID: s.ProjectID, API: "v5",
			Calls: []requestlog.NumberedCall{{N: n, Call: large}}}}) // until a file reaches the limit
		return reports(503, "read_only")
	})
	i := -1
	var found []overview.Finding
	testkit.Eventually(t, "a finding about the database", func() bool {
		found = s.app.healthFindings(t.Context(), time.Now())
		i = slices.IndexFunc(found, func(f overview.Finding) bool { return f.ID == "database_read_only" })
		return i >= 0
	})
	if f := found[i]; !strings.Contains(f.Text, "create rooms: ") || !strings.Contains(f.Action, s.cfg.DataDir) {
		t.Errorf("got the finding %+v, want the cause, and the directory in what to change", f)
	}
}

func TestFullDisk_Backup(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	s := startServer(t, nil)
	fillDisk(t, 1<<16)
	if status, body := s.requestBackup(); status != http.StatusServiceUnavailable ||
		!strings.Contains(string(body), "the backup could not be made: copy the database") {
		t.Errorf("got %d %s, want 503 with the reason", status, body)
	}
	if left, err := filepath.Glob(filepath.Join(s.cfg.DataDir, ".backup-*")); err != nil || len(left) > 0 {
		t.Errorf("after a backup that failed: got %v, %v, want no copies", left, err)
	}
}

// TestFullDisk_Restore checks that a restore that fails while it writes leaves no directory that
// was not there.
func TestFullDisk_Restore(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	s := startServer(t, nil)
	file := s.backup()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	key, err := (&config.Storage{DataDir: s.cfg.DataDir}).LoadMasterKey(false)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	fillDisk(t, 1<<15)
	storage := config.Storage{DataDir: dir, MasterKey: seal.Secret(key.Reveal())}
	if _, err := instance.Restore(t.Context(), storage, file); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("restore on a full disk: got %v, want %v", err, syscall.EFBIG)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("after a restore on a full disk: got %v and %v, want no directory", err, fileModes(t, dir))
	}
}
