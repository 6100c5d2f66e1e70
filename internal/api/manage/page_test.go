package manage

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/project"
	"parley/internal/store/storetest"
)

// wholeLists are the operations that return a list as a whole, each with the reason.
var wholeLists = map[string]string{
	"getCaller":          "the projects of one token or session",
	"getConnectionCheck": "one entry for each way of media",
	"getOverview":        "at most 20 targets and 24 hours, and findings, of which those about targets are at most 10",
	"getWebhook":         "the attempts of one delivery",
	"listNodes":          "a service has few nodes",
	"listSettings":       "the settings of a release",
	"listSignInMethods":  "at most two ways to sign in",
}

// Each operation that returns a list has pages, or a reason why not.
func TestLists_HavePages(t *testing.T) {
	t.Parallel()
	lists := 0
	for _, o := range setup(t).contract.Operations() {
		if len(o.Arrays) == 0 || o.Method != http.MethodGet {
			continue
		}
		lists++
		has := map[string]bool{
			"limit":       slices.Contains(o.Query, "limit"),
			"cursor":      slices.Contains(o.Query, "cursor"),
			"next_cursor": slices.Contains(o.Fields, "next_cursor"),
		}
		paged := wholeLists[o.ID] == ""
		for name, got := range has {
			if got != paged {
				t.Errorf("%s returns %v: got %s %t, want %t: a list has pages, or a reason in wholeLists", o.ID, o.Arrays, name,
					got, paged)
			}
		}
	}
	if lists < 20 {
		t.Errorf("got %d operations that return a list, want at least 20", lists)
	}
}

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

// A search finds a part of a name in upper or lower case, or an ID. It continues a page with a cursor.
func TestProjects_Search(t *testing.T) {
	t.Parallel()
	b := setup(t)
	schools := b.mustCall("POST", "/organizations", m{"name": "Schools", "billing": "plan"})["organization_id"].(string)
	clinics := b.mustCall("POST", "/organizations", m{"name": "Clinics", "billing": "plan"})["organization_id"].(string)
	create := func(organization, name string) string {
		p := b.mustCall("POST", "/projects", m{"organization_id": organization, "name": name})
		return p["project_id"].(string)
	}
	north, south := create(schools, "School North"), create(schools, "School South")
	doctors := create(clinics, "Ärztehaus North")
	find := func(path, list, id string) (ids []string, next string) {
		t.Helper()
		page := b.mustCall("GET", path, nil)
		for _, one := range page[list].([]any) {
			ids = append(ids, one.(m)[id].(string))
		}
		next, _ = page["next_cursor"].(string)
		return ids, next
	}
	for query, want := range map[string][]string{
		"search=NORTH":                                                       {north, doctors},
		"search=" + url.QueryEscape("ä"):                                     {doctors},
		"search=nobody":                                                      nil,
		"search=" + strings.ToUpper(south) + "&limit=5":                      {south},
		"search=" + unknownID:                                                nil,
		"search=school&cursor=" + north:                                      {south},
		"search=north&organization_id=" + schools:                            {north},
		"search=" + doctors + "&organization_id=" + schools:                  nil,
		"project_ids=" + south + "," + unknownID + "," + north + "," + north: {north, south},
	} {
		if got, _ := find("/projects?"+query, "projects", "project_id"); !slices.Equal(got, want) {
			t.Errorf("GET /projects?%s: got %v, want %v", query, got, want)
		}
	}
	first, next := find("/projects?search=school&limit=1", "projects", "project_id")
	rest, end := find("/projects?search=school&limit=1&cursor="+next, "projects", "project_id")
	if !slices.Equal(append(first, rest...), []string{north, south}) || end != "" {
		t.Errorf("pages of a search: got %v, then %v and the cursor %q, want one project in each", first, rest, end)
	}
	for query, want := range map[string][]string{"search=CLIN": {clinics}, "search=" + schools: {schools}} {
		if got, _ := find("/organizations?"+query, "organizations", "organization_id"); !slices.Equal(got, want) {
			t.Errorf("GET /organizations?%s: got %v, want %v", query, got, want)
		}
	}
	owner := b.token
	partner := m{"name": "partner", "role": "integrator", "project_ids": []string{south, doctors}}
	b.token = b.mustCall("POST", "/tokens", partner)["token"].(string)
	for query, want := range map[string][]string{
		"search=school":                        {south},
		"project_ids=" + north + "," + doctors: {doctors},
	} {
		if got, _ := find("/projects?"+query, "projects", "project_id"); !slices.Equal(got, want) {
			t.Errorf("an integrator's GET /projects?%s: got %v, want %v", query, got, want)
		}
	}
	b.token = owner
	for query, message := range map[string]string{
		"search=":                           "search must have 1 to 255 characters and not be blank",
		"project_ids=north":                 `project_ids must be IDs with a comma between them, not "north"`,
		"project_ids=" + north + "&limit=5": "project_ids must be the only parameter",
		"project_ids=" + strings.Repeat(north+",", 100) + north: "project_ids must be at most 100 IDs, not 101",
	} {
		b.assertError("GET", "/projects?"+query, nil, 400, "invalid_request", message)
	}
	b.assertError("GET", "/organizations?search=", nil, 400, "invalid_request",
		"search must have 1 to 255 characters and not be blank")
}
