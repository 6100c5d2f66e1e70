package v4

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/api/rooms"
	"parley/internal/fault"
	"parley/internal/project"
)

func (s *Server) UpdateProjectStatus(w http.ResponseWriter, r *http.Request) {
	updated, err := s.updateStatus(w, r)
	if err != nil {
		s.api.WriteError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, updated)
}

func (s *Server) updateStatus(w http.ResponseWriter, r *http.Request) (ProjectStatusUpdated, error) {
	body, err := httpx.ReadJSONBody(w, r)
	if err != nil {
		return ProjectStatusUpdated{}, err
	}
	projectID, err := queryProjectID(r)
	if err != nil {
		return ProjectStatusUpdated{}, err
	}
	p, err := s.api.AuthenticateProject(r, projectID, body)
	if err != nil {
		return ProjectStatusUpdated{}, err
	}
	if err := p.CheckNotSuspended(); err != nil {
		return ProjectStatusUpdated{}, err
	}
	o, err := httpx.ParseObject(body)
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

func queryProjectID(r *http.Request) (string, error) {
	values := r.URL.Query()["project_id"]
	if len(values) == 0 {
		return "", fault.Invalidf("project_id is required in the query")
	}
	id, ok := rooms.ParseUUID(values[0])
	if !ok || len(values) > 1 {
		return "", fault.Invalidf("project_id in the query must be one UUID")
	}
	return id, nil
}
