package storetest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley/internal/room"
	"parley/internal/store"
)

// testPastRooms checks that each page of past rooms is a part of the sorted list of all,
// and that their number is exact, in whatever order rooms end, are stored again and
// deleted, and counts are merged.
func (s *suite) testPastRooms(t *testing.T) {
	db := s.open(t)
	p := Project(t, db)
	rapid.Check(t, func(rt *rapid.T) {
		m := &pastRoomsModel{ctx: patient(), db: db, projects: []string{NewID(), NewID()}}
		must(rt, db.Write(m.ctx, func(ctx context.Context) error {
			for _, p.ID = range m.projects {
				if err := db.InsertProject(ctx, p); err != nil {
					return err
				}
			}
			return nil
		}))
		rt.Repeat(map[string]func(*rapid.T){
			"":       m.check,
			"end":    m.end,
			"store":  m.storeAgain,
			"delete": m.delete,
			"merge":  m.merge,
		})
	})
}

// pastRoomsModel contains the rooms that are over as a test knows them.
type pastRoomsModel struct {
	ctx      context.Context
	db       *store.DB
	projects []string
	over     []*room.Room
}

// end ends several rooms within four days. Some end at the same time, also at midnight.
func (m *pastRoomsModel) end(rt *rapid.T) {
	first := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	projectID := rapid.SampledFrom(m.projects).Draw(rt, "project")
	var ended []*room.Room
	for _, hour := range rapid.SliceOfN(rapid.IntRange(0, 4*24), 1, 5).Draw(rt, "hours") {
		r := Room(projectID)
		r.State, r.DueAt, r.EndedAt = room.Ended, time.Time{}, first.Add(time.Duration(hour)*time.Hour)
		if rapid.Bool().Draw(rt, "late") {
			r.EndedAt = r.EndedAt.Add(-time.Millisecond)
		}
		ended = append(ended, r)
	}
	must(rt, m.db.Write(m.ctx, func(ctx context.Context) error {
		for _, r := range ended {
			if err := insertFullRoom(ctx, m.db, r); err != nil {
				return err
			}
		}
		return nil
	}))
	m.over = append(m.over, ended...)
}

// draw returns the index of a room that is over.
func (m *pastRoomsModel) draw(rt *rapid.T) int {
	if len(m.over) == 0 {
		rt.Skip("no room is over")
	}
	return rapid.IntRange(0, len(m.over)-1).Draw(rt, "room")
}

// storeAgain stores a room once more, as an event after its end does.
func (m *pastRoomsModel) storeAgain(rt *rapid.T) {
	r := m.over[m.draw(rt)]
	r.EventSequence++
	must(rt, m.db.Write(m.ctx, func(ctx context.Context) error { return m.db.UpdateRoom(ctx, r) }))
}

func (m *pastRoomsModel) delete(rt *rapid.T) {
	i := m.draw(rt)
	must(rt, m.db.Write(m.ctx, func(ctx context.Context) error {
		return m.db.Exec(ctx, `DELETE FROM rooms WHERE id = $1`, m.over[i].ID)
	}))
	m.over = slices.Delete(m.over, i, i+1)
}

// merge merges counts on two nodes at the same time.
func (m *pastRoomsModel) merge(rt *rapid.T) {
	limit := rapid.IntRange(1, 10).Draw(rt, "limit")
	errs := make([]error, 2)
	var nodes sync.WaitGroup
	for i := range errs {
		nodes.Go(func() {
			errs[i] = m.db.Write(m.ctx, func(ctx context.Context) error {
				_, err := m.db.MergePastRoomCounts(ctx, limit)
				return err
			})
		})
	}
	nodes.Wait()
	must(rt, cmp.Or(errs...))
}

func (m *pastRoomsModel) check(rt *rapid.T) {
	projectID := rapid.SampledFrom(m.projects).Draw(rt, "project")
	q := room.PastQuery{Offset: rapid.IntRange(0, len(m.over)+1).Draw(rt, "from"),
		Limit: rapid.IntRange(1, 10).Draw(rt, "limit"), Ascending: rapid.Bool().Draw(rt, "ascending")}
	filter := rapid.IntRange(0, 3).Draw(rt, "filter") == 0
	if filter {
		q.IDs = []string{NewID()}
	}
	var want []room.PastRoom
	for _, r := range m.over {
		if filter && rapid.Bool().Draw(rt, "named") {
			q.IDs = append(q.IDs, r.ID)
		}
		if r.ProjectID == projectID && (!filter || slices.Contains(q.IDs, r.ID)) {
			want = append(want, room.PastRoom{ID: r.ID, Title: r.Title, CreatedAt: r.CreatedAt, EndedAt: r.EndedAt})
		}
	}
	slices.SortFunc(want, func(a, b room.PastRoom) int {
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), cmp.Compare(a.ID, b.ID))
	})
	if !q.Ascending {
		slices.Reverse(want)
	}
	wantTotal := len(want)
	want = want[min(q.Offset, wantTotal):min(q.Offset+q.Limit, wantTotal)]
	got, total, err := m.db.PastRooms(m.ctx, projectID, q)
	must(rt, err)
	if total != wantTotal {
		rt.Fatalf("past rooms %+v: got a total of %d, want %d", q, total, wantTotal)
	}
	if diff := gocmp.Diff(want, got, Exact); len(got)+len(want) > 0 && diff != "" {
		rt.Fatalf("past rooms %+v (-want +got):\n%s", q, diff)
	}
}
