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
			"free some space and run the command again") || strings.Count(out, "the disk of ") != 1 {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy once", space, err, out)
		}
		requireSameFiles(t, target.dir, before)
		target.free()
	}
	if out, err := restore(); err != nil {
		t.Errorf("after space was freed: got %v %s, want a restore", err, out)
	}
}

// postgresBackup makes a backup of a server with a PostgreSQL database. It returns the file and the file of the master
// key.
func postgresBackup(t *testing.T, url string) (file, key string) {
	t.Helper()
	source := t.TempDir()
	s := parleytest.Start(t, parleytest.Options{DataDir: source, Args: []string{"--no-supervise"},
		Environment: []string{"PARLEY_DATABASE_URL=" + url}})
	file = filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, source, file); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	return file, filepath.Join(source, "master.key")
}

// restoreInto restores a backup file into a PostgreSQL database.
func restoreInto(url, file, dataDir, key string) (string, error) {
	out, err := parleytest.Command([]string{"PARLEY_DATABASE_URL=" + url}, "restore", file, "--data-dir", dataDir,
		"--master-key-file", key).CombinedOutput()
	return string(out), err
}

// A restore into a PostgreSQL server without space fails with the remedy and leaves neither a table nor a file.
func TestRestore_ToFullDiskOfServer(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	target, dataDir := mountDisk(t, 64), t.TempDir()
	postgres := storetest.NewPostgresServer(t)
	to := postgres.NewDatabaseIn(t, target.dir)
	file, key := postgresBackup(t, postgres.NewDatabase(t))
	requireRestoreAfterFullDisk(t, target, to, file, dataDir, key, 0, 1<<20)
}

// A restore into a PostgreSQL server whose own data directory is full, also for its write-ahead log and for the mark of
// the restore, fails with the remedy and leaves neither a table nor a file.
func TestRestore_ToFullDataDirectoryOfServer(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	target, dataDir := mountDisk(t, 128), t.TempDir()
	to := storetest.NewPostgresServerIn(t, target.dir).NewDatabase(t)
	file, key := postgresBackup(t, storetest.Postgres(t))
	requireRestoreAfterFullDisk(t, target, to, file, dataDir, key, 0, 64<<10, 1<<20)
}

// requireRestoreAfterFullDisk restores into a PostgreSQL database on a disk with some numbers of bytes left, and fails
// unless each attempt fails with the remedy and changes nothing. After that it restores with enough space.
func requireRestoreAfterFullDisk(t *testing.T, target disk, to, file, dataDir, key string, spaces ...int64) {
	t.Helper()
	countTables(t, to) // because PostgreSQL writes files for the first connection to a database
	for _, space := range spaces {
		target.fillExcept(space)
		out, err := restoreInto(to, file, dataDir, key)
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
	if out, err := restoreInto(to, file, dataDir, key); err != nil || countTables(t, to) == 0 {
		t.Errorf("after space was freed: got %v, %d tables and %s, want a restore", err, countTables(t, to), out)
	}
}

// A restore into PostgreSQL from a data directory without space for the copy of the database fails with the remedy and
// leaves neither a table nor a file.
func TestRestore_FullDataDirectory(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	dataDir := mountDisk(t, 16)
	file, key := postgresBackup(t, storetest.Postgres(t))
	to := storetest.Postgres(t)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, space := range []int64{0, info.Size() / 2} { // the second is enough for a part of the copy
		dataDir.fillExcept(space)
		out, err := restoreInto(to, file, dataDir.dir, key)
		if exitStatus(err) != 1 || !strings.Contains(out, "--data-dir: the disk of "+dataDir.dir+" is full: "+
			"free some space and run the command again") || strings.Count(out, "the disk of ") != 1 {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy once", space, err, out)
		}
		dataDir.free()
		if tables := countTables(t, to); tables != 0 {
			t.Errorf("with %d bytes of space: got %d tables in the target, want none", space, tables)
		}
		requireSameFiles(t, dataDir.dir, map[string]string{})
	}
	if out, err := restoreInto(to, file, dataDir.dir, key); err != nil || countTables(t, to) == 0 {
		t.Errorf("after space was freed: got %v, %d tables and %s, want a restore", err, countTables(t, to), out)
	}
}
