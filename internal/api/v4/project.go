package v4

import (
	"net/http"

	"parley/internal/api/web"
	"parley/internal/project"
)

// UpdateProjectStatus implements ServerInterface.
func (s *Server) UpdateProjectStatus(w http.ResponseWriter, r *http.Request, params UpdateProjectStatusParams) {
	updated, err := s.updateStatus(w, r, params.ProjectId.String())
	if err != nil {
		s.api.Refuse(w, r, err)
		return
	}
	web.JSON(w, http.StatusOK, updated)
}

func (s *Server) updateStatus(w http.ResponseWriter, r *http.Request, projectID string) (ProjectStatusUpdated, error) {
	body, err := web.Body(w, r)
	if err != nil {
		return ProjectStatusUpdated{}, err
	}
	p, err := s.api.Authenticate(r, projectID, body)
	if err != nil {
		return ProjectStatusUpdated{}, err
	}
	if err := p.Changeable(); err != nil {
		return ProjectStatusUpdated{}, err
	}
	o, err := web.Parse(body)
	if err != nil {
		return ProjectStatusUpdated{}, err
	}
	status := o.RequiredText("status")
	if err := o.Err(); err != nil {
		return ProjectStatusUpdated{}, err
	}
	if err := s.projects.SetStatus(r.Context(), projectID, project.Status(status)); err != nil {
		return ProjectStatusUpdated{}, err
	}
	return ProjectStatusUpdated{Message: "the project is now " + status, Status: ProjectStatus(status)}, nil
}
