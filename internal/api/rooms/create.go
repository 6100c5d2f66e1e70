package rooms

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
)

// CreateRoute is a route that makes rooms.
type CreateRoute struct {
	// AcceptAnyProjectID takes every text for a project_id, and answers 401 to one
	// that is no UUID; otherwise that is a 400.
	AcceptAnyProjectID bool
	// Read reads the fields, and names those that were sent and have no
	// effect. What is wrong with a field is noted in the object.
	Read func(o *httpx.Object) (q room.CreateRequest, ignored []string, err error)
	// Make makes the room.
	Create func(ctx context.Context, p project.Project, q room.CreateRequest) (room.Created, error)
	// Answer is the body of a success.
	Response func(c room.Created) any
}

// savedResponse is the answer to a creation, as it is kept for one with a key.
type savedResponse struct {
	Adjusted string          `json:"adjusted,omitempty"`
	Ignored  string          `json:"ignored,omitempty"`
	Body     json.RawMessage `json:"body"`
}

// Create answers a call that makes a room.
func (a *API) Create(w http.ResponseWriter, r *http.Request, c CreateRoute) {
	if err := a.create(w, r, c); err != nil {
		a.WriteError(w, r, err)
	}
}

func (a *API) create(w http.ResponseWriter, r *http.Request, c CreateRoute) error {
	body, err := httpx.ReadJSONBody(w, r)
	if err != nil {
		return err
	}
	o, err := httpx.ParseObject(body)
	if err != nil {
		return err
	}
	projectID, err := readProjectID(o, c.AcceptAnyProjectID)
	if err != nil {
		return err
	}
	p, err := a.Authenticate(r, projectID, body)
	if err != nil {
		return err
	}
	if err := p.AllowsJoins(); err != nil {
		return err
	}
	return a.ServeIdempotent(w, r, p, body, IdempotentCall{Response: c.Response, Read: func() (CreateFunc, []string, error) {
		q, ignored, err := c.Read(o)
		if err == nil {
			err = o.Err()
		}
		return func(ctx context.Context, once *room.IdempotencyKey) (room.Created, error) {
			q.IdempotencyKey = once
			return c.Create(ctx, p, q)
		}, ignored, err
	}})
}

// CreateFunc makes what was read; once is nil unless the call has an Idempotency-Key.
type CreateFunc func(ctx context.Context, once *room.IdempotencyKey) (room.Created, error)

// IdempotentCall is what a call makes, when it is known who makes it.
type IdempotentCall struct {
	// Read reads the fields, and names those that were sent and have no effect.
	Read func() (make CreateFunc, ignored []string, err error)
	// Answer is the body of a success.
	Response func(c room.Created) any
	// Signed identifies the signed request, which takes effect once even without
	// an Idempotency-Key; nil where the signature carries no time.
	ReplayKey *room.IdempotencyKey
}

// ServeIdempotent answers a call that makes something, or tells again what was made.
func (a *API) ServeIdempotent(w http.ResponseWriter, r *http.Request, p project.Project, body []byte, m IdempotentCall) error {
	t, err := a.runOnce(r, p, body, m)
	if err != nil {
		return err
	}
	if t.Adjusted != "" {
		w.Header().Set("X-Feature-Adjusted", t.Adjusted)
	}
	if t.Ignored != "" {
		w.Header().Set("X-Ignored-Fields", t.Ignored)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(t.Body, '\n'))
	return nil
}

func (a *API) runOnce(r *http.Request, p project.Project, body []byte, m IdempotentCall) (savedResponse, error) {
	keys, once := r.Header["Idempotency-Key"]
	if !once {
		return m.run(r.Context(), m.ReplayKey)
	}
	key := &room.IdempotencyKey{ProjectID: p.ID, Route: r.URL.Path, Key: keys[0], Body: body}
	kept, end, err := a.Rooms.BeginIdempotent(r.Context(), key)
	if err != nil {
		return savedResponse{}, err
	}
	defer end()
	if kept != nil {
		var t savedResponse
		return t, json.Unmarshal(kept, &t)
	}
	return m.run(r.Context(), key)
}

// run reads the fields and makes what they say. The answer of a creation with
// a key is made before the commit, to be kept in it.
func (m IdempotentCall) run(ctx context.Context, once *room.IdempotencyKey) (savedResponse, error) {
	work, ignored, err := m.Read()
	if err != nil {
		return savedResponse{}, err
	}
	var t savedResponse
	answer := func(created room.Created) (err error) {
		t = savedResponse{Adjusted: strings.Join(created.Adjusted, ", "), Ignored: strings.Join(ignored, ", ")}
		t.Body, err = json.Marshal(m.Response(created))
		return err
	}
	if once != nil {
		once.Render = func(created room.Created) ([]byte, error) {
			if err := answer(created); err != nil {
				return nil, err
			}
			return json.Marshal(t)
		}
	}
	created, err := work(ctx, once)
	if err == nil && once == nil {
		err = answer(created)
	}
	return t, err
}

// readProjectID reads the project a body names.
func readProjectID(o *httpx.Object, anyText bool) (string, error) {
	text := o.RequiredText("project_id")
	if err := o.Err(); err != nil {
		return "", err
	}
	id, ok := ParseUUID(text)
	if !ok && !anyText {
		return "", fault.Invalidf("project_id must be a UUID")
	}
	return id, nil
}

// ParseUUID returns the canonical form of a ParseUUID, and any other text as it is.
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
