package retention_test

import (
	"context"
	"testing"
)

// A rebuild of the usage, at any moment of the deletion of a room, does not take the deleted part for a correction.
func TestDeleteRoom_UsageRebuiltMeanwhile(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		m := f.meeting(f.project.ID, f.now.Add(-3*day), guest{"Amina", ""}, guest{"Bo", ""})
		if err := f.usage.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := f.totals()
		for rows := 1; rows > 0; {
			f.write(func(ctx context.Context) (err error) {
				_, rows, err = f.db.DeleteRoom(ctx, m.ID, 1)
				return err
			})
			done, err := f.usage.Rebuild(t.Context(), f.project.OrganizationID, f.now.Add(-5*day), f.now)
			if err != nil || len(done.Changes) > 0 {
				t.Fatalf("rebuild during the deletion: got the changes %+v, %v, want none", done.Changes, err)
			}
		}
		if after := f.totals(); after != before || after.VideoMillis == 0 {
			t.Errorf("usage after the deletion: got %+v, want %+v", after, before)
		}
	})
}
