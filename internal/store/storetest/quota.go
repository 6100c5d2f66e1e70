package storetest

import (
	"context"
	"testing"
	"time"

	"parley/internal/room"
)

func (s *suite) testQuota(t *testing.T) {
	day := time.Date(2026, 6, 1, 23, 59, 59, 0, time.UTC)
	p, other := s.insertBareProject(t), s.insertBareProject(t)
	for _, c := range []struct {
		project string
		subject room.QuotaSubject
		at      time.Time
		want    int
	}{
		{p, room.QuotaRooms, day, 1},
		{p, room.QuotaRooms, day, 2},
		{p, room.QuotaLinks, day, 1},
		{other, room.QuotaRooms, day, 1},
		{p, room.QuotaRooms, day.Add(time.Second), 1}, // the next day
		{p, room.QuotaRooms, day, 2},                  // by a clock that is behind
		{p, room.QuotaRooms, day.Add(24 * time.Hour), 3},
		{p, room.QuotaRooms, day.Add(30 * 24 * time.Hour), 1}, // by a clock that is wrong
		{p, room.QuotaRooms, day.Add(24 * time.Hour), 1},
		{p, room.QuotaRooms, day.Add(24 * time.Hour), 2},
		{p, room.QuotaRooms, day.Add(48 * time.Hour), 1},
	} {
		s.write(t, func(ctx context.Context) error {
			used, err := s.db.UseQuota(ctx, c.project, c.subject, c.at)
			if err == nil && used != c.want {
				t.Errorf("%s of %s at %s: got %d used, want %d", c.subject, c.project, c.at, used, c.want)
			}
			return err
		})
	}
}
