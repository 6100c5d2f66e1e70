package manage

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/webhook"
)

// access is the access to an operation: the roles that may call it. Owners may call every
// operation.
type access struct {
	public bool // callers without a credential may call the operation
	roles  []operator.Role
	// checkProject returns an error if the call of an integrator concerns a project that is not
	// theirs. The error is the same as for a project that does not exist. If checkProject is nil,
	// integrators may not call the operation.
	checkProject func(s *server, r *http.Request, c operator.Caller) error
}

var (
	public    = access{public: true}
	ownerOnly = access{}
	operators = access{roles: []operator.Role{operator.Operator}}
	readers   = access{roles: []operator.Role{operator.Operator, operator.Auditor}}
)

// anyone is the access of every role.
var anyone = readers.andIntegrators(inHandler)

// andIntegrators returns the access a, extended to integrators in their projects.
func (a access) andIntegrators(check func(s *server, r *http.Request, c operator.Caller) error) access {
	a.checkProject = check
	return a
}

// accessByRoute is the access to every operation. A test compares it with openapi.yaml, and
// calls each operation with each role.
var accessByRoute = map[string]access{
	"GET /organizations":                                readers,
	"POST /organizations":                               operators,
	"GET /organizations/{organization_id}":              readers,
	"PATCH /organizations/{organization_id}":            operators,
	"DELETE /organizations/{organization_id}":           ownerOnly,
	"POST /organizations/{organization_id}/suspend":     operators,
	"POST /organizations/{organization_id}/resume":      operators,
	"GET /projects":                                     readers.andIntegrators(inHandler),
	"POST /projects":                                    operators,
	"GET /projects/{project_id}":                        readers.andIntegrators(ofPath),
	"PATCH /projects/{project_id}":                      operators,
	"DELETE /projects/{project_id}":                     ownerOnly,
	"POST /projects/{project_id}/person-export":         operators,
	"POST /projects/{project_id}/person-erase":          operators,
	"PUT /projects/{project_id}/logo":                   operators,
	"DELETE /projects/{project_id}/logo":                operators,
	"POST /projects/{project_id}/suspend":               operators,
	"POST /projects/{project_id}/resume":                operators,
	"POST /projects/{project_id}/rotate-secret":         operators.andIntegrators(ofPath),
	"POST /projects/{project_id}/revoke-secret-overlap": operators.andIntegrators(ofPath),
	"GET /projects/{project_id}/keys":                   readers.andIntegrators(ofPath),
	"POST /projects/{project_id}/keys/rotate":           operators.andIntegrators(ofPath),
	"POST /projects/{project_id}/keys/revoke-overlap":   operators.andIntegrators(ofPath),
	"GET /rooms":                                   readers.andIntegrators(ofQuery),
	"GET /rooms/{room_id}":                         readers.andIntegrators(ofRoom),
	"POST /rooms/{room_id}/end":                    operators.andIntegrators(ofRoom),
	"GET /rooms/{room_id}/timeline":                readers.andIntegrators(ofRoom),
	"GET /rooms/{room_id}/people":                  readers.andIntegrators(ofRoom),
	"POST /projects/{project_id}/webhook-test":     operators.andIntegrators(ofPath),
	"POST /projects/{project_id}/webhook-pause":    operators.andIntegrators(ofPath),
	"POST /projects/{project_id}/webhook-resume":   operators.andIntegrators(ofPath),
	"GET /webhook-targets":                         readers.andIntegrators(ofQuery),
	"GET /webhooks":                                readers.andIntegrators(ofQuery),
	"GET /webhooks/{delivery_id}":                  readers.andIntegrators(ofDelivery),
	"POST /webhook-replays":                        operators.andIntegrators(inHandler),
	"POST /webhook-retries":                        operators.andIntegrators(inHandler),
	"GET /tokens":                                  readers,
	"POST /tokens":                                 ownerOnly,
	"POST /tokens/{token_id}/revoke":               ownerOnly,
	"POST /sign-in":                                public,
	"GET /sign-in-methods":                         public,
	"GET /caller":                                  anyone,
	"POST /sign-out":                               anyone,
	"POST /sign-in-links":                          operators, // CreateSignInLink allows them less than owners
	"POST /connection-checks":                      operators,
	"GET /connection-checks/{check_id}":            readers,
	"GET /sessions":                                readers,
	"POST /sessions/{session_id}/revoke":           operators, // RevokeSession allows them less than owners
	"GET /users":                                   readers,
	"POST /users":                                  ownerOnly,
	"PATCH /users/{user_id}":                       ownerOnly,
	"DELETE /users/{user_id}":                      ownerOnly,
	"GET /usage":                                   readers.andIntegrators(ofQuery),
	"POST /usage/rebuild":                          operators,
	"GET /calls":                                   readers.andIntegrators(ofQuery),
	"GET /rejected-calls":                          readers,
	"GET /audit":                                   readers,
	"GET /audit/verify":                            readers,
	"POST /backups":                                ownerOnly,
	"GET /overview":                                readers.andIntegrators(ofQuery),
	"GET /nodes":                                   readers,
	"POST /nodes/{node}/drain":                     operators,
	"POST /nodes/{node}/cancel-drain":              operators,
	"GET /settings":                                readers,
	"POST /projects/{project_id}/signature-checks": readers.andIntegrators(ofPath),
	"GET /stream":                                  readers.andIntegrators(inHandler),
	"POST /rooms/{room_id}/remove-person":          operators.andIntegrators(ofRoom),
}

// authorize wraps the handler of a route, such as "GET /rooms", in the check of the caller's
// role and project.
func (s *server) authorize(route string, handler http.HandlerFunc) http.HandlerFunc {
	a, known := accessByRoute[route]
	if !known {
		panic("manage: no access is declared for " + route)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.checkAccess(a, r); err != nil {
			writeError(w, r, err)
			return
		}
		handler(w, r)
	}
}

func (s *server) checkAccess(a access, r *http.Request) error {
	c := caller(r)
	switch {
	case a.public || c.Role == operator.Owner || slices.Contains(a.roles, c.Role):
		return nil
	case c.Role == operator.Integrator && a.checkProject != nil:
		return a.checkProject(s, r, c)
	case r.PathValue("token_id") == c.ID && c.SessionID == "": // a token may revoke itself
		return nil
	}
	wanted := operator.Owner
	if len(a.roles) > 0 {
		wanted = a.roles[len(a.roles)-1] // the role with the fewest rights
	}
	return errRole(c, wanted)
}

// errRole returns the error for a caller whose role does not allow the operation.
func errRole(c operator.Caller, wanted operator.Role) error {
	switch c.Kind {
	case operator.ByLink:
		return fault.New(fault.Forbidden, "role_not_allowed", "a sign-in link with the role %s cannot do this: "+
			"ask an owner for a link with the role %s", c.Role, wanted)
	case operator.ByUser:
		return fault.New(fault.Forbidden, "role_not_allowed", "a user with the role %s cannot do this: "+
			"an owner can give you the role %s with parley user change %s --role %[2]s", c.Role, wanted, c.ID)
	}
	return fault.New(fault.Forbidden, "role_not_allowed", "a token with the role %s cannot do this: "+
		"use one with the role %s, which an owner creates with parley token create --role %[2]s", c.Role, wanted)
}

// ofPath checks the project in the path.
func ofPath(_ *server, r *http.Request, c operator.Caller) error {
	return useProject(r, c, r.PathValue("project_id"))
}

// checkProject returns NotFound if the caller is restricted to other projects.
func checkProject(c operator.Caller, projectID string) error {
	if c.Role == operator.Integrator && !slices.Contains(c.ProjectIDs, projectID) {
		return project.ErrNotFound
	}
	return nil
}

// useProject is checkProject for the project that the call concerns. If the caller is an integrator, the call is
// recorded in the log of that project.
func useProject(r *http.Request, c operator.Caller, projectID string) error {
	if err := checkProject(c, projectID); err != nil {
		return err
	}
	if c.Role == operator.Integrator {
		httpx.FromContext(r.Context()).Caller.ProjectID = projectID
	}
	return nil
}

// ofQuery checks the parameter project_id. If an integrator with one project leaves it out,
// ofQuery adds the project to the query.
func ofQuery(_ *server, r *http.Request, c operator.Caller) error {
	query, err := httpx.Query(r.URL.RawQuery, "project_id") // as the handlers read it
	if err != nil {
		return err
	}
	if id, sent := query["project_id"]; sent {
		return useProject(r, c, id)
	}
	if len(c.ProjectIDs) != 1 {
		return fault.Invalidf("project_id is required in the query, because you may use several projects")
	}
	r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&project_id="+url.QueryEscape(c.ProjectIDs[0]), "&")
	return useProject(r, c, c.ProjectIDs[0])
}

// ofRoom checks the project of the room in the path.
func ofRoom(s *server, r *http.Request, c operator.Caller) error {
	found, err := s.Rooms.GetSummary(r.Context(), r.PathValue("room_id"))
	if err == nil && useProject(r, c, found.ProjectID) != nil {
		return room.ErrNotFound
	}
	return err
}

// ofDelivery checks the project of the delivery in the path.
func ofDelivery(s *server, r *http.Request, c operator.Caller) error {
	found, _, err := s.Webhooks.Show(r.Context(), r.PathValue("delivery_id"))
	if err == nil && useProject(r, c, found.ProjectID) != nil {
		return webhook.ErrNotFound
	}
	return err
}

// inHandler leaves the check to the handler, because the project is in the body or the
// result is filtered.
func inHandler(*server, *http.Request, operator.Caller) error { return nil }

// bodyProject returns the project that a body names. If the body names none, it returns the
// project of an integrator with one project. Errors: Invalid, and NotFound if the caller may
// not use the project.
func bodyProject(r *http.Request, named string) (string, error) {
	c := caller(r)
	if c.Role != operator.Integrator {
		return named, nil
	}
	if len(c.ProjectIDs) == 1 {
		named = cmp.Or(named, c.ProjectIDs[0])
	}
	if named == "" {
		return "", fault.Invalidf("project_id is required, because you may use several projects")
	}
	return named, useProject(r, c, named)
}
