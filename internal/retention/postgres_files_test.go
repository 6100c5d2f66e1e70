package retention_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/retention"
	"parley/internal/store/storetest"
)

// After an erasure on PostgreSQL, the statements of the guide leave no byte of the name and the ID in
// the files of the server, except its write-ahead log.
func TestErase_FilesOfPostgres(t *testing.T) {
	guide, err := os.ReadFile("../../docs/operating/retention-and-erasure.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sql\n(.*?)```").FindSubmatch(guide)
	if block == nil {
		t.Fatal("the guide has no statements")
	}
	server := storetest.NewPostgresServer(t)
	f := newFixture(t, storetest.Database{URL: server.NewDatabase(t)}, retention.Periods{})
	const userID, name, other = "user-Zebulon-7", "Zebulon Quixote", "Bo Unrelated"
	for i := range 30 {
		f.meeting(f.project.ID, f.now.Add(-time.Duration(i+1)*day), guest{other, "user-8"}, guest{name, userID})
	}
	raw := f.Raw(t)
	exec := func(statement string) {
		t.Helper()
		if _, err := raw.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	tables := func(text string) []string {
		t.Helper()
		return slices.DeleteFunc(server.FilesWith(t, text),
			func(file string) bool { return strings.HasPrefix(file, "pg_wal/") })
	}
	exec("ANALYZE") // keeps samples of columns, as the autovacuum daemon does
	if _, err := f.retention.Erase(t.Context(), retention.Person{ProjectID: f.project.ID, UserID: userID}); err != nil {
		t.Fatal(err)
	}
	exec("CHECKPOINT") // writes the files
	if tables(name) == nil {
		t.Error("got no file with the name after the erasure alone, want some: the guide needs no statements")
	}
	for _, statement := range strings.SplitAfter(string(block[1]), ";\n") {
		if statement != "" {
			exec(statement)
		}
	}
	exec("CHECKPOINT")
	for _, text := range []string{name, userID} {
		if got := tables(text); len(got) > 0 {
			t.Errorf("files with %q: got %v, want none", text, got)
		}
	}
	if tables(other) == nil {
		t.Error("got no file with the name of another person, want some, to prove that the search works")
	}
}
