package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"parley/internal/api/manage"
	"parley/internal/plural"
)

type projectCommands struct {
	Create              projectCreate       `cmd:"" help:"Create a project with its keys."`
	List                projectList         `cmd:"" help:"List projects."`
	Show                projectShow         `cmd:"" help:"Show a project."`
	Set                 projectSet          `cmd:"" help:"Change a project's name and settings."`
	Logo                projectLogo         `cmd:"" help:"Set or remove a project's logo."`
	Suspend             projectSuspend      `cmd:"" help:"Refuse a project's writes and joins until it is resumed."`
	Resume              projectResume       `cmd:"" help:"Resume a project."`
	Delete              projectDelete       `cmd:"" help:"Delete a suspended project with everything that belongs to it."`
	RotateSecret        projectRotateSecret `cmd:"" help:"Rotate the project secret."`
	RevokeSecretOverlap projectRevoke       `cmd:"" help:"End the overlap of project secrets now."`
}

type projectCreate struct {
	manager
	Org  string `required:"" placeholder:"ID" refers:"organization" help:"ID or unique name of the organization that owns the project."`
	Name string `required:"" help:"Name, 1 to 255 characters."`
	Test bool   `help:"Creation of a test project, which costs nothing and in which meetings can be simulated."`
}

// Run creates the project and prints its credentials.
func (c projectCreate) Run(ctx context.Context, s *streams) error {
	p, err := callManagement[manage.NewProjectWithSecrets](ctx, c.manager, "POST", "/projects",
		manage.NewProject{OrganizationId: c.Org, Name: c.Name, Test: &c.Test})
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	kind := "project"
	if p.Test {
		kind = "test project"
	}
	fmt.Fprintf(s.out, "Created %s %s %s in organization %s.\n\n", kind, p.ProjectId,
		quoteName(p.Name), p.OrganizationId)
	if err := printFields(s.out, "  project secret", p.ProjectSecret, "  API key", p.ApiKey,
		"  Gateway secret", p.GatewaySecret); err != nil {
		return err
	}
	_, err = fmt.Fprint(s.out, "\nThey are not shown again: save them now.\n")
	return err
}

type projectList struct {
	lister
	Org    string `placeholder:"ID" refers:"organization" help:"ID or unique name of the organization whose projects are listed."`
	Search string `placeholder:"TEXT" help:"Part of the name, or the ID, of the projects that are listed."`
}

// Run lists the projects.
func (c projectList) Run(ctx context.Context, s *streams) error {
	projects, err := fetchProjects(ctx, c.manager, c.Org, c.Search)
	if err != nil || c.structured() {
		return printItems(s, c.lister, projects, err, "rooms_ended", "secret_overlap_ends_at", "logo")
	}
	var rows [][]string
	for _, p := range projects {
		rows = append(rows, []string{p.ProjectId, p.Name, projectStatus(p), p.OrganizationId, formatTime(&p.CreatedAt)})
	}
	return printTable(s.out, []string{"PROJECT", "NAME", "STATUS", "ORGANIZATION", "CREATED"}, rows)
}

// fetchProjects reads the projects of an organization that a search finds. An empty ID means all
// organizations, and an empty search all projects.
func fetchProjects(ctx context.Context, m manager, organizationID, search string) ([]manage.Project, error) {
	query := queryOf(map[string]string{"organization_id": organizationID, "search": search})
	return fetchPages(ctx, m, "/projects", query, 0,
		func(p manage.ProjectList) ([]manage.Project, *string) { return p.Projects, p.NextCursor })
}

func projectStatus(p manage.Project) string {
	status := string(p.Status)
	switch {
	case p.DeletedAt != nil:
		status = "being deleted"
	case p.Suspended:
		status += ", suspended"
	}
	if p.Test {
		return "test, " + status
	}
	return status
}

type projectShow struct {
	manager
	ID string `arg:"" refers:"project" help:"ID or unique name of the project."`
}

// projectWithCallers is a project with the recent callers that signed with its secrets.
type projectWithCallers struct {
	manage.Project
	SecretCallers    *[]manage.KeyCaller `json:"secret_callers,omitempty"`
	OldSecretCallers *[]manage.KeyCaller `json:"old_secret_callers,omitempty"`
}

// Run prints the project, and as JSON also the callers with its secrets, which key list prints as text.
func (c projectShow) Run(ctx context.Context, s *streams) error {
	p, err := callManagement[manage.Project](ctx, c.manager, "GET", apiPath("/projects/%s", c.ID), nil)
	switch {
	case err != nil:
		return err
	case !c.JSON:
		return showProject(s, p)
	}
	list, err := fetchKeys(ctx, c.manager, c.ID)
	return s.printResult(projectWithCallers{
		Project:          p,
		SecretCallers:    list.SecretCallers,
		OldSecretCallers: list.OldSecretCallers,
	}, err)
}

func showProject(s *streams, p manage.Project) error {
	pairs := []string{"project", p.ProjectId, "name", p.Name, "organization",
		p.OrganizationId, "status", projectStatus(p),
		"suspended since", formatTime(p.SuspendedAt), "created", formatTime(&p.CreatedAt),
		"previous project secret works until", formatTime(p.SecretOverlapEndsAt)}
	logo := "-"
	if l := p.Logo; l != nil {
		logo = fmt.Sprintf("%dx%d %s", l.Width, l.Height, l.Path)
	}
	pairs = append(pairs, "logo", logo)
	settings := flattenFields(reflect.ValueOf(p.Settings))
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		pairs = append(pairs, name, formatValue(settings[name]))
	}
	return printFields(s.out, pairs...)
}

type projectSet struct {
	manager
	irreversible
	ID      string   `arg:"" refers:"project" help:"ID or unique name of the project."`
	Changes []string `arg:"" name:"name=value" help:"Changes of the name or of settings with the names that project show prints. Separate list items by commas; an empty value sets the default."`
}

// Run changes the project.
func (c projectSet) Run(ctx context.Context, s *streams) error {
	q, err := parseAssignments[manage.ProjectChanges](c.Changes)
	if err != nil {
		return err
	}
	deletes := false
	if _, sent := q["retention"]; sent || c.DryRun {
		p, err := callManagement[manage.Project](ctx, c.manager, "GET", apiPath("/projects/%s", c.ID), nil)
		if err != nil {
			return err
		}
		body, err := json.Marshal(q)
		if err == nil && c.DryRun {
			err = p.CheckChanges(body)
		}
		if err != nil {
			return err
		}
		if deletes, err = shortensRetention(p.Settings.Retention, body); err != nil {
			return err
		}
	}
	if ok, err := c.proceedIf(deletes, s, c.JSON, func() (string, error) {
		effect := fmt.Sprintf("set %s of project %s", strings.Join(c.Changes, " "), c.ID)
		if deletes {
			effect += ", and delete the data that is older within the hour"
		}
		return effect, nil
	}); !ok {
		return err
	}
	p, err := callManagement[manage.Project](ctx, c.manager, "PATCH", apiPath("/projects/%s", c.ID), q)
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	fmt.Fprint(s.out, "The changes are effective now. Existing rooms keep their empty timeout, features and locks.\n\n")
	return showProject(s, p)
}

// shortensRetention reports whether changes make one of the periods shorter than it is. 0 is the
// period of the server, which is the longest.
func shortensRetention(now manage.ProjectRetention, changes []byte) (bool, error) {
	var q manage.ProjectChanges
	if err := json.Unmarshal(changes, &q); err != nil || q.Retention == nil {
		return false, err
	}
	shorter := func(wanted *int, now int) bool { return wanted != nil && *wanted > 0 && (now == 0 || *wanted < now) }
	return shorter(q.Retention.RoomsDays, now.RoomsDays) || shorter(q.Retention.PeopleDays, now.PeopleDays) ||
		shorter(q.Retention.DeliveriesDays, now.DeliveriesDays) || shorter(q.Retention.CallsDays, now.CallsDays), nil
}

type projectLogo struct {
	manager
	irreversible
	ID     string `arg:"" refers:"project" help:"ID or unique name of the project."`
	File   string `arg:"" optional:"" help:"PNG, JPEG or WebP image of at most 64 KiB, between 16 and 1024 pixels wide and high."`
	Remove bool   `help:"Removal of the logo."`
}

// Run sets or removes the logo.
func (c projectLogo) Run(ctx context.Context, s *streams) error {
	if (c.File == "") != c.Remove {
		return usageError{fmt.Errorf("give either a file or --remove")}
	}
	var image []byte
	if !c.Remove {
		var err error
		if image, err = os.ReadFile(c.File); err != nil {
			return err
		}
	}
	if ok, err := c.proceedIf(c.Remove, s, c.JSON, func() (string, error) {
		if c.Remove {
			return "remove the logo of project " + c.ID, nil
		}
		if err := manage.CheckLogo(image); err != nil {
			return "", err
		}
		return fmt.Sprintf("show the image %s as the logo of project %s", c.File, c.ID), nil
	}); !ok {
		return err
	}
	method, done := "DELETE", "The project has no logo now."
	var body any
	if !c.Remove {
		method, body, done = "PUT", fileBody(image), "The pages before and after a room show the logo now."
	}
	p, err := callManagement[manage.Project](ctx, c.manager, method, apiPath("/projects/%s/logo", c.ID), body)
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	fmt.Fprint(s.out, done+"\n\n")
	return showProject(s, p)
}

type projectSuspend struct {
	manager
	irreversible
	ID       string `arg:"" refers:"project" help:"ID or unique name of the project."`
	EndRooms bool   `help:"Immediate end of the project's running rooms."`
}

// Run suspends the project.
func (c projectSuspend) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceedIf(c.EndRooms, s, c.JSON, func() (string, error) {
		return describeSuspension("project "+c.ID, "its", c.EndRooms), nil
	}); !ok {
		return err
	}
	p, err := callManagement[manage.Project](ctx, c.manager, "POST", apiPath("/projects/%s/suspend", c.ID),
		manage.Suspension{EndRooms: &c.EndRooms})
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	fmt.Fprintf(s.out, "Project %s %s has been suspended since %s: its calls and joins are refused.\n",
		p.ProjectId, quoteName(p.Name), formatTime(p.SuspendedAt))
	if !c.EndRooms {
		_, err = fmt.Fprintln(s.out, "Running rooms continue; use --end-rooms to end them now.")
		return err
	}
	ended := 0
	if p.RoomsEnded != nil {
		ended = *p.RoomsEnded
	}
	_, err = fmt.Fprintf(s.out, "Ended %s.\n", plural.Count(ended, "running room", "running rooms"))
	return err
}

// describeSuspension returns what a suspension does.
func describeSuspension(subject, whose string, endRooms bool) string {
	effect := fmt.Sprintf("suspend %s, so that %s calls and joins are refused until it is resumed", subject, whose)
	if endRooms {
		effect += ", and end the running rooms for good"
	}
	return effect
}

type projectResume struct {
	manager
	ID string `arg:"" refers:"project" help:"ID or unique name of the project."`
}

// Run ends the suspension.
func (c projectResume) Run(ctx context.Context, s *streams) error {
	p, err := callManagement[manage.Project](ctx, c.manager, "POST", apiPath("/projects/%s/resume", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	_, err = fmt.Fprintf(s.out, "Project %s %s is no longer suspended; its status is %s.\n",
		p.ProjectId, quoteName(p.Name), p.Status)
	return err
}

type projectDelete struct {
	manager
	irreversible
	ID string `arg:"" refers:"project" help:"ID or unique name of the project."`
}

// Run begins the deletion.
func (c projectDelete) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		p, err := callManagement[manage.Project](ctx, c.manager, "GET", apiPath("/projects/%s", c.ID), nil)
		if err == nil && !p.Suspended {
			err = errors.New("the project is not suspended: suspend it first, so that nobody uses it any more")
		}
		return fmt.Sprintf("delete project %s %s with everything that belongs to it", p.ProjectId, quoteName(p.Name)), err
	}); !ok {
		return err
	}
	p, err := callManagement[manage.Project](ctx, c.manager, "DELETE", apiPath("/projects/%s", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	_, err = fmt.Fprintf(s.out, "Project %s %s is being deleted: names of people at once, "+
		"rooms a day after their end, then the rest.\nAt the end, the audit log has the receipt: parley audit list "+
		"shows project.deleted with the counts.\n", p.ProjectId, quoteName(p.Name))
	return err
}
