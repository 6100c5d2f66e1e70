package fulldisk

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/internal/db"
	"parley/internal/store/storetest"
	"parley/test/parleytest"
)

// A drill without space for its temporary files fails with the remedy, does not blame the backup, and leaves nothing.
func TestBackupVerify_FullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	temporary, dataDir := mountDisk(t, 64), t.TempDir()
	s := startServer(t, dataDir)
	if _, err := s.createRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, dataDir, file); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	before := readFiles(t, dataDir)
	verify := func() (string, error) {
		out, err := parleytest.Command([]string{"TMPDIR=" + temporary.dir}, "backup", "verify", file,
			"--data-dir", dataDir).CombinedOutput()
		return string(out), err
	}
	size := int64(len(before["parley.db"]))
	// Bytes that are left: for nothing, for a part of the database, and for the database but not for its log.
	for _, space := range []int64{0, size / 2, size + 4096, size + 64<<10} {
		temporary.fillExcept(space)
		out, err := verify()
		if exitStatus(err) != 1 || strings.Contains(out, "the backup does not work") ||
			!strings.Contains(out, "the backup was not verified, because the disk of "+temporary.dir+" is full: "+
				"free some space, or set TMPDIR to a directory on a larger disk") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		if left := readFiles(t, temporary.dir); len(left) > 0 {
			t.Errorf("with %d bytes of space: got the files %v, want none", space, slices.Collect(maps.Keys(left)))
		}
	}
	temporary.free()
	if out, err := verify(); err != nil {
		t.Errorf("after space was freed: got %v %s, want a backup that works", err, out)
	}
	requireSameFiles(t, dataDir, before)
}

// A drill on a PostgreSQL server without space fails with the remedy, does not blame the backup, and leaves nothing.
func TestBackupVerify_FullDiskOfServer(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	target, dataDir := mountDisk(t, 64), t.TempDir()
	postgres := storetest.NewPostgresServer(t)
	inTarget := postgres.NewDatabaseIn(t, target.dir)
	url := postgres.NewDatabase(t)
	s := server{t: t, Server: parleytest.Start(t, parleytest.Options{DataDir: dataDir,
		Args: []string{"--no-supervise"}, Environment: []string{"PARLEY_DATABASE_URL=" + url}})}
	file := filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, dataDir, file); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	exec := func(statement string) {
		t.Helper()
		if err := db.ExecPostgres(context.WithoutCancel(t.Context()), url, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	var tablespace string
	err := db.QueryPostgres(t.Context(), inTarget, `SELECT current_database()`,
		func(row db.Row) error { return row.Scan(&tablespace) })
	if err != nil {
		t.Fatal(err)
	}
	// A drill makes its database from this one, in the same place.
	exec(`ALTER DATABASE template0 SET TABLESPACE ` + tablespace)
	t.Cleanup(func() { exec(`ALTER DATABASE template0 SET TABLESPACE pg_default`) })
	verify := func() (string, error) {
		out, err := parleytest.Command([]string{"PARLEY_DATABASE_URL=" + url}, "backup", "verify", file,
			"--data-dir", dataDir).CombinedOutput()
		return string(out), err
	}
	restored := 0 // attempts that failed in pg_restore
	for space := int64(0); ; space += 512 << 10 {
		target.fillExcept(space)
		out, err := verify()
		target.free()
		if err == nil {
			break
		}
		// With little space, PostgreSQL refuses the connection, because it cannot write a file for it.
		refused := strings.Contains(out, "could not write init file") &&
			strings.Contains(out, "the backup was not verified, because the PostgreSQL server refused or ended a connection: ")
		if exitStatus(err) != 1 || !refused && !strings.Contains(out, "the backup was not verified, because the disk of "+
			"the PostgreSQL server is full: free some space on it") {
			t.Fatalf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		if strings.Contains(out, "pg_restore") {
			restored++
		}
	}
	if restored == 0 {
		t.Error("attempts that failed in pg_restore: got none, want one")
	}
}
