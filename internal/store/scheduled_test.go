package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
)

// open returns a fresh SQLite database, its directory and its box.
func open(t *testing.T) (*DB, string, *seal.Box) {
	t.Helper()
	dir, box := t.TempDir(), seal.NewBox(seal.NewKey())
	db, err := Open(t.Context(), "", dir)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	must(t, db.Unlock(t.Context(), box))
	return db, dir, box
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestScheduledRoomIsKeptWhole(t *testing.T) {
	t.Parallel()
	db, _, _ := open(t)
	now := time.UnixMilli(1_800_000_000_123).UTC()
	written := &room.Room{ID: "r", ProjectID: "p", ClientRoomID: "c", Type: room.Video, State: room.Scheduled, Title: "T", CreatorName: "A",
		ExternalUserID: "é7", LogoutURL: "https://example.org/bye", WebhookURL: "https://example.org/hook", MaxParticipants: 3, EmptyTimeout: time.Minute,
		Duration: time.Hour, BreakoutRooms: 4, StartAt: now.Add(time.Hour), CreatedAt: now, DueAt: now.Add(time.Hour)}
	must(t, db.Write(t.Context(), func(ctx context.Context) error {
		if err := db.InsertOrganization(ctx, project.Organization{ID: "o", Name: "O", Billing: project.Plan, CreatedAt: now}); err != nil {
			return err
		}
		if err := db.InsertProject(ctx, project.Project{ID: "p", OrganizationID: "o", Name: "P", Status: project.Active, CreatedAt: now}); err != nil {
			return err
		}
		return db.InsertRoom(ctx, written)
	}))
	read, err := db.Room(t.Context(), "r")
	must(t, err)
	if !reflect.DeepEqual(read, written) {
		t.Errorf("read    %+v\nwritten %+v", read, written)
	}
	for at, want := range map[time.Duration]int{time.Hour - time.Millisecond: 0, time.Hour: 1} {
		if due, err := db.DueRooms(t.Context(), now.Add(at), 10); err != nil || len(due) != want {
			t.Errorf("due after %s: %v %v", at, due, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	db, dir, _ := open(t)
	now := time.UnixMilli(1_800_000_000_000).UTC()
	keep := func(a room.Answer, at time.Time) (fresh bool) {
		must(t, db.Write(t.Context(), func(ctx context.Context) (err error) {
			fresh, err = db.KeepAnswer(ctx, a, at)
			return err
		}))
		return fresh
	}
	const link = "https://meet.example.org/r/1#t=TOKENTOKENTOKEN"
	first := room.Answer{ID: "a", BodyHash: "h", Text: link, ExpiresAt: now.Add(time.Hour)}
	if !keep(first, now) || keep(room.Answer{ID: "a", BodyHash: "other", ExpiresAt: now.Add(2 * time.Hour)}, now.Add(time.Hour-1)) {
		t.Error("the first answer does not stay")
	}
	if got, err := db.Answer(t.Context(), "a", now); err != nil || !reflect.DeepEqual(got, first) {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := db.Answer(t.Context(), "a", now.Add(time.Hour)); !fault.Is(err, fault.NotFound) {
		t.Errorf("expired: %v", err)
	}
	if !keep(room.Answer{ID: "b", BodyHash: "h", ExpiresAt: now.Add(time.Minute)}, now) || !keep(room.Answer{ID: "b", BodyHash: "i", ExpiresAt: now.Add(2 * time.Hour)}, now.Add(time.Minute)) {
		t.Error("an expired answer does not give way")
	}
	t.Run("sealed, under a new master key too", func(t *testing.T) {
		box := seal.NewBox(seal.NewKey())
		if _, err := db.Reseal(t.Context(), box); err != nil {
			t.Fatal(err)
		}
		must(t, db.Unlock(t.Context(), box))
		if got, err := db.Answer(t.Context(), "a", now); err != nil || got.Text.Reveal() != link {
			t.Errorf("%v", err)
		}
		for _, name := range []string{"parley.db", "parley.db-wal"} {
			raw, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && bytes.Contains(raw, []byte("TOKENTOKENTOKEN")) {
				t.Errorf("%s holds an answer in clear", name)
			}
		}
	})
	must(t, db.Write(t.Context(), func(ctx context.Context) error { return db.PurgeAnswers(ctx, now.Add(time.Hour)) }))
	for id, kept := range map[string]bool{"a": false, "b": true} {
		if _, err := db.Answer(t.Context(), id, now); (err == nil) != kept {
			t.Errorf("%s after the purge: %v", id, err)
		}
	}
}

// TestForeignAnswerStaysShut holds an answer to its own row.
func TestForeignAnswerStaysShut(t *testing.T) {
	t.Parallel()
	db, _, _ := open(t)
	now := time.UnixMilli(1_800_000_000_000)
	must(t, db.Write(t.Context(), func(ctx context.Context) error {
		if _, err := db.KeepAnswer(ctx, room.Answer{ID: "a", Text: "secret", ExpiresAt: now}, now); err != nil {
			return err
		}
		return db.must(ctx, `UPDATE answers SET id = 'b', expires_at = expires_at + 1 WHERE id = 'a'`)
	}))
	if a, err := db.Answer(t.Context(), "b", now); err == nil || strings.Contains(fmt.Sprint(err), "secret") {
		t.Errorf("%v %v", a, err)
	}
}
