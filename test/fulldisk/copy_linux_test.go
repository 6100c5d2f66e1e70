package fulldisk

import (
	"strings"
	"testing"
	"time"

	"parley/internal/db"
	"parley/internal/quickstart"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/test/parleytest"
)

// stoppedServer makes an empty directory the data directory of a server that was stopped and has some meetings.
func stoppedServer(t *testing.T, dir string, meetings int) {
	t.Helper()
	s := startServer(t, dir)
	if _, err := s.createRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	d, err := store.Open(t.Context(), "", dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := quickstart.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Fill(t, d, f.ProjectID, meetings, time.Now().Add(-24*time.Hour), time.Now(), 1)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// runCopy runs parley copy and returns its output.
func runCopy(dataDir, url string) (string, error) {
	out, err := parleytest.Command(nil, "copy", "--data-dir", dataDir, "--to", url).CombinedOutput()
	return string(out), err
}

// countRooms returns the number of rooms in a PostgreSQL database, 0 without the table.
func countRooms(t *testing.T, url string) (n int) {
	t.Helper()
	err := db.QueryPostgres(t.Context(), url, `SELECT count(*) FROM rooms`, func(row db.Row) error { return row.Scan(&n) })
	if err != nil && !db.IsUndefinedTable(err) {
		t.Fatal(err)
	}
	return n
}

// countTables returns the number of tables in a PostgreSQL database.
func countTables(t *testing.T, url string) (n int) {
	t.Helper()
	err := db.QueryPostgres(t.Context(), url, `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`,
		func(row db.Row) error { return row.Scan(&n) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A copy to a PostgreSQL server without space fails with the remedy, leaves no table and changes nothing in the data
// directory. It can be repeated.
func TestCopy_ToFullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	const meetings = 1000
	target, dataDir := mountDisk(t, 64), t.TempDir()
	stoppedServer(t, dataDir, meetings)
	before := readFiles(t, dataDir)
	url := storetest.NewPostgresServer(t).NewDatabaseIn(t, target.dir)
	countRooms(t, url) // because PostgreSQL writes files for the first connection to a database
	// The bytes that are left for the tables and their rows.
	for _, space := range []int64{0, 1 << 20, 5 << 20} {
		target.fillExcept(space)
		out, err := runCopy(dataDir, url)
		if exitStatus(err) != 1 || !strings.Contains(out, "--to: the disk of the PostgreSQL server is full: "+
			"free some space on it and run the command again") || !strings.Contains(out, "No space left on device") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		target.free()
		if tables := countTables(t, url); tables != 0 {
			t.Errorf("with %d bytes of space: got %d tables in the target, want none", space, tables)
		}
		requireSameFiles(t, dataDir, before)
	}
	if out, err := runCopy(dataDir, url); err != nil || countRooms(t, url) != meetings+1 {
		t.Errorf("after space was freed: got %v, %d rooms and %s, want %d", err, countRooms(t, url), out, meetings+1)
	}
}

// A copy from a data directory without space fails with the remedy, leaves no table and changes nothing in the data
// directory. It can be repeated.
func TestCopy_FromFullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	const meetings = 300
	source := mountDisk(t, 32)
	stoppedServer(t, source.dir, meetings)
	before := readFiles(t, source.dir)
	url := storetest.Postgres(t)
	// Bytes that are left: for nothing, and for the files of SQLite but not for the identity of the copy.
	for _, space := range []int64{0, 32 << 10} {
		source.fillExcept(space)
		out, err := runCopy(source.dir, url)
		if exitStatus(err) != 1 || !strings.Contains(out, "--data-dir: the disk of "+source.dir+" is full: "+
			"free some space and run the command again") || strings.Count(out, "the disk of ") != 1 {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy once", space, err, out)
		}
		if tables := countTables(t, url); tables != 0 {
			t.Errorf("with %d bytes of space: got %d tables in the target, want none", space, tables)
		}
		requireSameFiles(t, source.dir, before)
	}
	source.free()
	if out, err := runCopy(source.dir, url); err != nil || countRooms(t, url) != meetings+1 {
		t.Errorf("after space was freed: got %v, %d rooms and %s, want %d", err, countRooms(t, url), out, meetings+1)
	}
}
