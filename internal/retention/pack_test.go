package retention_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"parley/internal/retention"
)

// A sweep packs the events of rooms that were over for an hour, but not in the first day, in which the operator may go
// back to a program that cannot read them.
func TestSweep_PacksEvents(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		var log bytes.Buffer
		service := retention.NewService(f.db, f.periods, f, func(string) {}, func() time.Time { return f.now },
			slog.New(slog.NewTextHandler(&log, nil)))
		sweep := func(wantMore bool, wantLog string) {
			t.Helper()
			log.Reset()
			more, err := service.Sweep(t.Context())
			if err != nil || more != wantMore || !strings.Contains(log.String(), wantLog) || wantLog == "" && log.Len() > 0 {
				t.Fatalf("sweep: got %t, %v and the log %q, want %t and %q", more, err, &log, wantMore, wantLog)
			}
		}
		old := f.meeting(f.project.ID, f.now.Add(-2*time.Hour), guest{"Amina", "user-7"})
		sweep(false, `until then you can go back to an earlier version" from=2027-03-02T12:00:00Z`)
		f.now = f.now.Add(day - time.Minute)
		sweep(false, "")
		f.now = f.now.Add(time.Minute)
		sweep(true, "no earlier version can use the database any more")
		if packs := f.readPacks(); len(packs) != 0 {
			t.Fatalf("before an earlier version would be seen: got %d rows of packed events, want none", len(packs))
		}
		f.now = f.now.Add(time.Minute)
		recent := f.meeting(f.project.ID, f.now.Add(-59*time.Minute), guest{"Bo", ""})
		events := f.rows("Amina")["events"]
		for range 2 {
			sweep(false, "")
		}
		packs := f.readPacks()
		if _, packed := packs[old.ID]; !packed || len(packs) != 1 {
			t.Errorf("after a day: got packed events of %d rooms, want those of the old one", len(packs))
		}
		if got := f.rows("Amina")["events"]; got != events || events == 0 {
			t.Errorf("packed events with the name: got %d, want %d", got, events)
		}
		f.checkNumbers(old.ID, 6)
		f.checkNumbers(recent.ID, 6)
		f.now = f.now.Add(2 * time.Minute)
		sweep(false, "")
		if packs := f.readPacks(); len(packs) != 2 {
			t.Errorf("an hour after the end of the second room: got packed events of %d rooms, want 2", len(packs))
		}
	})
}
