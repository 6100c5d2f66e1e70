// Package recovery tests what the commands for backups and copies refuse, with the real program.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/internal/backup"
	"parley/internal/db"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/test/parleytest"
)

func TestMain(m *testing.M) { parleytest.Main(m) }

// readFiles returns the contents of all files below a directory by their paths, without the lock, which names the last
// process.
func readFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "parley.lock" {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// writeFile writes a private file into a new directory and returns its path.
func writeFile(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// cut returns the first two thirds of a file.
func cut(t *testing.T, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw[:len(raw)*2/3]
}

// ofNewerSchema returns a file with a backup that says that a newer program has written it.
func ofNewerSchema(t *testing.T, file string) string {
	t.Helper()
	m, err := backup.Check(file)
	if err != nil {
		t.Fatal(err)
	}
	m.Schema, m.Contraction = 9999, new(int64(9999))
	database := filepath.Join(t.TempDir(), "parley.db")
	if err := backup.Extract(file, database); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(database)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := backup.NewArchive(t.Context(), m, f, func() {})
	if err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(t.TempDir(), "newer.tar")
	err = backup.WriteFile(newer, func(w io.Writer) error { return archive.Write(context.WithoutCancel(t.Context()), w) })
	if err = errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	return newer
}

// copyOf returns a new directory with private copies of the files of another one.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	clone := t.TempDir()
	for path, content := range readFiles(t, dir) {
		if err := os.WriteFile(filepath.Join(clone, filepath.Base(path)), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return clone
}

// databases returns the tables of PostgreSQL databases with their numbers of rows, and which databases the server has.
func databases(t *testing.T, urls ...string) (state []string) {
	t.Helper()
	for i, url := range urls {
		err := db.ReadPostgres(t.Context(), url, func(r *db.Reader) error {
			rows, err := r.CountRows(t.Context())
			if state = append(state, fmt.Sprint(i, rows)); err != nil || i > 0 {
				return err
			}
			return r.Query(t.Context(), `SELECT datname FROM pg_database ORDER BY datname`, nil, func(row db.Row) error {
				var name string
				err := row.Scan(&name)
				state = append(state, name)
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return state
}

// With a wrong key, a truncated file, a newer schema or a target that is not empty, parley restore, backup verify and
// copy exit with status 1, say what is wrong in one line, and change nothing.
func TestCommands_Refusals(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testRefusals(t, "") })
	t.Run("postgres", func(t *testing.T) { testRefusals(t, storetest.Postgres(t)) })
}

// testRefusals tests backups and copies of the PostgreSQL database at url, or of a SQLite database.
func testRefusals(t *testing.T, url string) {
	dataDir := t.TempDir()
	ofSource := []string{"PARLEY_DATABASE_URL=" + url}
	s := parleytest.Start(t, parleytest.Options{
		DataDir: dataDir, Environment: ofSource, Args: []string{"--no-supervise"}})
	file := filepath.Join(t.TempDir(), "b.tar")
	if out, err := parleytest.Command(nil, "backup", file, "--data-dir", dataDir).CombinedOutput(); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	key := filepath.Join(dataDir, "master.key")
	wrongKey := writeFile(t, "wrong.key", []byte(seal.NewKey().Reveal()+"\n"))
	truncated, newer := writeFile(t, "cut.tar", cut(t, file)), ofNewerSchema(t, file)
	empty, filled, cutSource := storetest.Postgres(t), storetest.Postgres(t), t.TempDir()
	storetest.Project(t, storetest.Open(t, filled, ""))
	urls := []string{empty, filled}
	restore := func(args ...string) []string {
		args = append([]string{"restore"}, args...)
		if url != "" {
			args = append(args, "--database-url", empty)
		}
		return args
	}

	const newerSchema = "version 9999 of the schema, written by a newer Parley"
	type refusal struct {
		name string
		args []string
		want string
	}
	cases := []refusal{
		{"restore with a wrong key", restore(file, "--data-dir", "NEW", "--master-key-file", wrongKey),
			"the key in " + wrongKey + " has the fingerprint "},
		{"restore of a truncated file", restore(truncated, "--data-dir", "NEW", "--master-key-file", key),
			truncated + ": the backup is not complete: the file ends too early"},
		{"restore of a newer schema", restore(newer, "--data-dir", "NEW", "--master-key-file", key), newerSchema},
		{"drill with a wrong key", []string{"backup", "verify", file, "--data-dir", dataDir, "--master-key-file", wrongKey},
			"the backup was not verified: the backup needs the master key with the fingerprint "},
		{"drill of a truncated file", []string{"backup", "verify", truncated, "--data-dir", dataDir},
			"the backup does not work: " + truncated + ": the backup is not complete: the file ends too early"},
		{"drill of a newer schema", []string{"backup", "verify", newer, "--data-dir", dataDir}, newerSchema},
		{"copy with a wrong key", []string{"copy", "--data-dir", dataDir, "--to", empty, "--master-key-file", wrongKey},
			"the master key does not fit this database"},
		{"copy to a target that is not empty", []string{"copy", "--data-dir", dataDir, "--to", filled},
			"--to: the target is not empty, its table "},
	}
	if url == "" {
		cutSource = copyOf(t, dataDir)
		database := filepath.Join(cutSource, "parley.db")
		if err := os.WriteFile(database, cut(t, database), 0o600); err != nil {
			t.Fatal(err)
		}
		cases = append(cases,
			refusal{"copy of a truncated database", []string{"copy", "--data-dir", cutSource, "--to", empty},
				"database disk image is malformed"},
			refusal{"restore into a target that is not empty", []string{"restore", file, "--data-dir", dataDir},
				"parley.db exists: restore into another directory"})
	} else {
		urls = append(urls, url)
		cases = append(cases, refusal{"restore into a target that is not empty", []string{"restore", file,
			"--data-dir", "NEW", "--master-key-file", key, "--database-url", filled},
			"--database-url: the database is not empty: restore into a new one"})
	}
	test := func(c refusal) {
		t.Run(c.name, func(t *testing.T) {
			parent, temporary := t.TempDir(), t.TempDir()
			for i := range c.args {
				c.args[i] = strings.Replace(c.args[i], "NEW", filepath.Join(parent, "new"), 1)
			}
			dirs := []string{dataDir, cutSource, parent, temporary}
			var before []map[string]string
			for _, dir := range dirs {
				before = append(before, readFiles(t, dir))
			}
			servers := databases(t, urls...)
			var stderr strings.Builder
			command := parleytest.Command(append([]string{"TMPDIR=" + temporary}, ofSource...), c.args...)
			command.Stderr = &stderr
			err := command.Run()
			exit, _ := errors.AsType[*exec.ExitError](err)
			if exit == nil || exit.ExitCode() != 1 {
				t.Errorf("exit: got %v, want status 1", err)
			}
			said := stderr.String()
			if !strings.HasPrefix(said, "parley: ") || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
				t.Errorf("standard error: got %q, want one line with %q", said, c.want)
			}
			for i, dir := range dirs {
				if after := readFiles(t, dir); !maps.Equal(after, before[i]) {
					t.Errorf("%s: got the files %v, or other contents, want %v as before", dir,
						slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before[i])))
				}
			}
			if after := databases(t, urls...); !slices.Equal(after, servers) {
				t.Errorf("databases: got %v, want %v", after, servers)
			}
		})
	}
	for _, c := range cases {
		test(c)
	}
	verify := parleytest.Command(ofSource, "backup", "verify", file, "--data-dir", dataDir)
	if out, err := verify.CombinedOutput(); err != nil {
		t.Errorf("drill of the backup itself: got %v %s, want none", err, out)
	}
	raw := storetest.Database{URL: url, Dir: dataDir}.Raw(t)
	_, err := raw.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)`)
	if err = errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
	test(refusal{"copy of a newer schema", []string{"copy", "--data-dir", dataDir, "--to", empty}, newerSchema})
	test(refusal{"reseal of a newer schema", []string{"reseal", "--data-dir", dataDir, "--yes"}, newerSchema})

	// A newer program has only extended the schema. After the way back, this one can use its own backups.
	s = parleytest.Start(t, parleytest.Options{
		DataDir: dataDir, Environment: ofSource, Args: []string{"--no-supervise"}})
	extended := filepath.Join(t.TempDir(), "extended.tar")
	for _, args := range [][]string{
		{"backup", extended, "--data-dir", dataDir},
		{"backup", "verify", extended, "--data-dir", dataDir},
		append(restore(extended, "--data-dir", filepath.Join(t.TempDir(), "restored")), "--master-key-file", key),
	} {
		if out, err := parleytest.Command(ofSource, args...).CombinedOutput(); err != nil {
			t.Errorf("%q after the way back: got %v %s, want none", args, err, out)
		}
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v\n%s", err, s.Log)
	}
}
