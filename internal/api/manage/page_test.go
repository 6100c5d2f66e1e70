package manage

import (
	"context"
	"fmt"
	"testing"
	"time"

	"parley/internal/project"
	"parley/internal/store/storetest"
)

// A list of 5,000 projects is read in pages, of which each contains at most 100.
func TestProjects_Pages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const projects = 5000
	o := b.mustCall("POST", "/organizations", m{"name": "Schools", "billing": "plan"})["organization_id"].(string)
	err := b.db.Write(t.Context(), func(ctx context.Context) error {
		for n := range projects {
			p := project.Project{
				ID:             storetest.NewID(),
				OrganizationID: o,
				Name:           fmt.Sprintf("School %d", n),
				Status:         project.Active,
				CreatedAt:      time.Now(),
			}
			if err := b.db.InsertProject(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.mustCall("POST", "/projects", m{"organization_id": b.createProject()["organization_id"], "name": "Another"})
	for list, want := range map[string]int{"/projects?": projects + 2, "/projects?organization_id=" + o + "&": projects} {
		var names []any
		calls := 0
		for cursor := ""; ; {
			page := b.mustCall("GET", list+"limit=100"+cursor, nil)
			calls++
			if n := len(page["projects"].([]any)); n > 100 {
				t.Errorf("GET %slimit=100: got %d projects, want at most 100", list, n)
			}
			for _, p := range page["projects"].([]any) {
				names = append(names, p.(m)["name"])
			}
			next, more := page["next_cursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		if len(names) != want || names[0] != "School 0" || names[projects-1] != fmt.Sprintf("School %d", projects-1) ||
			calls != (want+99)/100 {
			t.Errorf("GET %s: got %d projects in %d pages, want %d in %d, the oldest first", list, len(names), calls, want,
				(want+99)/100)
		}
	}
}
