package retention_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"parley/internal/db"
)

// pack is a row of packed_events.
type pack struct {
	last   int64 // number of the last event
	events []byte
}

// readPacks returns the rows of packed_events, by the ID of the room. No room has two.
func (f *fixture) readPacks() map[string]pack {
	f.t.Helper()
	packs := map[string]pack{}
	err := f.db.Query(f.t.Context(), `SELECT room_id, last_sequence, events FROM packed_events`, nil,
		func(row db.Row) error {
			var id string
			var p pack
			err := row.Scan(&id, &p.last, &p.events)
			packs[id] = p
			return err
		})
	if err != nil {
		f.t.Fatal(err)
	}
	return packs
}

// rows returns the number of rows, by table, that contain a text anywhere. Each packed event counts as a row of events.
func (f *fixture) rows(text string) map[string]int {
	f.t.Helper()
	found := map[string]int{}
	for table, rows := range f.Rows(f.t) {
		for _, row := range rows {
			if strings.Contains(row, text) && table != "packed_events" {
				found[table]++
			}
		}
	}
	for roomID, p := range f.readPacks() {
		events, err := f.db.RoomEvents(f.t.Context(), roomID, 0, int(p.last))
		if err != nil {
			f.t.Fatal(err)
		}
		for _, e := range events {
			data, err := json.Marshal(e.Data)
			if err != nil {
				f.t.Fatal(err)
			}
			if strings.Contains(string(data), text) {
				found["events"]++
			}
		}
	}
	return found
}

// filesContain returns the files of a SQLite database that contain a text, as bytes.
func (f *fixture) filesContain(text string) (files []string) {
	f.t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(f.File() + suffix)
		if err != nil && !os.IsNotExist(err) {
			f.t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(text)) {
			files = append(files, f.File()+suffix)
		}
	}
	return files
}

// backup returns the content of a new backup as text: the SQLite file, or the SQL commands
// of a PostgreSQL dump.
func (f *fixture) backup() []byte {
	f.t.Helper()
	file := filepath.Join(f.t.TempDir(), "backup")
	if err := f.db.Snapshot(f.t.Context(), file, func(*db.Reader) error { return nil }); err != nil {
		f.t.Fatal(err)
	}
	if f.URL == "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.t.Fatal(err)
		}
		return raw
	}
	text, err := exec.CommandContext(f.t.Context(), "pg_restore", "--file=-", file).Output()
	if err != nil {
		f.t.Fatal(err)
	}
	return text
}

// checkNoByteLeft fails if a row, a new backup, or a file of a SQLite database contains one of
// some texts, or a pack as it was before. They must contain kept, which proves that the search works.
func (f *fixture) checkNoByteLeft(texts []string, kept string) {
	f.t.Helper()
	backup := f.backup()
	for _, text := range texts {
		if got := f.rows(text); len(got) != 0 {
			f.t.Errorf("rows with %q: got %v, want none", text, got)
		}
		if bytes.Contains(backup, []byte(text)) {
			f.t.Errorf("new backup: got %q in it, want it erased", text)
		}
		if f.URL == "" {
			if files := f.filesContain(text); len(files) > 0 {
				f.t.Errorf("files that contain %q: got %v, want none", text, files)
			}
		}
	}
	now := f.readPacks()
	for id, p := range f.packs {
		if f.URL == "" && !bytes.Equal(now[id].events, p.events) && len(f.filesContain(string(p.events))) > 0 {
			f.t.Errorf("files: got the earlier pack of room %s, want none", id)
		}
	}
	if !bytes.Contains(backup, []byte(kept)) || f.URL == "" && len(f.filesContain(kept)) == 0 {
		f.t.Errorf("search for %q: got nothing, want it in the backup and the files", kept)
	}
}
