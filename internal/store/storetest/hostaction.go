package storetest

import (
	"context"
	"testing"

	"parley/internal/retention"
	"parley/internal/room"
)

func (s *suite) testHostActions(t *testing.T) {
	ctx := patient()
	r, other := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	const keep = 3
	var all []room.HostAction
	two := 2
	for i, roomID := range []string{r.ID, other.ID, r.ID, r.ID, r.ID} {
		a := room.HostAction{
			RoomID:   roomID,
			Sequence: int64(i),
			At:       testTime(i),
			Kind:     room.HostMoved,
			By:       room.HostActor{SeatID: NewID(), Name: trickyTexts[i%len(trickyTexts)], Role: room.CoHost},
			Target:   room.HostActor{SeatID: NewID(), Name: "Ben", Role: room.Guest},
			Details:  room.HostActionDetails{Locks: map[string]bool{"chat": false}, Breakout: &two},
		}
		s.write(t, func(ctx context.Context) error { return s.db.AppendHostAction(ctx, a, keep) })
		if roomID == r.ID {
			a.N = int64(len(all) + 1)
			all = append(all, a)
		}
	}
	got, err := s.db.HostActions(ctx, r.ID, 0, 9)
	requireEqual(t, got, err, all[1:]) // the first one is deleted
	got, err = s.db.HostActions(ctx, r.ID, 2, 1)
	requireEqual(t, got, err, all[2:3])

	people, err := s.db.HostActionsOfRoom(ctx, r.ID)
	last := all[3]
	requireEqual(t, people[2], err, retention.HostAction{
		N:    4,
		At:   last.At,
		Kind: string(last.Kind),
		By:   retention.Actor{SeatID: last.By.SeatID, Name: last.By.Name},
		Target: retention.Actor{
			SeatID: last.Target.SeatID, Name: "Ben"},
	})
	people[2].By.Name = ""
	s.write(t, func(ctx context.Context) error { return s.db.RenameHostAction(ctx, r.ID, people[2]) })
	last.By.Name = ""
	got, err = s.db.HostActions(ctx, r.ID, 3, 9)
	requireEqual(t, got, err, []room.HostAction{last})
}
