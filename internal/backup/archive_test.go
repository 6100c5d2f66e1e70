package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/backup"
)

var madeAt = time.Date(2026, 11, 24, 6, 0, 0, 123e6, time.UTC)

// newArchive returns an archive of a copy with the given content.
func newArchive(t testing.TB, m backup.Manifest, content string) *backup.Archive {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	a, err := backup.NewArchive(t.Context(), m, f, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func archiveBytes(t testing.TB, content string) []byte {
	t.Helper()
	a := newArchive(t, backup.Manifest{
		CreatedAt:      madeAt,
		Engine:         backup.SQLite,
		Schema:         14,
		DatabaseID:     "id",
		KeyFingerprint: "01234567",
		Rows:           map[string]int64{"rooms": 3},
	}, content)
	defer func() { _ = a.Close() }()
	var out bytes.Buffer
	if err := a.Write(t.Context(), &out); err != nil || int64(out.Len()) != a.Size() {
		t.Fatalf("Write: got %v, %d bytes written, want %d", err, out.Len(), a.Size())
	}
	return out.Bytes()
}

// read reads an archive and returns the copy of the database.
func read(archive []byte) (backup.Manifest, string, error) {
	r, err := backup.NewReader(bytes.NewReader(archive))
	if err != nil {
		return backup.Manifest{}, "", err
	}
	var out strings.Builder
	err = r.CopyDatabase(&out)
	return r.Manifest, out.String(), err
}

func TestArchive_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "x", strings.Repeat("content", 1000), strings.Repeat("c", 1024)} {
		m, got, err := read(archiveBytes(t, content))
		if err != nil || got != content {
			t.Errorf("the database of an archive: got %d bytes, error %v, want the %d bytes written and no error",
				len(got), err, len(content))
		}
		if !m.CreatedAt.Equal(madeAt) || m.Engine != backup.SQLite || m.Schema != 14 || m.DatabaseID != "id" ||
			m.KeyFingerprint != "01234567" || m.Rows["rooms"] != 3 || m.Database.Name != "parley.db" {
			t.Errorf("got the manifest %+v, want schema 14, database id, key 01234567 and 3 rooms of %s", m, madeAt)
		}
	}
}

func TestReader_RefusesTruncated(t *testing.T) {
	t.Parallel()
	archive := archiveBytes(t, strings.Repeat("content", 300))
	for size := range archive {
		if _, _, err := read(archive[:size]); err == nil {
			t.Fatalf("read the first %d of %d bytes: got no error", size, len(archive))
		}
	}
	if _, _, err := read(append(archive, 0)); err == nil {
		t.Error("read an archive with a byte after its end: got no error")
	}
}

// The padding after a file has no meaning, so a change of it is not an error.
func TestReader_RefusesChanged(t *testing.T) {
	t.Parallel()
	archive := archiveBytes(t, strings.Repeat("content", 300))
	refused := 0
	for i := range archive {
		changed := bytes.Clone(archive)
		changed[i] ^= 0x11
		m, content, err := read(changed)
		if err != nil {
			refused++
		} else if content != strings.Repeat("content", 300) || !m.CreatedAt.Equal(madeAt) || m.Rows["rooms"] != 3 {
			t.Fatalf("byte %d changed: got %+v, want an error", i, m)
		}
	}
	if content := 3*512 + 300*7; refused < content {
		t.Errorf("refused %d changed bytes, want at least %d", refused, content)
	}
}

func TestReader_RefusesOtherFiles(t *testing.T) {
	t.Parallel()
	archive := archiveBytes(t, "content")
	for name, tc := range map[string]struct {
		file []byte
		want string
	}{
		"a database":  {append([]byte("SQLite format 3\x00"), make([]byte, 4096)...), "the file is not a backup of Parley"},
		"text":        {bytes.Repeat([]byte("text\n"), 500), "the file is not a backup of Parley"},
		"empty":       {nil, "the backup is not complete: the file ends too early"},
		"zeros":       {make([]byte, 2048), "the backup is not complete: the file ends too early"},
		"a newer one": {bytes.Replace(archive, []byte(`"format": 1`), []byte(`"format": 2`), 1), "the backup has format 2, written by a newer Parley (); this one reads up to 1"},
		"cut":         {archive[:600], "the backup is not complete: the file ends too early"},
		"a path as the name": {bytes.ReplaceAll(archive, []byte("parley.db"), []byte("../../x.d")),
			"the file is not a backup of Parley"},
		"the name of another engine": {bytes.Replace(archive, []byte(`"sqlite"`), []byte(`"postgres"`), 1),
			"the file is not a backup of Parley"},
		"an unknown engine": {bytes.Replace(archive, []byte(`"sqlite"`), []byte(`"oracle"`), 1),
			"the file is not a backup of Parley"},
		"changed data": {bytes.Replace(archive, []byte("content"), []byte("CONTENT"), 1), "the backup is damaged: its content does not match its checksums"},
		"other rooms":  {bytes.Replace(archive, []byte(`"rooms": 3`), []byte(`"rooms": 4`), 1), "the backup is damaged: its content does not match its checksums"},
	} {
		if _, _, err := read(tc.file); err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

func TestWriteFile_OnlyComplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "b.tar")
	failure := errors.New("interrupted")
	err := backup.WriteFile(path, func(w io.Writer) error {
		if _, err := w.Write(archiveBytes(t, "content")[:1000]); err != nil {
			return err
		}
		if _, err := backup.Check(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("check while it is written: got %v, want that it does not exist", err)
		}
		return failure
	})
	if left, _ := os.ReadDir(dir); !errors.Is(err, failure) || len(left) != 0 {
		t.Errorf("an interrupted write: got %v and %v, want the error and no files", err, left)
	}
	write := func(w io.Writer) error { _, err := w.Write(archiveBytes(t, "content")); return err }
	if err := backup.WriteFile(path, write); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got the mode %v, %v, want 0600", info.Mode(), err)
	}
	if m, err := backup.Check(path); err != nil || m.DatabaseID != "id" {
		t.Errorf("check: got %+v, %v", m, err)
	}
	if err := backup.WriteFile(path, write); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("write again: got %v, want that the file exists", err)
	}
}

// Of two writers of one name, which write at the same time, one creates the file.
func TestWriteFile_ConcurrentWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "b.tar")
	var writing, done sync.WaitGroup
	writing.Add(2)
	errs := make([]error, 2)
	for i := range errs {
		archive := archiveBytes(t, strings.Repeat(fmt.Sprint(i), 5000))
		done.Go(func() {
			errs[i] = backup.WriteFile(path, func(w io.Writer) error {
				_, err := w.Write(archive[:1000])
				writing.Done()
				writing.Wait()
				_, err2 := w.Write(archive[1000:])
				return errors.Join(err, err2)
			})
		})
	}
	done.Wait()
	loser := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if loser < 0 || errs[1-loser] != nil || !strings.Contains(errs[loser].Error(), "exists already: choose another name") {
		t.Fatalf("got %v, want that the file exists for one of the writers", errs)
	}
	database := filepath.Join(t.TempDir(), "parley.db")
	if err := backup.Extract(path, database); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(database); err != nil || string(got) != strings.Repeat(fmt.Sprint(1-loser), 5000) {
		t.Errorf("got %.10q…, %v, want what the writer without an error wrote", got, err)
	}
	if names := backupNames(t, dir); !slices.Equal(names, []string{"b.tar"}) {
		t.Errorf("got the files %v, want only the backup", names)
	}
}

func TestNewArchive_Canceled(t *testing.T) {
	t.Parallel()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = backup.NewArchive(ctx, backup.Manifest{Engine: backup.SQLite}, f, func() {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestExtract_OnlyComplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, target := filepath.Join(dir, "b.tar"), filepath.Join(dir, "parley.db")
	archive := archiveBytes(t, "content")
	for size, want := range map[int]string{len(archive): "content", len(archive) - 1: ""} {
		if err := os.WriteFile(file, archive[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		err := backup.Extract(file, target)
		got, readErr := os.ReadFile(target)
		if string(got) != want || (want == "") != (err != nil) || (want == "") != os.IsNotExist(readErr) {
			t.Errorf("extract %d of %d bytes: got %q, %v, %v, want %q", size, len(archive), got, err, readErr, want)
		}
		_ = os.Remove(target)
	}
}
