package retention_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/retention"
)

func TestExport_ListsEverything(t *testing.T) {
	onEachEnginePacked(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		var want []string
		for i := range 25 {
			r := f.meeting(f.project.ID, f.now.Add(-time.Duration(i+2)*day), guest{"Amina", "user-7"}, guest{"Bo", "user-8"})
			want = append(want, r.ID)
		}
		f.meeting(f.project.ID, f.now.Add(-day), guest{"Bo", "user-8"})
		var got []string
		for after, more := "", true; more; more = after != "" {
			person := retention.Person{ProjectID: f.project.ID, UserID: "user-7"}
			page, next, err := f.retention.Export(t.Context(), person, after)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page {
				got = append(got, r.Room.ID)
				if len(r.Seats) != 1 || r.Seats[0].Name != "Amina" || len(r.Links) != 1 || len(r.Connections) != 1 ||
					len(r.Events) != 3 || !r.IsCreator || r.Events[0].Data.Participant.Name != "Amina" {
					t.Errorf("room %s: got %+v, want one seat, link and connection of Amina, and 3 events", r.Room.ID, r)
				}
			}
			after = next
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rooms (-want +got):\n%s", diff)
		}
		if got := f.rows("Amina"); got["seats"] != 25 {
			t.Errorf("rows after the export: got %v, want 25 seats", got)
		}
	})
}
