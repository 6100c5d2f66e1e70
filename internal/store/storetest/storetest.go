// Package storetest tests package store with one suite for both engines, and
// provides real databases for the tests and benchmarks of other packages, which
// alone import it.
package storetest

import (
	"context"
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
)

// Engines are the engines that a test of a store should run on. Each function
// opens a new, empty, unlocked database, which is removed with the test.
var Engines = map[string]func(t testing.TB) *store.DB{
	"sqlite":   SQLite,
	"postgres": func(t testing.TB) *store.DB { return Open(t, Postgres(t), "") },
}

// SQLite opens a new SQLite database.
func SQLite(t testing.TB) *store.DB {
	t.Helper()
	return Open(t, "", t.TempDir())
}

// Open opens a database and unlocks it with Box(1).
func Open(t testing.TB, url, dir string) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), url, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Unlock(patient(), Box(1)); err != nil {
		t.Fatal(err)
	}
	return db
}

// Box returns a box with the n-th test master key.
func Box(n byte) *seal.Box {
	bytes := []byte(strings.Repeat(string(rune(n)), seal.KeySize))
	key, err := seal.ParseKey(base64.StdEncoding.EncodeToString(bytes))
	if err != nil {
		panic(err)
	}
	return seal.NewBox(key)
}

// NewID returns a new id in the format of the service (UUIDv7).
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Project creates an active project with its organization and credentials.
func Project(t testing.TB, db *store.DB) project.Project {
	t.Helper()
	ctx := patient()
	projects := project.NewService(db, time.Now, NewID, func(string) {})
	o, err := projects.CreateOrganization(ctx, "Example", project.Plan)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := key.NewService(db, projects, time.Now, NewID).CreateProject(ctx,
		project.Draft{OrganizationID: o.ID, Name: "Example"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Room returns a new quick room, which is not in the database.
func Room(projectID string) *room.Room {
	return &room.Room{
		ID:        NewID(),
		ProjectID: projectID,
		State:     room.Open,
		Spec: room.Spec{
			Type:            room.Video,
			Title:           "Title",
			CreatorName:     "Ada",
			MaxParticipants: 10,
			EmptyTimeout:    5 * time.Minute,
			Duration:        time.Hour,
		},
		CreatorLinkHash: "hash",
		EventSequence:   1,
		CreatedAt:       testTime(0),
		OpenedAt:        testTime(0),
		DueAt:           testTime(300),
	}
}

// Event returns a new event of a room, which is not in the database.
func Event(r *room.Room, sequence int) event.Event {
	return event.Event{
		ID:        NewID(),
		Type:      event.RoomOpened,
		ProjectID: r.ProjectID,
		RoomID:    r.ID,
		Sequence:  int64(sequence),
		At:        r.CreatedAt,
		Data: event.Data{
			RoomID: r.ID, RoomType: string(r.Type), EndReason: fmt.Sprint("sequence ", sequence),
		},
	}
}

// testTime returns the epoch of the suite plus some seconds.
func testTime(seconds int) time.Time {
	return time.UnixMilli(1_780_000_000_123 + int64(seconds)*1000).UTC()
}

// suite is one engine under test.
type suite struct {
	open    func(t testing.TB) *store.DB
	db      *store.DB
	project project.Project
}

// Run tests every method of store.DB. open returns a new, empty, unlocked
// database.
func Run(t *testing.T, open func(t testing.TB) *store.DB) {
	s := &suite{open: open, db: open(t)}
	s.project = Project(t, s.db)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(s, t)
		})
	}
}

// write runs work in a transaction, which must succeed.
func (s *suite) write(t *testing.T, work func(ctx context.Context) error) {
	t.Helper()
	if err := s.db.Write(patient(), work); err != nil {
		t.Fatal(err)
	}
}

// Patient returns a context in which writes wait longer than 900 ms, because the tests of
// other packages may leave the database without a processor for that long.
func Patient(ctx context.Context) context.Context { return db.WithWriteTimeout(ctx, time.Minute) }

func patient() context.Context { return Patient(context.Background()) }

// insertRoom stores a room with all its fields.
func (s *suite) insertRoom(t *testing.T, r *room.Room) *room.Room {
	t.Helper()
	s.write(t, func(ctx context.Context) error { return insertFullRoom(ctx, s.db, r) })
	return r
}

// insertFullRoom stores a room with all its fields, also those that InsertRoom
// ignores.
func insertFullRoom(ctx context.Context, db *store.DB, r *room.Room) error {
	if err := db.InsertRoom(ctx, r); err != nil {
		return err
	}
	return db.UpdateRoom(ctx, r)
}

// Exact makes cmp.Diff compare unexported fields too, and the zones of times, because the
// store returns UTC.
var Exact = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.Comparer(func(a, b time.Time) bool { return a == b }),
}

// requireEqual fails unless err is nil and got equals want.
func requireEqual[T any](t *testing.T, got T, err error, want T) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, Exact); diff != "" {
		t.Fatalf("values differ (-want +got):\n%s", diff)
	}
}

// requireFault fails unless err is a fault of that kind and code.
func requireFault(t *testing.T, err error, kind fault.Kind, code string) {
	t.Helper()
	if f := fault.From(err); err == nil || f.Kind != kind || f.Code != code {
		t.Fatalf("got %v, want a fault with code %s", err, code)
	}
}

// requireConstraintError fails unless err is an internal error, as the violation
// of a constraint is.
func requireConstraintError(t *testing.T, err error) {
	t.Helper()
	if err == nil || fault.From(err).Kind != fault.Internal {
		t.Fatalf("got %v, want the violation of a constraint", err)
	}
}

// trickyTexts are values that a database may change if it is misconfigured.
var trickyTexts = []string{
	"O'Brien \"quoted\" \\ back % _ $1 ?",
	"  blanks around  ",
	"Ünïcödé ﷽ 𝄞 👩‍👩‍👧 שלום e\u0301",
	"\u200b\ufeff\ufffd\U0010ffff",
	"true", "null", "007",
	strings.Repeat("𝄞", 255),
}
