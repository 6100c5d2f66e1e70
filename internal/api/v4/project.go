package v4

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/api/legacy"
	"parley/internal/fault"
	"parley/internal/project"
)

var errInvalidProjectIDQuery = fault.Invalidf("project_id in the query must be one UUID")

// UpdateProjectStatus implements ServerInterface.
func (s *Server) UpdateProjectStatus(w http.ResponseWriter, r *http.Request, _ UpdateProjectStatusParams) {
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
	// The generated code takes UUIDs in braces and without dashes too, which
	// bodies do not.
	sent := r.URL.Query()["project_id"]
	projectID, ok := legacy.ParseUUID(sent[0])
	if !ok || len(sent) > 1 {
		return ProjectStatusUpdated{}, errInvalidProjectIDQuery
	}
	p, err := s.api.Authenticate(r, projectID, body)
	if err != nil {
		return ProjectStatusUpdated{}, err
	}
	if err := p.Writable(); err != nil {
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
