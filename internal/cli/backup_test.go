package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/internal/backup"
)

// fullDisk is a writer without space after some bytes.
type fullDisk struct{ left int }

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, syscall.ENOSPC
	}
	return len(b), nil
}

// A full disk of this machine is not reported as a response that is not complete.
func TestBackupCreate_FullDisk(t *testing.T) {
	t.Parallel()
	database, err := os.Create(filepath.Join(t.TempDir(), "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := database.Write(make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	archive, err := backup.NewArchive(t.Context(), backup.Manifest{Engine: backup.SQLite}, database, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = archive.Write(r.Context(), w) // fails when the client gives up
	}))
	defer server.Close()
	c := backupCreate{File: "-"}
	c.URL, c.Token = server.URL, "pt_test"
	for _, left := range []int{0, 50_000} {
		_, _, err := c.receive(t.Context(), &fullDisk{left: left})
		if err == nil || !strings.HasPrefix(err.Error(), "write the backup: no space left on device") {
			t.Errorf("space for %d bytes: got %v, want that the disk is full", left, err)
		}
	}
	interrupted := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer interrupted.Close()
	c.URL = interrupted.URL
	if _, _, err := c.receive(t.Context(), &fullDisk{left: 1 << 20}); err == nil ||
		!strings.Contains(err.Error(), "is not a complete backup") {
		t.Errorf("an interrupted response: got %v, want that it is not complete", err)
	}
}
