package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// ProjectStatus is the status of a project that its client sets.
type ProjectStatus string

// The values of ProjectStatus.
const (
	Active   ProjectStatus = "active"
	Inactive ProjectStatus = "inactive"
)

// ProjectStatusUpdate is the answer to UpdateProjectStatus.
type ProjectStatusUpdate struct {
	Message   string        `json:"message"`
	Status    ProjectStatus `json:"status"`
	RequestID string        `json:"-"`
}

// UpdateProjectStatus activates or deactivates the project. An inactive project
// accepts no new rooms and no new joins; running rooms continue. It fails with
// ErrForbidden for a suspended project.
func (c *Client) UpdateProjectStatus(ctx context.Context, status ProjectStatus) (*ProjectStatusUpdate, error) {
	key, err := c.credentials.bodyKey()
	if err != nil {
		return nil, err
	}
	body := struct {
		Status ProjectStatus `json:"status"`
	}{status}
	updated := new(ProjectStatusUpdate)
	header, err := c.sendJSON(ctx, &request{
		method:     http.MethodPut,
		target:     "/api/v4/projects/update_project_status?project_id=" + url.QueryEscape(c.credentials.ProjectID),
		bodyKey:    key,
		repeatable: true,
	}, body, updated)
	if err != nil {
		return nil, err
	}
	if updated.Status == "" {
		return nil, fmt.Errorf("%w: status is missing", ErrUnexpectedResponse)
	}
	updated.RequestID = requestID(header)
	return updated, nil
}
