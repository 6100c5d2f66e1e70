package rooms

import (
	"net/http"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
)

// Call is an authenticated call.
type Call struct {
	Request *http.Request
	Project project.Project
	Fields  *httpx.Object // of the body; nil for GET
	// IdempotencyKey makes the call take effect once: the header of that name, or
	// a signature that contains the time. Nil if the call has neither.
	IdempotencyKey *room.IdempotencyKey

	w          http.ResponseWriter
	body       []byte
	bodySigned bool // signed over the body alone, as older clients do
}

// AuthenticateCreation reads a call that creates a room, and checks its
// signature, its rate limit and that the project may create rooms. A project_id
// that is not a UUID is an invalid field; with anyProjectID it is an unknown project,
// which is a 401.
func (a *API) AuthenticateCreation(w http.ResponseWriter, r *http.Request, anyProjectID bool) (*Call, error) {
	body, err := httpx.ReadJSONBody(w, r)
	if err != nil {
		return nil, err
	}
	fields, err := httpx.ParseObject(body)
	if err != nil {
		return nil, err
	}
	projectID, err := readProjectID(fields, anyProjectID)
	if err != nil {
		return nil, err
	}
	p, err := a.Authenticate(r, projectID, body)
	if err != nil {
		return nil, err
	}
	if err := p.AllowsJoins(); err != nil {
		return nil, err
	}
	c := &Call{Request: r, Project: p, Fields: fields, w: w, body: body}
	c.readIdempotencyKey()
	return c, nil
}

// readIdempotencyKey uses the header Idempotency-Key, if it was sent, instead of the
// signature.
func (c *Call) readIdempotencyKey() {
	if values, sent := c.Request.Header["Idempotency-Key"]; sent {
		c.IdempotencyKey = &room.IdempotencyKey{ProjectID: c.Project.ID, Route: c.Request.URL.Path, Key: values[0],
			Body: c.body}
	}
}

// WriteCreated writes the response to a call that created something. The headers
// name the features that were lowered to what the plan allows, and the fields
// that have no effect.
func (c *Call) WriteCreated(response any, adjusted []string, ignored IgnoredFields) error {
	if len(adjusted) > 0 {
		c.w.Header().Set("X-Feature-Adjusted", strings.Join(adjusted, ", "))
	}
	if len(ignored) > 0 {
		c.w.Header().Set("X-Ignored-Fields", strings.Join(ignored, ", "))
	}
	httpx.WriteJSON(c.w, http.StatusOK, response)
	return nil
}

// readProjectID reads the project that a body names.
func readProjectID(fields *httpx.Object, anyProjectID bool) (string, error) {
	text := fields.RequiredText("project_id")
	if err := fields.Err(); err != nil {
		return "", err
	}
	id, ok := ParseUUID(text)
	if !ok && !anyProjectID {
		return "", fault.Invalidf("project_id must be a UUID")
	}
	return id, nil
}

// ParseUUID returns the canonical form of a UUID, and any other text unchanged.
func ParseUUID(text string) (canonical string, ok bool) {
	if len(text) != 36 {
		return text, false
	}
	for i := range len(text) {
		c := text[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
		if dash != (c == '-') || !dash && !hex {
			return text, false
		}
	}
	return strings.ToLower(text), true
}
