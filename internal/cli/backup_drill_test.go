package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/internal/testkit"
)

// A scheduled backup that nobody has verified for long is found, and parley backup verify is enough to end that.
func TestBackupVerify_EndsFinding(t *testing.T) {
	dir, backups := t.TempDir(), t.TempDir()
	settings := []string{"--data-dir", dir, "--listen", "127.0.0.1:0", "--backup-dir", backups, "--backup-every",
		"6h", "--rtc-udp-port", fmt.Sprint(testkit.FreeUDPPort(t))}
	ctx, stop := context.WithCancel(t.Context())
	var status int
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		status = Main(ctx, append([]string{"serve", "--no-supervise"}, settings...), nil, io.Discard, io.Discard)
	}()
	t.Cleanup(func() { stop(); <-ended }) // before the directories are removed
	var made []string
	testkit.Eventually(t, "the server makes a backup", func() bool {
		made, _ = filepath.Glob(filepath.Join(backups, "parley-*.tar"))
		return len(made) == 1
	})
	stop()
	<-ended
	if status != exitOK {
		t.Fatalf("the server: got the status %d, want %d", status, exitOK)
	}
	find := func() (found bool, output string) {
		t.Helper()
		var out bytes.Buffer
		Main(t.Context(), append([]string{"doctor"}, settings...), nil, &out, io.Discard)
		return strings.Contains(out.String(), "WARNING  backup_unverified:"), out.String()
	}
	if found, output := find(); found || !strings.Contains(output, "ok       backup_drill: due 90 days after") {
		t.Errorf("after the first backup: got\n%s\nwant no finding backup_unverified", output)
	}
	long := time.Now().AddDate(0, 0, -100)
	if err := os.Chtimes(filepath.Join(backups, ".parley-backup.lock"), long, long); err != nil {
		t.Fatal(err)
	}
	if found, output := find(); !found || !strings.Contains(output, "change: parley backup verify FILE") {
		t.Fatalf("after 100 days: got\n%s\nwant the warning backup_unverified", output)
	}
	var errs bytes.Buffer
	args := []string{"backup", "verify", "--data-dir", dir, made[0]}
	if status := Main(t.Context(), args, nil, io.Discard, &errs); status != exitOK || errs.Len() > 0 {
		t.Fatalf("parley backup verify: got the status %d and the errors %s, want %d and none", status, errs.String(), exitOK)
	}
	if found, output := find(); found {
		t.Errorf("after parley backup verify: got\n%s\nwant no finding backup_unverified", output)
	}

	// A directory in the place of the file, which the drill cannot replace.
	record := filepath.Join(backups, ".parley-verified")
	if err := errors.Join(os.Remove(record), os.MkdirAll(filepath.Join(record, "file"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if status := Main(t.Context(), args, nil, io.Discard, &errs); status != exitOK ||
		!strings.HasSuffix(errs.String(), "\nChange: as the user of the server, touch "+record+"\n") {
		t.Errorf("a drill that cannot be recorded: got the status %d and the errors %s, want %d and the command", status,
			errs.String(), exitOK)
	}
}
