package instance

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The local socket is for the user of the server only, and replaces that of a process that was killed.
func TestListenLocal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	killed, err := ListenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	killed.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := killed.Close(); err != nil {
		t.Fatal(err)
	}
	if conn, err := DialLocal(t.Context(), dir); err == nil {
		_ = conn.Close()
		t.Error("without a server: got a connection, want an error")
	}
	l, err := ListenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	info, err := os.Stat(filepath.Join(dir, "parley.sock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got the file %v, %v, want the mode 0600", info, err)
	}
	conn, err := DialLocal(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if accepted, err := l.Accept(); err != nil {
		t.Errorf("got the error %v, want the connection", err)
	} else {
		_ = accepted.Close()
	}
}

// Errors say that they are about the local socket.
func TestListenLocal_Errors(t *testing.T) {
	t.Parallel()
	occupied := t.TempDir()
	if err := os.MkdirAll(filepath.Join(occupied, "parley.sock", "file"), 0o700); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for dir, want := range map[string]string{occupied: "replace the local socket: ", missing: "open the local socket: "} {
		l, err := ListenLocal(dir)
		if err == nil {
			_ = l.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) || errors.Unwrap(err) == nil {
			t.Errorf("%s: got the error %v, want one that begins with %q and has its cause", dir, err, want)
		}
	}
}
