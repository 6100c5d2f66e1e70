package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"parley/internal/api/manage"
	"parley/internal/plural"
)

type orgCommands struct {
	Create orgCreate `cmd:"" help:"Create an organization."`
	List   orgList   `cmd:"" help:"List organizations."`
	Show   orgShow   `cmd:"" help:"Show an organization and its projects."`
	Set    orgSet    `cmd:"" help:"Change an organization."`

	Suspend orgSuspend `cmd:"" help:"Suspend an organization and all its projects."`
	Resume  orgResume  `cmd:"" help:"Resume an organization and its projects, except those suspended individually."`
	Delete  orgDelete  `cmd:"" help:"Delete an organization without projects, and its usage."`
}

type orgCreate struct {
	manager
	Name    string `required:"" help:"Name, 1 to 255 characters."`
	Billing string `required:"" enum:"plan,payg" help:"Billing model, plan or payg (pay as you go)."`
}

// Run creates the organization.
func (c orgCreate) Run(ctx context.Context, s *streams) error {
	o, err := callManagement[manage.Organization](ctx, c.manager, "POST", "/organizations",
		manage.NewOrganization{Name: c.Name, Billing: manage.Billing(c.Billing)})
	if err != nil || c.JSON {
		return s.printResult(o, err)
	}
	_, err = fmt.Fprintf(s.out, "Created organization %s %s, billing %s.\n",
		o.OrganizationId, quoteName(o.Name), o.Billing)
	return err
}

type orgList struct {
	lister
	Search string `placeholder:"TEXT" help:"Part of the name, or the ID, of the organizations that are listed."`
}

// Run lists the organizations.
func (c orgList) Run(ctx context.Context, s *streams) error {
	organizations, err := fetchOrganizations(ctx, c.manager, c.Search)
	if err != nil || c.structured() {
		return printItems(s, c.lister, organizations, err, "rooms_ended", "usage_hours", "compaction")
	}
	var rows [][]string
	for _, o := range organizations {
		rows = append(rows, []string{o.OrganizationId, o.Name, organizationStatus(o), string(o.Billing), o.Plan,
			strings.TrimSpace(o.UnitPrice + " " + o.Currency), formatTime(&o.CreatedAt)})
	}
	return printTable(s.out, []string{"ORGANIZATION", "NAME", "STATUS", "BILLING", "PLAN", "UNIT PRICE", "CREATED"}, rows)
}

func organizationStatus(o manage.Organization) string {
	if o.Suspended {
		return "suspended"
	}
	return "active"
}

// fetchOrganizations reads the organizations that a search finds, or all if it is empty.
func fetchOrganizations(ctx context.Context, m manager, search string) ([]manage.Organization, error) {
	return fetchPages(ctx, m, "/organizations", queryOf(map[string]string{"search": search}), 0,
		func(p manage.OrganizationList) ([]manage.Organization, *string) { return p.Organizations, p.NextCursor })
}

type orgSet struct {
	manager
	ID      string   `arg:"" refers:"organization" help:"ID or unique name of the organization."`
	Changes []string `arg:"" name:"name=value" help:"Changes of name, plan, currency or unit_price."`
}

// Run changes the organization.
func (c orgSet) Run(ctx context.Context, s *streams) error {
	q, err := parseAssignments[manage.OrganizationChanges](c.Changes)
	if err != nil {
		return err
	}
	o, err := callManagement[manage.Organization](ctx, c.manager, "PATCH", apiPath("/organizations/%s", c.ID), q)
	if err != nil || c.JSON {
		return s.printResult(o, err)
	}
	fmt.Fprintf(s.out, "Changed organization %s. New values:\n", o.OrganizationId)
	return printFields(s.out, "  name", o.Name, "  billing", string(o.Billing),
		"  plan", o.Plan, "  currency", o.Currency, "  unit price", o.UnitPrice)
}

type orgShow struct {
	manager
	ID string `arg:"" refers:"organization" help:"ID or unique name of the organization."`
}

// Run prints the organization, and its projects unless the output is JSON.
func (c orgShow) Run(ctx context.Context, s *streams) error {
	o, err := callManagement[manage.Organization](ctx, c.manager, "GET", apiPath("/organizations/%s", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(o, err)
	}
	if err := printFields(s.out, "organization", o.OrganizationId, "name", o.Name, "status", organizationStatus(o),
		"suspended since", formatTime(o.SuspendedAt), "billing", string(o.Billing), "plan", o.Plan,
		"unit price", strings.TrimSpace(o.UnitPrice+" "+o.Currency), "created", formatTime(&o.CreatedAt)); err != nil {
		return err
	}
	fmt.Fprintln(s.out)
	return projectList{lister: lister{manager: c.manager}, Org: c.ID}.Run(ctx, s)
}

type orgSuspend struct {
	manager
	irreversible
	ID       string `arg:"" refers:"organization" help:"ID or unique name of the organization."`
	EndRooms bool   `name:"end-rooms" help:"Immediate end of the running rooms of its projects."`
}

// Run suspends the organization.
func (c orgSuspend) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceedIf(c.EndRooms, s, c.JSON, func() (string, error) {
		return describeSuspension("organization "+c.ID+" and its projects", "their", c.EndRooms), nil
	}); !ok {
		return err
	}
	o, err := callManagement[manage.Organization](ctx, c.manager, "POST", apiPath("/organizations/%s/suspend", c.ID),
		manage.Suspension{EndRooms: &c.EndRooms})
	if err != nil || c.JSON {
		return s.printResult(o, err)
	}
	fmt.Fprintf(s.out, "Organization %s %s and its projects have been suspended since %s.\n", o.OrganizationId,
		quoteName(o.Name), formatTime(o.SuspendedAt))
	if c.EndRooms && o.RoomsEnded != nil {
		fmt.Fprintf(s.out, "Ended %s.\n", plural.Count(*o.RoomsEnded, "room", "rooms"))
	}
	return nil
}

type orgResume struct {
	manager
	ID string `arg:"" refers:"organization" help:"ID or unique name of the organization."`
}

// Run lifts the suspension.
func (c orgResume) Run(ctx context.Context, s *streams) error {
	o, err := callManagement[manage.Organization](ctx, c.manager, "POST", apiPath("/organizations/%s/resume", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(o, err)
	}
	_, err = fmt.Fprintf(s.out, "Organization %s %s is no longer suspended. "+
		"Projects that were suspended individually stay suspended.\n", o.OrganizationId, quoteName(o.Name))
	return err
}

type orgDelete struct {
	manager
	irreversible
	ID string `arg:"" refers:"organization" help:"ID or unique name of the organization."`
}

// Run deletes the organization.
func (c orgDelete) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		o, err := callManagement[manage.Organization](ctx, c.manager, "GET", apiPath("/organizations/%s", c.ID), nil)
		if err != nil {
			return "", err
		}
		projects, err := fetchProjects(ctx, c.manager, c.ID, "")
		if err == nil && len(projects) > 0 {
			err = fmt.Errorf("the organization has projects (%d): delete them first", len(projects))
		}
		return fmt.Sprintf("delete organization %s %s and its usage", o.OrganizationId, quoteName(o.Name)), err
	}); !ok {
		return err
	}
	o, err := callWithTimeout[manage.Organization](ctx, c.manager, "DELETE", apiPath("/organizations/%s", c.ID), nil, 0)
	if err != nil {
		return err
	}
	var failed error
	if o.Compaction != nil {
		failed = compactionError("the organization is deleted", *o.Compaction)
	}
	if c.JSON {
		return errors.Join(s.printResult(o, nil), failed)
	}
	fmt.Fprintf(s.out, "Deleted organization %s %s and its usage.\n", o.OrganizationId, quoteName(o.Name))
	if o.UsageHours != nil && o.Compaction != nil { // a server before this version sends neither
		if err := printFields(s.out, "  usage hours", strconv.Itoa(*o.UsageHours)); err != nil {
			return err
		}
		printCompaction(s.out, *o.Compaction)
	}
	return failed
}
