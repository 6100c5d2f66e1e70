package cli

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"

	"parley/internal/api/manage"
)

type projectCommands struct {
	Create              projectCreate       `cmd:"" help:"Create a project with its keys."`
	List                projectList         `cmd:"" help:"List projects."`
	Show                projectShow         `cmd:"" help:"Show a project."`
	Set                 projectSet          `cmd:"" help:"Change a project's name and settings."`
	Suspend             projectSuspend      `cmd:"" help:"Refuse a project's writes and joins until it is resumed."`
	Resume              projectResume       `cmd:"" help:"Lift a suspension."`
	RotateSecret        projectRotateSecret `cmd:"" help:"Make a new project secret."`
	RevokeSecretOverlap projectRevoke       `cmd:"" help:"End the overlap of project secrets now."`
}

type projectCreate struct {
	manager
	Org  string `required:"" placeholder:"ID" help:"The organization that owns it."`
	Name string `required:"" help:"1 to 255 characters."`
}

// Run implements the command.
func (c projectCreate) Run(ctx context.Context, s *streams) error {
	p, err := callManagement[manage.NewProjectWithSecrets](ctx, c.manager, "POST", "/projects", manage.NewProject{OrganizationId: c.Org, Name: c.Name})
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	fmt.Fprintf(s.out, "Created project %s %s in organization %s.\n\n", p.ProjectId, quoteName(p.Name), p.OrganizationId)
	if err := printFields(s.out, "  project secret", p.ProjectSecret, "  API key", p.ApiKey, "  Gateway secret", p.GatewaySecret); err != nil {
		return err
	}
	_, err = fmt.Fprint(s.out, "\nThey are shown here and never again: keep them now.\n")
	return err
}

type projectList struct {
	manager
	Org string `placeholder:"ID" help:"Only those of this organization."`
}

// Run implements the command.
func (c projectList) Run(ctx context.Context, s *streams) error {
	query := ""
	if c.Org != "" {
		query = "?" + url.Values{"organization_id": {c.Org}}.Encode()
	}
	list, err := callManagement[manage.ProjectList](ctx, c.manager, "GET", "/projects"+query, nil)
	if err != nil || c.JSON {
		return s.printResult(list.Projects, err)
	}
	var rows [][]string
	for _, p := range list.Projects {
		rows = append(rows, []string{p.ProjectId, p.Name, projectStatus(p), p.OrganizationId, formatTime(&p.CreatedAt)})
	}
	return printTable(s.out, []string{"PROJECT", "NAME", "STATUS", "ORGANIZATION", "CREATED"}, rows)
}

func projectStatus(p manage.Project) string {
	if p.Suspended {
		return string(p.Status) + ", suspended"
	}
	return string(p.Status)
}

type projectShow struct {
	manager
	ID string `arg:"" help:"The project."`
}

// Run implements the command.
func (c projectShow) Run(ctx context.Context, s *streams) error {
	p, err := callManagement[manage.Project](ctx, c.manager, "GET", apiPath("/projects/%s", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	return showProject(s, p)
}

func showProject(s *streams, p manage.Project) error {
	pairs := []string{"project", p.ProjectId, "name", p.Name, "organization", p.OrganizationId, "status", projectStatus(p),
		"suspended since", formatTime(p.SuspendedAt), "created", formatTime(&p.CreatedAt), "earlier project secret works until", formatTime(p.SecretOverlapEndsAt)}
	settings := flattenFields(reflect.ValueOf(p.Settings))
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		pairs = append(pairs, name, formatValue(settings[name]))
	}
	return printFields(s.out, pairs...)
}

type projectSet struct {
	manager
	ID      string   `arg:"" help:"The project."`
	Changes []string `arg:"" name:"name=value" help:"What to change: the name, or a setting as project show names it. Lists have commas; nothing after the = is the default."`
}

// Run implements the command.
func (c projectSet) Run(ctx context.Context, s *streams) error {
	q, err := parseAssignments[manage.ProjectChanges](c.Changes)
	if err != nil {
		return err
	}
	p, err := callManagement[manage.Project](ctx, c.manager, "PATCH", apiPath("/projects/%s", c.ID), q)
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	fmt.Fprint(s.out, "Changed, and in force now. Rooms that exist keep their empty timeout, features and locks.\n\n")
	return showProject(s, p)
}

type projectSuspend struct {
	manager
	ID       string `arg:"" help:"The project."`
	EndRooms bool   `help:"End its running rooms now."`
}

// Run implements the command.
func (c projectSuspend) Run(ctx context.Context, s *streams) error {
	p, err := callManagement[manage.Project](ctx, c.manager, "POST", apiPath("/projects/%s/suspend", c.ID), manage.Suspension{EndRooms: &c.EndRooms})
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	fmt.Fprintf(s.out, "Project %s %s is suspended since %s: its calls and joins are refused.\n", p.ProjectId, quoteName(p.Name), formatTime(p.SuspendedAt))
	if !c.EndRooms {
		_, err = fmt.Fprintln(s.out, "Running rooms go on to their end; --end-rooms ends them now.")
		return err
	}
	ended := 0
	if p.RoomsEnded != nil {
		ended = *p.RoomsEnded
	}
	_, err = fmt.Fprintf(s.out, "%s ended.\n", pluralize(ended, "running room was", "running rooms were"))
	return err
}

type projectResume struct {
	manager
	ID string `arg:"" help:"The project."`
}

// Run implements the command.
func (c projectResume) Run(ctx context.Context, s *streams) error {
	p, err := callManagement[manage.Project](ctx, c.manager, "POST", apiPath("/projects/%s/resume", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(p, err)
	}
	_, err = fmt.Fprintf(s.out, "Project %s %s is not suspended; its status is %s.\n", p.ProjectId, quoteName(p.Name), p.Status)
	return err
}
