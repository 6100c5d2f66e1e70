package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/audit"
	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// The service starts on a copy in PostgreSQL and has everything, and the data directory
// refuses a start on the old database.
func TestCopy_ServiceStartsOnIt(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(5, 300)
	url := storetest.Postgres(t)
	if _, err := instance.Copy(t.Context(), s.cfg.Storage, url); err == nil ||
		!strings.Contains(err.Error(), "is already running on "+s.cfg.DataDir+": stop it first") {
		t.Errorf("while the server runs: got %v, want that it must be stopped", err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := instance.Copy(t.Context(), config.Storage{DataDir: t.TempDir()}, url); err == nil ||
		!strings.Contains(err.Error(), "there is no database of Parley in") {
		t.Errorf("an empty data directory: got %v, want that there is no database", err)
	}
	// A directory in the place of the new database.id stands for any failure to write it.
	blocked := filepath.Join(s.cfg.DataDir, "database.id.new")
	unwritten := storetest.Postgres(t)
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := instance.Copy(t.Context(), s.cfg.Storage, unwritten)
	copyID, _ := store.ReadID(t.Context(), unwritten, "")
	if err == nil || copyID == "" || !strings.HasPrefix(err.Error(), "the copy is complete, but "+
		filepath.Join(s.cfg.DataDir, "database.id")+" could not be written: write "+copyID+" into it, or empty the target") {
		t.Errorf("without database.id: got %v, want the remedy with the ID %s", err, copyID)
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	counts, err := instance.Copy(t.Context(), s.cfg.Storage, url)
	if err != nil || counts["rooms"] != 1 || counts["api_keys"] != 1 {
		t.Fatalf("got %v, %v, want one room and one key", counts, err)
	}
	if _, err := instance.OpenStore(t.Context(), s.cfg); err == nil || !strings.Contains(err.Error(), "--data-dir: ") ||
		!strings.Contains(err.Error(), "no --database-url is set") {
		t.Errorf("open the old database: got %v, want that the directory belongs to the copy", err)
	}
	target := config.Storage{DataDir: s.cfg.DataDir, DatabaseURL: seal.Secret(url)}
	if _, err := instance.Copy(t.Context(), target, url); err == nil ||
		!strings.Contains(err.Error(), "--to: the target is the database ") ||
		!strings.Contains(err.Error(), "which is the source or a restored backup of it: create a new empty database") {
		t.Errorf("copy to the source: got %v, want that it is the source", err)
	}
	again := startServer(t, func(c *config.Config) { c.DataDir, c.DatabaseURL = s.cfg.DataDir, seal.Secret(url) })
	if !again.hasRoom(id) {
		t.Errorf("room %s in the copy: got none, want one", id)
	}
	again.createRoom(5, 300) // with the same API key
	again.checkAuditEntry(audit.DatabaseCopied, again.databaseID(), `{"database_id":"`+again.databaseID()+`"}`)
	if _, err := instance.Copy(t.Context(), config.Storage{DataDir: s.cfg.DataDir}, url); err == nil {
		t.Error("second copy while the server runs: got no error, want one")
	}
}
