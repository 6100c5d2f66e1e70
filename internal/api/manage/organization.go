package manage

import (
	"net/http"

	"parley/internal/project"
)

// ListOrganizations implements ServerInterface.
func (s *operations) ListOrganizations(w http.ResponseWriter, r *http.Request) {
	all, err := s.projects.Organizations(r.Context())
	out := OrganizationList{Organizations: []Organization{}}
	for _, o := range all {
		out.Organizations = append(out.Organizations, organization(o))
	}
	answer(w, r, out, err)
}

// CreateOrganization implements ServerInterface.
func (s *operations) CreateOrganization(w http.ResponseWriter, r *http.Request) {
	q, err := read[NewOrganization](w, r)
	if err != nil {
		refuse(w, r, err)
		return
	}
	o, err := s.projects.CreateOrganization(r.Context(), q.Name, project.Billing(q.Billing))
	answer(w, r, organization(o), err)
}

// GetOrganization implements ServerInterface.
func (s *operations) GetOrganization(w http.ResponseWriter, r *http.Request, id OrganizationID) {
	o, err := s.projects.Organization(r.Context(), id)
	answer(w, r, organization(o), err)
}

// ChangeOrganization implements ServerInterface.
func (s *operations) ChangeOrganization(w http.ResponseWriter, r *http.Request, id OrganizationID) {
	q, err := read[OrganizationChanges](w, r)
	if err != nil {
		refuse(w, r, err)
		return
	}
	o, err := s.projects.SetOrganization(r.Context(), id, project.OrganizationChanges{Name: q.Name, Plan: q.Plan, Currency: q.Currency, UnitPrice: q.UnitPrice})
	answer(w, r, organization(o), err)
}

func organization(o project.Organization) Organization {
	return Organization{OrganizationId: o.ID, Name: o.Name, Billing: Billing(o.Billing), CreatedAt: o.CreatedAt,
		Plan: o.Plan, Currency: o.Currency, UnitPrice: o.UnitPrice}
}
