package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/audit"
	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/fault"
	"parley/internal/instance"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// engines are the settings of a service on each engine.
var engines = map[string]func(t *testing.T, c *config.Config){
	"sqlite": func(*testing.T, *config.Config) {},
	"postgres": func(t *testing.T, c *config.Config) {
		c.DatabaseURL = seal.Secret(storetest.Postgres(t))
	},
}

// requestBackup calls the management API and returns the response's status and body.
func (s *server) requestBackup() (int, []byte) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.app.BaseURL()+"/api/manage/backups", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.AdminToken)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, body
}

// backup makes a backup of the running server and returns its file.
func (s *server) backup() string {
	s.t.Helper()
	status, body := s.requestBackup()
	if status != http.StatusOK {
		s.t.Fatalf("make a backup: got %d %s, want 200", status, body)
	}
	file := filepath.Join(s.t.TempDir(), "backup.tar")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// copyKey puts the master key of one data directory into another.
func copyKey(t *testing.T, from, to string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(from, "master.key"))
	if err == nil {
		err = errors.Join(os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, "master.key"), key, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *server) hasRoom(id string) bool {
	s.t.Helper()
	_, err := s.app.db.Room(s.t.Context(), id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		s.t.Fatal(err)
	}
	return err == nil
}

func TestBackup_RoundTrip(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, func(c *config.Config) { engine(t, c) })
			before, _ := s.createRoom(5, 300)
			file := s.backup()
			after, _ := s.createRoom(5, 300)
			if left, err := filepath.Glob(filepath.Join(s.cfg.DataDir, ".backup-*")); err != nil || len(left) > 0 {
				t.Errorf("got %v after the backup, %v, want no copies", left, err)
			}
			if err := s.stop(); err != nil {
				t.Fatal(err)
			}
			m, err := backup.Check(file)
			if err != nil || m.Engine != name || m.Rows["rooms"] != 1 || m.Rows["api_keys"] != 1 {
				t.Fatalf("got the manifest %+v, %v, want %s with one room", m, err, name)
			}
			content := readBackup(t, file, m)
			key, err := os.ReadFile(filepath.Join(s.cfg.DataDir, "master.key"))
			if err != nil {
				t.Fatal(err)
			}
			key = bytes.TrimSpace(key)
			bits, err := base64.StdEncoding.DecodeString(string(key))
			if err != nil {
				t.Fatal(err)
			}
			for what, secret := range map[string][]byte{"the master key": key, "the bytes of the master key": bits,
				"the master key in hexadecimal": []byte(hex.EncodeToString(bits)), "the admin token": []byte(s.AdminToken)} {
				if bytes.Contains(content, secret) {
					t.Errorf("backup file: got %s in it, want it without", what)
				}
			}
			if !bytes.Contains(content, []byte(before)) {
				t.Errorf("search of the backup file for the room %s: got nothing, want it", before)
			}

			storage := config.Storage{DataDir: filepath.Join(t.TempDir(), "new")}
			if name == backup.Postgres {
				storage.DatabaseURL = seal.Secret(storetest.Postgres(t))
			}
			copyKey(t, s.cfg.DataDir, storage.DataDir)
			restored, err := instance.Restore(t.Context(), storage, file)
			if err != nil || restored.KeyFingerprint != m.KeyFingerprint {
				t.Fatalf("restore: got %+v, error %v, want the key fingerprint %s", restored, err, m.KeyFingerprint)
			}
			if name == backup.Postgres {
				requireStatistics(t, storage.DatabaseURL.Reveal())
			}
			for name, mode := range fileModes(t, storage.DataDir) {
				if mode != 0o600 {
					t.Errorf("mode of %s: got %04o, want 0600", name, mode)
				}
			}
			quickstartFile, err := os.ReadFile(filepath.Join(s.cfg.DataDir, quickstart.FileName))
			if err == nil { // the harness reads it
				err = os.WriteFile(filepath.Join(storage.DataDir, quickstart.FileName), quickstartFile, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			again := startServer(t, func(c *config.Config) {
				c.DataDir, c.DatabaseURL = storage.DataDir, storage.DatabaseURL
			})
			if got, want := [2]bool{again.hasRoom(before), again.hasRoom(after)}, [2]bool{true, false}; got != want {
				t.Errorf("rooms from before and after the backup: got %v, want %v", got, want)
			}
			if id := again.databaseID(); id != m.DatabaseID {
				t.Errorf("got the database %s, want %s", id, m.DatabaseID)
			}
			again.checkAuditEntry(audit.DatabaseRestored, m.DatabaseID, fmt.Sprintf(
				`{"backup_created_at":%q,"key_fingerprint":%q,"schema":%d}`, audit.Timestamp(m.CreatedAt), m.KeyFingerprint,
				m.Schema))
		})
	}
}

// readBackup returns the content of a backup file, followed by the copy of the database: a SQLite file, or the SQL
// commands of a PostgreSQL dump, which is compressed in the backup file.
func readBackup(t *testing.T, file string, m backup.Manifest) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	database := filepath.Join(t.TempDir(), "database")
	if err := backup.Extract(file, database); err != nil {
		t.Fatal(err)
	}
	var copied []byte
	if m.Engine == backup.Postgres {
		copied, err = exec.CommandContext(t.Context(), "pg_restore", "--file=-", database).Output()
	} else {
		copied, err = os.ReadFile(database)
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(content, copied...)
}

// fileModes returns the modes of the files in a directory.
func fileModes(t *testing.T, dir string) map[string]os.FileMode {
	t.Helper()
	modes := map[string]os.FileMode{}
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		modes[e.Name()] = info.Mode().Perm()
	}
	return modes
}

func TestBackup_Concurrent(t *testing.T) {
	s := startServer(t, nil)
	leftover := filepath.Join(s.cfg.DataDir, ".backup-1.tmp")
	assertClean := func(when string) {
		t.Helper()
		if left, err := filepath.Glob(filepath.Join(s.cfg.DataDir, ".backup-*")); err != nil || len(left) > 0 {
			t.Errorf("%s: got %v, %v, want no copies", when, left, err)
		}
	}
	first, err := s.app.backups.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status, body := s.requestBackup(); status != http.StatusConflict ||
		!strings.Contains(string(body), "backup_running") {
		t.Errorf("during another backup: got %d %s, want 409", status, body)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	assertClean("after a backup")
	s.backup()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-journal"} { // of a killed process
		if err := os.WriteFile(leftover+suffix, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	startServer(t, func(c *config.Config) { c.DataDir = s.cfg.DataDir })
	assertClean("after the next start")
}

func TestScheduledBackups_RunningService(t *testing.T) {
	dir := t.TempDir()
	s := startServer(t, func(c *config.Config) {
		c.BackupDir, c.BackupEvery = dir, config.Duration(time.Hour)
	})
	testkit.Eventually(t, "the first backup", func() bool {
		made, _ := filepath.Glob(filepath.Join(dir, "parley-*.tar"))
		return len(made) == 1
	})
	made, _ := filepath.Glob(filepath.Join(dir, "parley-*.tar"))
	if m, err := backup.Check(made[0]); err != nil || m.DatabaseID == "" {
		t.Errorf("got %+v, %v, want a complete backup", m, err)
	}
	testkit.Eventually(t, "its age in the metrics", func() bool {
		_, after, _ := strings.Cut(s.metrics(), "\nparley_backup_age_seconds ")
		age, err := strconv.ParseFloat(strings.SplitN(after, "\n", 2)[0], 64)
		return err == nil && age >= 0 && age < 60
	})
	if !strings.Contains(s.metrics(), "\nparley_backup_failures_total 0") {
		t.Errorf("metrics: got no line parley_backup_failures_total 0, want one in:\n%s", s.metrics())
	}
	if !s.log.HasLine("backup made", "file="+made[0]) {
		t.Errorf("log: got no line \"backup made\" with the file %s, want one in:\n%s", made[0], s.log)
	}
}

// The finding about backups that are overdue has the error of the last attempt, and what to change.
func TestScheduledBackups_FindingHasCause(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var failure error
	s := newScheduledBackups(backup.Schedule{Dir: dir, Every: time.Hour,
		Create: func(context.Context) (*backup.Archive, error) { return nil, failure }},
		time.Now, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	a := &App{cfg: config.Config{BackupDir: dir, BackupEvery: config.Duration(6 * time.Hour)}, scheduled: s}
	a.cfg.DataDir = "/data"
	for _, c := range []struct {
		name               string
		cause              error
		text, action, gone string
	}{
		{"full disk", fmt.Errorf("copy the database: %w", syscall.ENOSPC), "no space left on device.",
			"Free space on the disks of " + dir + " and /data, or enlarge them.", ""},
		{"permission", fs.ErrPermission, "permission denied.", "Let the user of the server write to " + dir + ".", ""},
		{"with a message", &fault.Error{Kind: fault.Unavailable, Message: "not made: no space left on device",
			Err: syscall.ENOSPC}, "6h: not made: no space left on device.",
			"Free space on the disks of " + dir + " and /data, or enlarge them.", ""},
		{"another cause", errors.New("the moon is full"), ": the moon is full.",
			"Remove the cause. To have a backup until then, make one in another place.", ""},
		{"no directory", nil, "no such file or directory.",
			"Mount the disk of " + dir + ", or create the directory for the user of the server.", dir},
	} {
		failure = c.cause
		if c.gone != "" {
			if err := os.RemoveAll(c.gone); err != nil {
				t.Fatal(err)
			}
		}
		s.runDue(t.Context())
		f := a.backupFinding(s.lastError())
		if !s.overdue() || f.ID != "backup_overdue" || !strings.HasSuffix(f.Text, c.text) || f.Action != c.action {
			t.Errorf("%s: got the finding %+v, want backup_overdue that ends with %q, and the action %q", c.name, f, c.text,
				c.action)
		}
	}
}

func TestScheduledBackups_FailureIsVisible(t *testing.T) {
	t.Parallel()
	log, registry := &testkit.Buffer{}, prometheus.NewRegistry()
	now := time.Date(2026, 11, 24, 6, 0, 0, 0, time.UTC)
	var failure error
	s := newScheduledBackups(backup.Schedule{Dir: t.TempDir(), Every: time.Hour,
		Create: func(context.Context) (*backup.Archive, error) { return nil, failure }},
		func() time.Time { return now }, slog.New(slog.NewTextHandler(log, nil)), registry)
	failures := func() float64 {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "parley_backup_failures_total" {
				return f.GetMetric()[0].GetCounter().GetValue()
			}
		}
		t.Fatal("metrics: got no parley_backup_failures_total, want one")
		return 0
	}
	failure = fault.New(fault.Conflict, "backup_running", "another backup is being made")
	for range 3 {
		if wait := s.runDue(t.Context()); wait != backupCheckInterval || failures() != 0 ||
			strings.Count(log.String(), "scheduled backup waits for another backup") != 1 {
			t.Errorf("during a backup of an operator: got wait %s, %v failures, log %q, want wait %s, no failures, "+
				"one line that the backup waits", wait, failures(), log, backupCheckInterval)
		}
	}
	failure = errors.New("the disk is full")
	if wait := s.runDue(t.Context()); wait != backupRetryInterval || failures() != 1 ||
		!log.HasLine("level=ERROR", "backup failed, will retry", "the disk is full") {
		t.Errorf("failed backup: got wait %s, %v failures, log %q, want wait %s, 1 failure, an error line with the reason",
			wait, failures(), log, backupRetryInterval)
	}
	failure = fault.New(fault.Conflict, "backup_running", "another backup is being made")
	if s.runDue(t.Context()); strings.Count(log.String(), "scheduled backup waits for another backup") != 2 {
		t.Errorf("a second series: got the log %q, want a line for each series", log)
	}
	if age := s.age(); age < 1e9 {
		t.Errorf("the age without a backup: got %v, want +Inf", age)
	}
}
