package storetest

import (
	"context"
	"log/slog"
	"testing"
)

func (s *suite) testMediaSecret(t *testing.T) {
	ctx := patient()
	first, err := s.db.MediaSecret(ctx)
	if err != nil || first == "" {
		t.Fatalf("media secret: got length %d, %v, want one", len(first), err)
	}
	again, err := s.db.MediaSecret(ctx)
	requireEqual(t, again, err, first)
	other, err := s.open(t).MediaSecret(ctx)
	if err != nil || other == first {
		t.Fatalf("MediaSecret of another database: got %v, the same secret %v, want nil, false", err, other == first)
	}
}

func (s *suite) testPing(t *testing.T) {
	if err := s.db.RecentWriteError(); err != nil {
		t.Error(err)
	}
	if err := s.db.Ping(patient()); err != nil {
		t.Fatal(err)
	}
}

func (s *suite) testID(t *testing.T) {
	ctx := patient()
	first, err := s.db.ID(ctx)
	if err != nil || first == "" {
		t.Fatalf("identity: got %q, %v, want one", first, err)
	}
	other, err := s.open(t).ID(ctx)
	if err != nil || other == first {
		t.Errorf("identity of another database: got %q, %v, want another than %q", other, err, first)
	}
}

// On SQLite a compaction is due from the commit of what has marked it until one has succeeded.
func (s *suite) testCompactionDue(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	requireDue := func(want bool) {
		t.Helper()
		due, err := db.CompactionDue(ctx)
		requireEqual(t, due, err, want)
	}
	requireDue(false)
	if err := db.Write(ctx, func(ctx context.Context) error { return db.MarkCompactionDue(ctx) }); err != nil {
		t.Fatal(err)
	}
	requireDue(db.NeedsCompaction())
	if _, err := db.Compact(ctx, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	requireDue(false)
}
