package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/internal/backup"
)

// A directory of backups of which none was verified for three months is found, and not found after a drill. It is not
// found in the first three months.
func TestCheckDrill(t *testing.T) {
	t.Parallel()
	cfg, run := newConfig(t), check(checkDrill)
	cfg.BackupDir = t.TempDir()
	file := func(name string) string { return filepath.Join(cfg.BackupDir, name) }
	expect := func(when string, want bool) {
		t.Helper()
		all := run.findings(t, cfg)
		found, ok := all["backup_unverified"]
		if ok != want || len(all) > 0 != want || ok && (found.Level != Warning ||
			!strings.HasPrefix(found.Change, "parley backup verify FILE")) {
			t.Errorf("%s: got the findings %v, want backup_unverified: %t", when, all, want)
		}
	}
	setAge := func(name string, days int) {
		t.Helper()
		at := time.Now().AddDate(0, 0, -days)
		if err := os.Chtimes(file(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	expect("without a backup", false)
	writeBackup(t, cfg.BackupDir, time.Now())
	newest := time.Now().UTC().Format("parley-20060102T150405Z.tar")
	if err := backup.RecordVerified(file(newest)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file(".parley-verified")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a drill of a copy, where no server makes backups: got %v, want no file", err)
	}
	if err := os.WriteFile(file(".parley-backup.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	setAge(".parley-backup.lock", 89)
	expect("three months are not over", false)
	setAge(".parley-backup.lock", 91)
	expect("after three months", true)
	if err := backup.RecordVerified(file("another-name.tar")); err != nil {
		t.Fatal(err)
	}
	expect("after a drill of another backup", true)
	if err := backup.RecordVerified(file(newest)); err != nil {
		t.Fatal(err)
	}
	expect("after a drill", false)
	setAge(".parley-verified", 91)
	expect("three months after the drill", true)
	if err := backup.RecordVerified(file(newest)); err != nil {
		t.Fatal(err)
	}
	expect("after another drill", false)
}
