package manage

import (
	"testing"
	"time"

	"parley/internal/testkit"
)

func testUsage(t *testing.T, b *fixture) {
	testkit.WithinOne(t, 24*time.Hour, 30*time.Second)
	b.t = t
	project := b.createProject()["project_id"].(string)
	organization := b.mustCall("GET", "/projects/"+project, nil)["organization_id"].(string)
	before := time.Now().UTC().AddDate(0, 0, -2).Format(time.DateOnly)
	b.createRoom(project)
	// Usage is as of a millisecond, and counts what happened before it.
	for created := time.Now(); !time.Now().Truncate(time.Millisecond).After(created); {
		time.Sleep(time.Millisecond)
	}

	got := b.mustCall("GET", "/usage?project_id="+project+"&from="+before, nil)
	today := got["as_of"].(string)[:len(time.DateOnly)]
	if got["organization_id"] != organization || got["project_id"] != project || got["from"] != before ||
		got["to"] != today || got["rooms_created"] != 1.0 || got["participant_minutes"] != 0.0 || got["days"] != nil {
		t.Errorf("usage of the project: got %v, want 1 room from %s to %s", got, before, today)
	}
	got = b.mustCall("GET", "/usage?by=day&organization_id="+organization+"&from="+before+"&to="+today, nil)
	days, _ := got["days"].([]any)
	rooms := 0.0
	for _, day := range days {
		rooms += day.(m)["rooms_created"].(float64)
	}
	if len(days) < 3 || days[0].(m)["date"] != before || days[len(days)-1].(m)["date"] != today || rooms != 1 ||
		got["project_id"] != nil {
		t.Errorf("usage by day: got %v, want each day from %s to %s and 1 room", got, before, today)
	}
	trial := m{"organization_id": organization, "name": "Trial", "test": true}
	test := b.mustCall("POST", "/projects", trial)["project_id"]
	got = b.mustCall("GET", "/usage?by=project&limit=1&organization_id="+organization+"&from="+before, nil)
	first := got["projects"].([]any)
	second := b.mustCall("GET", "/usage?by=project&organization_id="+organization+"&cursor="+
		got["next_cursor"].(string), nil)
	rest := second["projects"].([]any)
	if len(first) != 1 || first[0].(m)["project_id"] != project || first[0].(m)["rooms_created"] != 1.0 ||
		first[0].(m)["test"] != false || len(rest) != 1 || rest[0].(m)["project_id"] != test || rest[0].(m)["test"] != true ||
		rest[0].(m)["rooms_created"] != 0.0 || second["next_cursor"] != nil {
		t.Errorf("usage by project: got %v, then %v, want the project with 1 room, then the test project", got, second)
	}
	month := b.mustCall("GET", "/usage?organization_id="+organization, nil)
	if want := month["as_of"].(string)[:len("2006-01-")] + "01"; month["from"] != want {
		t.Errorf("usage without dates: got it from %v, want %s", month["from"], want)
	}

	const one = "exactly one of organization_id and project_id is required"
	for query, message := range map[string]string{
		"": one,
		"organization_id=" + organization + "&project_id=" + project: one,
		"project_id=" + project + "&from=today":                      `from must be a date such as 2026-11-01, not "today"`,
		"project_id=" + project + "&to=2026-02-30":                   `to must be a date such as 2026-11-01, not "2026-02-30"`,
		"project_id=" + project + "&from=2026-02-02&to=2026-02-01":   "to must not be before from, 2026-02-02",
		"project_id=" + project + "&from=2025-01-01&to=2026-01-02":   "to must be at most 365 days after from",
		"project_id=" + project + "&from=2999-01-01":                 "from must not be after today, " + today,
		"project_id=" + project + "&by=week":                         `by must be day or project, not "week"`,
		"project_id=" + project + "&by=project":                      "organization_id is required with by=project",
		"project_id=" + project + "&by=day&limit=5":                  "limit and cursor can only be used with by=project",
		"organization_id=" + organization + "&by=project&cursor=1":   "cursor must be the next_cursor of an earlier response",
	} {
		b.assertError("GET", "/usage?"+query, nil, 400, "invalid_request", message)
	}
	rebuilt := b.mustCall("POST", "/usage/rebuild", m{"organization_id": organization, "from": before})
	if changes, _ := rebuilt["changes"].([]any); rebuilt["organization_id"] != organization || rebuilt["from"] != before ||
		rebuilt["to"] != today || changes == nil || len(changes) > 0 || rebuilt["kept_until"] != nil {
		t.Errorf("rebuild of right usage: got %v, want no changes from %s to %s", rebuilt, before, today)
	}
	for name, value := range map[string]string{"from": "today", "to": "2026-02-30"} {
		b.assertError("POST", "/usage/rebuild", m{"organization_id": organization, name: value}, 400, "invalid_request",
			name+` must be a date such as 2026-11-01, not "`+value+`"`)
	}
	b.assertError("POST", "/usage/rebuild", m{"organization_id": unknownID}, 404, "organization_not_found", noOrganization)

	b.assertError("GET", "/usage?project_id="+unknownID, nil, 404, "project_not_found", noProject)
	b.assertError("GET", "/usage?organization_id="+unknownID, nil, 404, "organization_not_found",
		noOrganization)
}
