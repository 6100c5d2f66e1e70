package room_test

import (
	"fmt"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// A room that is not there says whether it may have been deleted, by the age of its ID.
func TestGetInProject_DeletedRoom(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	db := storetest.SQLite(t)
	p := storetest.Project(t, db)
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	idFrom := func(at time.Time) string {
		ms := at.UnixMilli()
		return fmt.Sprintf("%08x-%04x-7000-8000-000000000000", ms>>16, ms&0xffff)
	}
	const missing = "there is no such room"
	const deleted = "there is no such room: rooms and their events are deleted 30 days after the room has ended"
	for name, c := range map[string]struct {
		kept time.Duration
		id   string
		want string
	}{
		"old":             {30 * day, idFrom(now.Add(-31 * day)), deleted},
		"new":             {30 * day, idFrom(now.Add(-29 * day)), missing},
		"kept for ever":   {0, idFrom(now.Add(-31 * day)), missing},
		"another version": {30 * day, "01890000-0000-4000-8000-000000000000", missing},
		"no ID":           {30 * day, "room", missing},
	} {
		rooms := room.NewService(db, nil, nil, func() time.Time { return now }, storetest.NewID, nil,
			room.Options{Kept: func(project.Project) time.Duration { return c.kept }})
		_, err := rooms.GetInProject(t.Context(), p, c.id)
		if f := fault.From(err); !fault.Is(err, fault.NotFound) || f.Code != "room_not_found" || f.Message != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}
