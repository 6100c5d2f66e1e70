package retention_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/retention"
	"parley/internal/store/storetest"
)

// After an erasure on PostgreSQL, the first statements of the guide leave no byte of the name and the ID in
// the files of the server, except its write-ahead log, and the next ones leave none in that either. The same is true of
// packed events, which are compressed: their earlier rows are not in the files.
func TestErase_FilesOfPostgres(t *testing.T) {
	guide, err := os.ReadFile("../../docs/operating/retention-and-erasure.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllSubmatch(guide, -1)
	if len(blocks) != 3 {
		t.Fatalf("blocks of statements in the guide: got %d, want 3: for tables, for the log, and a check", len(blocks))
	}
	server := storetest.NewPostgresServer(t)
	f := newFixture(t, storetest.Database{URL: server.NewDatabase(t)}, retention.Periods{})
	const userID, name, other = "user-Zebulon-7", "Zebulon Quixote", "Bo Unrelated"
	raw := f.Raw(t)
	exec := func(statement string) {
		t.Helper()
		if _, err := raw.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	execAll := func(block [][]byte) {
		t.Helper()
		for _, statement := range strings.SplitAfter(string(block[1]), ";\n") {
			if statement != "" {
				exec(statement)
			}
		}
	}
	const logDir = "pg_wal/"
	tables := func(text string) []string {
		t.Helper()
		return slices.DeleteFunc(server.FilesWith(t, text),
			func(file string) bool { return strings.HasPrefix(file, logDir) })
	}
	log := func(text string) []string {
		t.Helper()
		return slices.DeleteFunc(server.FilesWith(t, text),
			func(file string) bool { return !strings.HasPrefix(file, logDir) })
	}
	for i := range 30 {
		f.meeting(f.project.ID, f.now.Add(-time.Duration(i+1)*day), guest{other, "user-8"}, guest{name, userID})
		switch i {
		case 9, 29:
			exec("SELECT pg_switch_wal()")
		case 19:
			storetest.Pack(t, f.db, f.now)
			exec("SELECT pg_switch_wal()")
		}
	}
	packed := slices.Collect(maps.Values(f.readPacks()))
	if len(packed) != 20 {
		t.Fatalf("got packed events of %d rooms, want 20", len(packed))
	}
	erased := []string{name, userID, string(packed[0].events), string(packed[19].events)}
	exec("CHECKPOINT") // reuses old files of the log as later ones, which keep their content until then
	exec("ANALYZE")    // keeps samples of columns, as the autovacuum daemon does
	if _, err := f.retention.Erase(t.Context(), retention.Person{ProjectID: f.project.ID, UserID: userID}); err != nil {
		t.Fatal(err)
	}
	exec("CHECKPOINT") // writes the files
	for _, text := range erased {
		if tables(text) == nil {
			t.Errorf("got no file with %q after the erasure alone, want some: the guide needs no statements", text)
		}
	}
	execAll(blocks[0])
	exec("CHECKPOINT")
	for _, text := range erased {
		if got := tables(text); len(got) > 0 {
			t.Errorf("files with %q: got %v, want none", text, got)
		}
	}
	var current string
	if err := raw.QueryRow("SELECT pg_walfile_name(pg_current_wal_lsn())").Scan(&current); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(log(name), func(file string) bool { return file > logDir+current }) {
		t.Errorf("got the files %v of the log with the name, want some after %s, to prove that the search works", log(name),
			current)
	}
	execAll(blocks[1])
	for _, text := range erased {
		if got := server.FilesWith(t, text); len(got) > 0 {
			t.Errorf("files with %q, also of the log: got %v, want none", text, got)
		}
	}
	var kept int
	if err := raw.QueryRow(string(blocks[2][1])).Scan(&kept); err != nil || kept != 0 {
		t.Errorf("files of the log from before: got %d, %v, want 0", kept, err)
	}
	if tables(other) == nil {
		t.Error("got no file with the name of another person, want some, to prove that the search works")
	}
}
