package v4

import (
	"net/http"

	"parley/internal/api/roomapi"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// statusRoute sets the status of the project that the query names.
func (s *server) statusRoute() roomapi.Route {
	return roomapi.Route{
		Method: http.MethodPut,
		Path:   "/projects/update_project_status",
		Auth:   roomapi.ProjectAuth(queryProjectID),
		Effect: roomapi.Sets,
		Handle: s.updateStatus,
	}
}

func (s *server) updateStatus(c *roomapi.Call) error {
	status := c.Fields.RequiredText("status")
	if err := c.Fields.Err(); err != nil {
		return err
	}
	if err := s.projects.SetStatus(c.Request.Context(), c.Project.ID, project.Status(status)); err != nil {
		return err
	}
	c.WriteResult(ProjectStatusUpdated{Message: "the project is now " + status, Status: ProjectStatus(status)}, nil, nil)
	return nil
}

func queryProjectID(c *roomapi.Call) (string, error) {
	values := c.Request.URL.Query()["project_id"]
	if len(values) == 0 {
		return "", fault.Invalidf("project_id is required in the query")
	}
	id, ok := validate.ParseUUID(values[0])
	if !ok || len(values) > 1 {
		return "", fault.Invalidf("project_id in the query must be one UUID")
	}
	return id, nil
}
