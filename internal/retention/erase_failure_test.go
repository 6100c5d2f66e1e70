package retention_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/retention"
	"parley/internal/store"
)

// failingRoom is a store in which the links of one room cannot be read.
type failingRoom struct {
	*store.DB
	id string
}

var errRoom = errors.New("this room fails")

func (s failingRoom) LinksOfRoom(ctx context.Context, roomID string) ([]retention.Link, error) {
	if roomID == s.id {
		return nil, errRoom
	}
	return s.DB.LinksOfRoom(ctx, roomID)
}

// What an erasure has changed before it fails is in the audit log.
func TestErase_FailsInSecondRoom(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		f.meeting(f.project.ID, f.now.Add(-day), guest{"Zebulon", "user-7"})
		second := f.meeting(f.project.ID, f.now.Add(-day), guest{"Zebulon", "user-7"})
		service := retention.NewService(failingRoom{f.db, second.ID}, retention.Periods{}, f, func(string) {},
			func() time.Time { return f.now }, slog.New(slog.DiscardHandler))
		ctx := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindToken, ActorID: "token"})
		done, err := service.Erase(ctx, retention.Person{ProjectID: f.project.ID, UserID: "user-7"})
		if !errors.Is(err, errRoom) || done.Rooms != 1 {
			t.Errorf("got %+v, %v, want one room and %v", done, err, errRoom)
		}
		entries, err := f.db.AuditEntries(t.Context(), audit.Query{Limit: 10})
		if err != nil || len(entries) != 1 || !strings.Contains(entries[0].After, `"rooms":1`) {
			t.Errorf("audit log: got %+v, %v, want one entry for the first room", entries, err)
		}
		whole, err := f.retention.Erase(ctx, retention.Person{ProjectID: f.project.ID, UserID: "user-7"})
		if err != nil || whole.Rooms != 2 || whole.Seats != 2 {
			t.Errorf("erasure again: got %+v, %v, want the receipt of both rooms", whole, err)
		}
		if whole.Compaction = ""; f.recordedErasures() != whole {
			t.Errorf("audit log: got the sum %+v, want %+v", f.recordedErasures(), whole)
		}
	})
}

// What an erasure that is not repeated has changed is in the audit log after a day, and the counts are gone.
func TestErase_NotRepeated(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		for i, recorded := range []bool{true, false} {
			part := retention.Erasure{
				ProjectID: f.project.ID,
				Person:    "key",
				Erased:    retention.Erased{Rooms: 1 + i, Seats: 3},
				Recorded:  recorded,
				At:        f.now,
			}
			f.write(func(ctx context.Context) error { return f.db.AddErased(ctx, part) })
		}
		f.now = f.now.Add(day)
		f.sweep()
		if got := f.rows("erased "); len(got) == 0 {
			t.Error("rows with counts within a day: got none, want them")
		}
		f.now = f.now.Add(time.Second)
		ctx := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService, Node: "n"})
		for range 2 {
			if _, err := f.retention.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			if got, want := f.recordedErasures(), (retention.Erased{Rooms: 2, Seats: 3}); got != want {
				t.Errorf("audit log after a day: got %+v, want %+v", got, want)
			}
		}
		if got := f.rows("erased "); len(got) > 0 {
			t.Errorf("rows with counts: got %v, want none", got)
		}
	})
}

// The receipt does not depend on the compaction.
func TestErase_CompactionFails(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		f.meeting(f.project.ID, f.now.Add(-day), guest{"Zebulon", "user-7"})
		failing := retention.NewService(noCompaction{f.db}, retention.Periods{}, f, nil, time.Now,
			slog.New(slog.DiscardHandler))
		done, err := failing.Erase(t.Context(), retention.Person{ProjectID: f.project.ID, UserID: "user-7"})
		if err != nil || done.Seats != 1 || done.Compaction != retention.CompactionFailed {
			t.Errorf("got %+v, %v, want one seat and a failed compaction", done, err)
		}
	})
}

// noCompaction is a store whose files cannot be rewritten.
type noCompaction struct{ *store.DB }

func (noCompaction) Compact(context.Context, *slog.Logger) (bool, error) {
	return false, errors.New("the disk is full")
}
