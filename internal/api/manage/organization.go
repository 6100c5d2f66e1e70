package manage

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
)

func (s *server) ListOrganizations(w http.ResponseWriter, r *http.Request) {
	out, err := s.listOrganizations(r)
	writeResult(w, r, out, err)
}

func (s *server) listOrganizations(r *http.Request) (OrganizationList, error) {
	query, err := httpx.Query(r.URL.RawQuery, "search", "limit", "cursor")
	if err != nil {
		return OrganizationList{}, err
	}
	after, limit, err := parseOptionalPage(query)
	if err != nil {
		return OrganizationList{}, err
	}
	var all []project.Organization
	unread := ""
	if search, sent := query["search"]; sent {
		all, unread, err = s.Projects.SearchOrganizations(r.Context(), search, after, limit)
	} else {
		all, err = s.Projects.Organizations(r.Context(), after, limit)
	}
	if err != nil {
		return OrganizationList{}, err
	}
	out := OrganizationList{Organizations: []Organization{}}
	page, next, err := limitPage(query, all, func(o project.Organization) string { return o.ID })
	for _, o := range page {
		out.Organizations = append(out.Organizations, newOrganization(o))
	}
	out.NextCursor = cursorOf(next, unread)
	return out, err
}

func (s *server) CreateOrganization(w http.ResponseWriter, r *http.Request) {
	q, err := read[NewOrganization](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	o, err := s.Projects.CreateOrganization(r.Context(), q.Name, project.Billing(q.Billing))
	writeResult(w, r, newOrganization(o), err)
}

func (s *server) GetOrganization(w http.ResponseWriter, r *http.Request, id string) {
	o, err := s.Projects.Organization(r.Context(), id)
	writeResult(w, r, newOrganization(o), err)
}

func (s *server) ChangeOrganization(w http.ResponseWriter, r *http.Request, id string) {
	q, err := read[OrganizationChanges](w, r)
	if err == nil {
		err = s.checkPlan(httpx.OrZero(q.Plan))
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	o, err := s.Projects.SetOrganization(r.Context(), id,
		project.OrganizationChanges{Name: q.Name, Plan: q.Plan, Currency: q.Currency, UnitPrice: q.UnitPrice})
	writeResult(w, r, newOrganization(o), err)
}

// checkPlan returns an error for a plan that is not configured, because rooms
// would have the technical limits instead of the limits of the plan.
func (s *server) checkPlan(name string) error {
	known := s.Plans.Names()
	switch {
	case name == "" || slices.Contains(known, name):
		return nil
	case len(known) == 0:
		return fault.Invalidf("plan must be empty because no plan provider is configured")
	}
	return fault.Invalidf("plan must be one of the configured plans (%s), not %q", strings.Join(known, ", "), name)
}

func (s *server) SuspendOrganization(w http.ResponseWriter, r *http.Request, id string) {
	q, err := readOptional[Suspension](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	r = uninterrupted(w, r)
	o, err := s.Projects.SuspendOrganization(r.Context(), id)
	out := newOrganization(o)
	if err == nil {
		ended := 0
		if q.EndRooms != nil && *q.EndRooms {
			ended, err = s.endRoomsOf(r.Context(), id)
		}
		out.RoomsEnded = &ended
	}
	writeResult(w, r, out, err)
}

// endRoomsOf ends the running rooms of all projects of an organization and returns their
// number.
func (s *server) endRoomsOf(ctx context.Context, organizationID string) (ended int, err error) {
	projects, err := s.Projects.Projects(ctx, project.ListQuery{OrganizationID: organizationID})
	if err != nil {
		return 0, err
	}
	for _, p := range projects {
		n, err := s.Rooms.EndRunningRooms(ctx, p.ID, room.EndedSuspended)
		ended += n
		if err != nil {
			return ended, err
		}
	}
	return ended, nil
}

func (s *server) ResumeOrganization(w http.ResponseWriter, r *http.Request, id string) {
	r = uninterrupted(w, r)
	o, err := s.Projects.ResumeOrganization(r.Context(), id)
	writeResult(w, r, newOrganization(o), err)
}

func newOrganization(o project.Organization) Organization {
	return Organization{
		OrganizationId: o.ID,
		Name:           o.Name,
		Billing:        Billing(o.Billing),
		CreatedAt:      NewTime(o.CreatedAt),
		Plan:           o.Plan,
		Currency:       o.Currency,
		UnitPrice:      o.UnitPrice,
		Suspended:      o.Suspended(),
		SuspendedAt:    httpx.TimeOrNil(o.SuspendedAt),
	}
}
