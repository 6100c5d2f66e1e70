package fulldisk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/store/storetest"
	"parley/test/parleytest"
)

// A restore into a data directory without space fails with the remedy and leaves only the master key that was there.
func TestRestore_ToFullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	source, target := t.TempDir(), mountDisk(t, 64)
	s := startServer(t, source)
	if _, err := s.createRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, source, file); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	key, err := os.ReadFile(filepath.Join(source, "master.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(target.dir, "master.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := readFiles(t, target.dir)
	restore := func() (string, error) {
		out, err := parleytest.Command(nil, "restore", file, "--data-dir", target.dir).CombinedOutput()
		return string(out), err
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	// Bytes that are left: for nothing, for a part of the database, and for the database but not for its log.
	for _, space := range []int64{0, info.Size() / 2, info.Size() + 4096} {
		target.fillExcept(space)
		out, err := restore()
		if exitStatus(err) != 1 || !strings.Contains(out, "--data-dir: the disk of "+target.dir+" is full: "+
			"free some space and run the command again") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		requireSameFiles(t, target.dir, before)
		target.free()
	}
	if out, err := restore(); err != nil {
		t.Errorf("after space was freed: got %v %s, want a restore", err, out)
	}
}

// A restore into a PostgreSQL server without space fails with the remedy and leaves neither a table nor a file.
func TestRestore_ToFullDiskOfServer(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	target, source, dataDir := mountDisk(t, 64), t.TempDir(), t.TempDir()
	postgres := storetest.NewPostgresServer(t)
	from, to := postgres.NewDatabase(t), postgres.NewDatabaseIn(t, target.dir)
	s := server{t: t, Server: parleytest.Start(t, parleytest.Options{DataDir: source,
		Args: []string{"--no-supervise"}, Environment: []string{"PARLEY_DATABASE_URL=" + from}})}
	file := filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, source, file); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	restore := func() (string, error) {
		out, err := parleytest.Command([]string{"PARLEY_DATABASE_URL=" + to}, "restore", file, "--data-dir", dataDir,
			"--master-key-file", filepath.Join(source, "master.key")).CombinedOutput()
		return string(out), err
	}
	countTables(t, to) // because PostgreSQL writes files for the first connection to a database
	for _, space := range []int64{0, 1 << 20} {
		target.fillExcept(space)
		out, err := restore()
		if exitStatus(err) != 1 || !strings.Contains(out, "--database-url (PARLEY_DATABASE_URL): the disk of the PostgreSQL "+
			"server is full: free some space on it and run the command again") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		target.free()
		if tables := countTables(t, to); tables != 0 {
			t.Errorf("with %d bytes of space: got %d tables in the target, want none", space, tables)
		}
		requireSameFiles(t, dataDir, map[string]string{})
	}
	if out, err := restore(); err != nil || countTables(t, to) == 0 {
		t.Errorf("after space was freed: got %v, %d tables and %s, want a restore", err, countTables(t, to), out)
	}
}
