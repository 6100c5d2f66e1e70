package cli

import (
	"context"
	"fmt"
	"strings"

	"parley/internal/api/manage"
)

type orgCommands struct {
	Create orgCreate `cmd:"" help:"Create an organization."`
	List   orgList   `cmd:"" help:"List organizations."`
	Set    orgSet    `cmd:"" help:"Change an organization."`
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

type orgList struct{ manager }

// Run lists the organizations.
func (c orgList) Run(ctx context.Context, s *streams) error {
	list, err := callManagement[manage.OrganizationList](ctx, c.manager, "GET", "/organizations", nil)
	if err != nil || c.JSON {
		return s.printResult(list.Organizations, err)
	}
	var rows [][]string
	for _, o := range list.Organizations {
		rows = append(rows, []string{o.OrganizationId, o.Name, string(o.Billing), o.Plan,
			strings.TrimSpace(o.UnitPrice + " " + o.Currency), formatTime(&o.CreatedAt)})
	}
	return printTable(s.out, []string{"ORGANIZATION", "NAME", "BILLING", "PLAN", "UNIT PRICE", "CREATED"}, rows)
}

type orgSet struct {
	manager
	ID      string   `arg:"" help:"ID of the organization."`
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
