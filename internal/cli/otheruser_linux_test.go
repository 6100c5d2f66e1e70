package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"parley/internal/quickstart"
)

// A command of a user who cannot read the data directory says that it belongs to the user of the server.
func TestCommands_OtherUser(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, quickstart.FileName), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	const otherUID = 65534
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"status"}, "this user cannot read " + dir + "/quickstart.json: run the command as the user of the server"},
		{[]string{"token", "create", "--local", "--name", "x"},
			"--data-dir: this user cannot read " + dir + ": run the command as the user of the server"},
	} {
		var out, errs bytes.Buffer
		status := -1
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // and never unlock it: the thread ends, and its user with it
			if os.Geteuid() != 0 {
				_ = os.Chmod(dir, 0) // nobody but root can then read it
			} else if err := syscall.Setfsuid(otherUID); err != nil {
				t.Error(err)
				return
			}
			status = Main(t.Context(), append(c.args, "--data-dir", dir), nil, &out, &errs)
		}()
		<-done
		if status != exitError || errs.String() != "parley: "+c.want+"\n" {
			t.Errorf("%q: got status %d and %q, want %d and %q", c.args, status, errs.String(), exitError, c.want)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil { // so that it can be deleted
		t.Fatal(err)
	}
}
