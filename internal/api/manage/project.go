package manage

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/validate"
)

func (s *server) ListProjects(w http.ResponseWriter, r *http.Request) {
	out, err := s.listProjects(r)
	writeResult(w, r, out, err)
}

func (s *server) listProjects(r *http.Request) (ProjectList, error) {
	query, err := httpx.Query(r.URL.RawQuery, "organization_id", "project_ids", "search", "limit", "cursor")
	if err != nil {
		return ProjectList{}, err
	}
	if ids, sent := query["project_ids"]; sent {
		return s.namedProjects(r, query, strings.Split(ids, ","))
	}
	q := project.ListQuery{OrganizationID: query["organization_id"]}
	if q.After, q.Limit, err = parseOptionalPage(query); err != nil {
		return ProjectList{}, err
	}
	search, searched := query["search"]
	if searched {
		if err := project.CheckSearch(search); err != nil {
			return ProjectList{}, err
		}
	}
	var all []project.Project
	unread := ""
	switch c := caller(r); {
	case c.Role == operator.Integrator:
		all, err = s.callerProjects(r.Context(), c, q, search)
	case searched:
		all, unread, err = s.Projects.SearchProjects(r.Context(), search, q)
	default:
		all, err = s.Projects.Projects(r.Context(), q)
	}
	if err != nil {
		return ProjectList{}, err
	}
	page, next, err := limitPage(query, all, func(p project.Project) string { return p.ID })
	return newProjectList(page, cursorOf(next, unread)), err
}

// namedProjects returns the projects with some IDs, those of them that the caller may use.
func (s *server) namedProjects(r *http.Request, query map[string]string, ids []string) (ProjectList, error) {
	if len(query) > 1 {
		return ProjectList{}, fault.Invalidf("project_ids must be the only parameter")
	}
	if len(ids) > validate.MaxPage {
		return ProjectList{}, fault.Invalidf("project_ids must be at most %d IDs, not %d", validate.MaxPage, len(ids))
	}
	for i, text := range ids {
		id, ok := validate.ParseUUID(text)
		if !ok {
			return ProjectList{}, fault.Invalidf("project_ids must be IDs with a comma between them, not %q",
				validate.Truncate(text, 40))
		}
		ids[i] = id
	}
	c := caller(r)
	ids = slices.DeleteFunc(ids, func(id string) bool { return checkProject(c, id) != nil })
	found, err := s.Projects.ProjectsByID(r.Context(), ids)
	return newProjectList(found, nil), err
}

func newProjectList(page []project.Project, next *string) ProjectList {
	out := ProjectList{Projects: []Project{}, NextCursor: next}
	for _, p := range page {
		out.Projects = append(out.Projects, newProject(p))
	}
	return out
}

// callerProjects returns the projects of an integrator that a query selects and a text finds. An
// organization of which the integrator has no project is not found.
func (s *server) callerProjects(ctx context.Context, c operator.Caller, q project.ListQuery, search string) (
	all []project.Project, err error,
) {
	known := q.OrganizationID == ""
	for _, id := range slices.Sorted(slices.Values(c.ProjectIDs)) {
		if q.Limit > 0 && len(all) == q.Limit {
			break
		}
		p, err := s.Projects.Get(ctx, id)
		switch {
		case fault.Is(err, fault.NotFound): // it was deleted
		case err != nil:
			return nil, err
		case q.OrganizationID == "" || p.OrganizationID == q.OrganizationID:
			known = true
			if p.ID > q.After && (project.Name{ID: p.ID, Name: p.Name}).Matches(search) {
				all = append(all, p)
			}
		}
	}
	if !known {
		return nil, errOrganizationNotFound
	}
	return all, nil
}

var errOrganizationNotFound = fault.New(fault.NotFound, "organization_not_found", "there is no such organization")

func (s *server) CreateProject(w http.ResponseWriter, r *http.Request) {
	q, err := read[NewProject](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	p, issued, err := s.Keys.CreateProject(r.Context(), project.Draft{
		OrganizationID: q.OrganizationId,
		Name:           q.Name,
		Test:           httpx.OrZero(q.Test),
	})
	writeResult(w, r, NewProjectWithSecrets{
		ProjectId:      p.ID,
		OrganizationId: p.OrganizationID,
		Name:           p.Name,
		Test:           p.Test,
		Status:         ProjectStatus(p.Status),
		ProjectSecret:  issued.ProjectSecret.Reveal(),
		ApiKey:         issued.APIKey.Reveal(),
		GatewaySecret:  issued.GatewaySecret.Reveal(),
	}, err)
}

func (s *server) GetProject(w http.ResponseWriter, r *http.Request, id string) {
	p, err := s.loadProject(r, id)
	writeResult(w, r, p, err)
}

// loadProject reads a project with the end of its secret overlap and its logo.
func (s *server) loadProject(r *http.Request, id string) (Project, error) {
	p, err := s.Projects.Get(r.Context(), id)
	if err != nil {
		return Project{}, err
	}
	c, err := s.Keys.Credentials(r.Context(), id)
	if err != nil {
		return Project{}, err
	}
	logo, err := s.Projects.Logo(r.Context(), id)
	if err != nil {
		return Project{}, err
	}
	out := newProject(p)
	out.Logo = newProjectLogo(logo)
	out.SecretOverlapEndsAt = httpx.TimeOrNil(c.SecretOverlapEndsAt)
	return out, nil
}

func (s *server) ChangeProject(w http.ResponseWriter, r *http.Request, id string) {
	body, err := httpx.ReadJSONBody(w, r)
	var q ProjectChanges
	if err == nil {
		err = decode(body, &q)
	}
	if err == nil {
		_, err = s.Projects.Edit(r.Context(), id, newEdit(q, body))
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

// newEdit returns the change that a body describes. changes is the decoded body.
func newEdit(changes ProjectChanges, body []byte) project.Edit {
	return project.Edit{Name: changes.Name,
		Settings: func(dst *project.Settings) error { return patchSettings(dst, body) }}
}

// CheckChanges returns the error with which a server of this version refuses a change of the project because of its
// values. The body is that of changeProject. Errors: Invalid.
func (p Project) CheckChanges(body []byte) error {
	var changes ProjectChanges
	if err := decode(body, &changes); err != nil {
		return err
	}
	return newEdit(changes, body).Check(project.Project{Settings: p.Settings.toDomain()})
}

func (s *server) SuspendProject(w http.ResponseWriter, r *http.Request, id string) {
	q, err := readOptional[Suspension](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	r = uninterrupted(w, r)
	ended := 0
	err = s.Projects.Suspend(r.Context(), id)
	if err == nil && q.EndRooms != nil && *q.EndRooms {
		ended, err = s.Rooms.EndRunningRooms(r.Context(), id, room.EndedSuspended)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	p, err := s.loadProject(r, id)
	p.RoomsEnded = &ended
	writeResult(w, r, p, err)
}

func (s *server) ResumeProject(w http.ResponseWriter, r *http.Request, id string) {
	r = uninterrupted(w, r)
	if err := s.Projects.Resume(r.Context(), id); err != nil {
		writeError(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

func newProject(p project.Project) Project {
	return Project{
		ProjectId:      p.ID,
		OrganizationId: p.OrganizationID,
		Name:           p.Name,
		Test:           p.Test,
		Status:         ProjectStatus(p.Status),
		Suspended:      p.Suspended(),
		SuspendedAt:    httpx.TimeOrNil(p.SuspendedAt),
		DeletedAt:      httpx.TimeOrNil(p.DeletedAt),
		CreatedAt:      NewTime(p.CreatedAt),
		Settings:       newProjectSettings(p.Settings),
	}
}

// setIfPresent copies *src to *dst unless src is nil.
func setIfPresent[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}
