package manage

import (
	"net/http"
	"time"

	"parley/internal/api/web"
	"parley/internal/project"
	"parley/internal/room"
)

// ListProjects implements ServerInterface.
func (s *operations) ListProjects(w http.ResponseWriter, r *http.Request, params ListProjectsParams) {
	all, err := s.projects.Projects(r.Context(), text(params.OrganizationId))
	out := ProjectList{Projects: []Project{}}
	for _, p := range all {
		out.Projects = append(out.Projects, wire(p))
	}
	answer(w, r, out, err)
}

// CreateProject implements ServerInterface.
func (s *operations) CreateProject(w http.ResponseWriter, r *http.Request) {
	q, err := read[NewProject](w, r)
	if err != nil {
		refuse(w, r, err)
		return
	}
	p, issued, err := s.keys.CreateProject(r.Context(), q.OrganizationId, q.Name)
	answer(w, r, NewProjectWithSecrets{ProjectId: p.ID, OrganizationId: p.OrganizationID, Name: p.Name, Status: ProjectStatus(p.Status),
		ProjectSecret: issued.ProjectSecret.Reveal(), ApiKey: issued.APIKey.Reveal(), GatewaySecret: issued.GatewaySecret.Reveal()}, err)
}

// GetProject implements ServerInterface.
func (s *operations) GetProject(w http.ResponseWriter, r *http.Request, id ProjectID) {
	p, err := s.show(r, id)
	answer(w, r, p, err)
}

func (s *operations) show(r *http.Request, id string) (Project, error) {
	p, err := s.projects.Get(r.Context(), id)
	if err != nil {
		return Project{}, err
	}
	c, err := s.keys.Credentials(r.Context(), id)
	if err != nil {
		return Project{}, err
	}
	out := wire(p)
	out.SecretOverlapEndsAt = moment(c.SecretOverlapEndsAt)
	return out, nil
}

// ChangeProject implements ServerInterface.
func (s *operations) ChangeProject(w http.ResponseWriter, r *http.Request, id ProjectID) {
	body, err := web.Body(w, r)
	var q ProjectChanges
	if err == nil {
		err = decode(body, &q)
	}
	if err == nil {
		_, err = s.projects.Edit(r.Context(), id, project.Edit{Name: q.Name, Settings: func(to *project.Settings) error { return patch(to, body) }})
	}
	if err != nil {
		refuse(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

// SuspendProject implements ServerInterface.
func (s *operations) SuspendProject(w http.ResponseWriter, r *http.Request, id ProjectID) {
	q, err := readIfAny[Suspension](w, r)
	if err == nil {
		err = s.projects.Suspend(r.Context(), id)
	}
	ended := 0
	if err == nil && q.EndRooms != nil && *q.EndRooms {
		ended, err = s.rooms.EndRunning(r.Context(), id, room.EndedSuspended)
	}
	if err != nil {
		refuse(w, r, err)
		return
	}
	p, err := s.show(r, id)
	p.RoomsEnded = &ended
	answer(w, r, p, err)
}

// ResumeProject implements ServerInterface.
func (s *operations) ResumeProject(w http.ResponseWriter, r *http.Request, id ProjectID) {
	if err := s.projects.Resume(r.Context(), id); err != nil {
		refuse(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

func wire(p project.Project) Project {
	return Project{ProjectId: p.ID, OrganizationId: p.OrganizationID, Name: p.Name, Status: ProjectStatus(p.Status),
		Suspended: p.Suspended(), SuspendedAt: moment(p.SuspendedAt), CreatedAt: p.CreatedAt,
		Settings: settings(p.Settings)}
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// moment is nil for a moment that has not come.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
