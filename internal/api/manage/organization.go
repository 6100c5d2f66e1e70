package manage

import (
	"net/http"
	"slices"
	"strings"

	"parley/internal/fault"
	"parley/internal/project"
)

func (s *server) ListOrganizations(w http.ResponseWriter, r *http.Request) {
	all, err := s.projects.Organizations(r.Context())
	out := OrganizationList{Organizations: []Organization{}}
	for _, o := range all {
		out.Organizations = append(out.Organizations, organization(o))
	}
	writeResult(w, r, out, err)
}

func (s *server) CreateOrganization(w http.ResponseWriter, r *http.Request) {
	q, err := read[NewOrganization](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	o, err := s.projects.CreateOrganization(r.Context(), q.Name, project.Billing(q.Billing))
	writeResult(w, r, organization(o), err)
}

func (s *server) GetOrganization(w http.ResponseWriter, r *http.Request, id string) {
	o, err := s.projects.Organization(r.Context(), id)
	writeResult(w, r, organization(o), err)
}

func (s *server) ChangeOrganization(w http.ResponseWriter, r *http.Request, id string) {
	q, err := read[OrganizationChanges](w, r)
	if err == nil {
		err = s.checkPlan(valueOrEmpty(q.Plan))
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	o, err := s.projects.SetOrganization(r.Context(), id,
		project.OrganizationChanges{Name: q.Name, Plan: q.Plan, Currency: q.Currency, UnitPrice: q.UnitPrice})
	writeResult(w, r, organization(o), err)
}

// checkPlan returns an error for a plan that is not configured, because rooms
// would have the technical limits instead of the limits of the plan.
func (s *server) checkPlan(name string) error {
	known := s.plans.Names()
	switch {
	case name == "" || slices.Contains(known, name):
		return nil
	case len(known) == 0:
		return fault.Invalidf("plan must be empty because no plan provider is configured")
	}
	return fault.Invalidf("plan must be one of the configured plans (%s), not %q", strings.Join(known, ", "), name)
}

func organization(o project.Organization) Organization {
	return Organization{OrganizationId: o.ID, Name: o.Name, Billing: Billing(o.Billing), CreatedAt: o.CreatedAt,
		Plan: o.Plan, Currency: o.Currency, UnitPrice: o.UnitPrice}
}
