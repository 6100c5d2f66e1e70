package manage

import (
	"net/http"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/project"
	"parley/internal/room"
)

func (s *server) ListProjects(w http.ResponseWriter, r *http.Request) {
	query, err := httpx.Query(r.URL.RawQuery, "organization_id")
	if err != nil {
		writeError(w, r, err)
		return
	}
	all, err := s.projects.Projects(r.Context(), query["organization_id"])
	out := ProjectList{Projects: []Project{}}
	for _, p := range all {
		out.Projects = append(out.Projects, newProject(p))
	}
	writeResult(w, r, out, err)
}

func (s *server) CreateProject(w http.ResponseWriter, r *http.Request) {
	q, err := read[NewProject](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	p, issued, err := s.keys.CreateProject(r.Context(), q.OrganizationId, q.Name)
	writeResult(w, r, NewProjectWithSecrets{ProjectId: p.ID, OrganizationId: p.OrganizationID, Name: p.Name,
		Status:        ProjectStatus(p.Status),
		ProjectSecret: issued.ProjectSecret.Reveal(), ApiKey: issued.APIKey.Reveal(),
		GatewaySecret: issued.GatewaySecret.Reveal()}, err)
}

func (s *server) GetProject(w http.ResponseWriter, r *http.Request, id string) {
	p, err := s.loadProject(r, id)
	writeResult(w, r, p, err)
}

// loadProject reads a project with the end of its secret overlap and its logo.
func (s *server) loadProject(r *http.Request, id string) (Project, error) {
	p, err := s.projects.Get(r.Context(), id)
	if err != nil {
		return Project{}, err
	}
	c, err := s.keys.Credentials(r.Context(), id)
	if err != nil {
		return Project{}, err
	}
	logo, err := s.projects.Logo(r.Context(), id)
	if err != nil {
		return Project{}, err
	}
	out := newProject(p)
	out.Logo = newProjectLogo(logo)
	out.SecretOverlapEndsAt = timeOrNil(c.SecretOverlapEndsAt)
	return out, nil
}

func (s *server) ChangeProject(w http.ResponseWriter, r *http.Request, id string) {
	body, err := httpx.ReadJSONBody(w, r)
	var q ProjectChanges
	if err == nil {
		err = decode(body, &q)
	}
	if err == nil {
		_, err = s.projects.Edit(r.Context(), id, project.Edit{Name: q.Name,
			Settings: func(dst *project.Settings) error { return patchSettings(dst, body) }})
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

func (s *server) SuspendProject(w http.ResponseWriter, r *http.Request, id string) {
	q, err := readOptional[Suspension](w, r)
	if err == nil {
		err = s.projects.Suspend(r.Context(), id)
	}
	ended := 0
	if err == nil && q.EndRooms != nil && *q.EndRooms {
		ended, err = s.rooms.EndRunningRooms(r.Context(), id, room.EndedSuspended)
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
	if err := s.projects.Resume(r.Context(), id); err != nil {
		writeError(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

func newProject(p project.Project) Project {
	return Project{ProjectId: p.ID, OrganizationId: p.OrganizationID, Name: p.Name, Status: ProjectStatus(p.Status),
		Suspended: p.Suspended(), SuspendedAt: timeOrNil(p.SuspendedAt), CreatedAt: p.CreatedAt,
		Settings: newProjectSettings(p.Settings)}
}

// setIfPresent copies *src to *dst unless src is nil.
func setIfPresent[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

// valueOrEmpty returns the empty string for nil.
func valueOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// timeOrNil returns the time in UTC, or nil for the zero time.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
