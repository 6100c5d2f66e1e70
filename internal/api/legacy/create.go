package legacy

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"parley/internal/api/web"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
)

// Creation is a route that makes rooms.
type Creation struct {
	// AnyProjectID takes every text for a project_id, and answers 401 to one
	// that is no UUID; otherwise that is a 400.
	AnyProjectID bool
	// Read reads the fields, and names those that were sent and have no
	// effect. What is wrong with a field is noted in the object.
	Read func(o *web.Object) (q room.Request, ignored []string, err error)
	// Make makes the room.
	Make func(ctx context.Context, p project.Project, q room.Request) (room.Created, error)
	// Answer is the body of a success.
	Answer func(c room.Created) any
}

// told is the answer to a creation, as it is kept for one with a key.
type told struct {
	Adjusted string          `json:"adjusted,omitempty"`
	Ignored  string          `json:"ignored,omitempty"`
	Body     json.RawMessage `json:"body"`
}

// Create answers a call that makes a room.
func (a *API) Create(w http.ResponseWriter, r *http.Request, c Creation) {
	if err := a.create(w, r, c); err != nil {
		a.Refuse(w, r, err)
	}
}

func (a *API) create(w http.ResponseWriter, r *http.Request, c Creation) error {
	body, err := web.Body(w, r)
	if err != nil {
		return err
	}
	o, err := web.Parse(body)
	if err != nil {
		return err
	}
	projectID, err := readProjectID(o, c.AnyProjectID)
	if err != nil {
		return err
	}
	p, err := a.Authenticate(r, projectID, body)
	if err != nil {
		return err
	}
	if err := p.Admits(); err != nil {
		return err
	}
	return a.Make(w, r, p, body, Making{Answer: c.Answer, Read: func() (Make, []string, error) {
		q, ignored, err := c.Read(o)
		if err == nil {
			err = o.Err()
		}
		return func(ctx context.Context, once *room.Once) (room.Created, error) {
			q.Once = once
			return c.Make(ctx, p, q)
		}, ignored, err
	}})
}

// Make makes what was read; once is nil unless the call has an Idempotency-Key.
type Make func(ctx context.Context, once *room.Once) (room.Created, error)

// Making is what a call makes, when it is known who makes it.
type Making struct {
	// Read reads the fields, and names those that were sent and have no effect.
	Read func() (make Make, ignored []string, err error)
	// Answer is the body of a success.
	Answer func(c room.Created) any
	// Signed identifies the signed request, which takes effect once even without
	// an Idempotency-Key; nil where the signature carries no time.
	Signed *room.Once
}

// Make answers a call that makes something, or tells again what was made.
func (a *API) Make(w http.ResponseWriter, r *http.Request, p project.Project, body []byte, m Making) error {
	t, err := a.once(r, p, body, m)
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

func (a *API) once(r *http.Request, p project.Project, body []byte, m Making) (told, error) {
	keys, once := r.Header["Idempotency-Key"]
	if !once {
		return m.make(r.Context(), m.Signed)
	}
	key := &room.Once{ProjectID: p.ID, Route: r.URL.Path, Key: keys[0], Body: body}
	kept, end, err := a.Rooms.Begin(r.Context(), key)
	if err != nil {
		return told{}, err
	}
	defer end()
	if kept != nil {
		var t told
		return t, json.Unmarshal(kept, &t)
	}
	return m.make(r.Context(), key)
}

// make reads the fields and makes what they say. The answer of a creation with
// a key is made before the commit, to be kept in it.
func (m Making) make(ctx context.Context, once *room.Once) (told, error) {
	work, ignored, err := m.Read()
	if err != nil {
		return told{}, err
	}
	var t told
	answer := func(created room.Created) (err error) {
		t = told{Adjusted: strings.Join(created.Adjusted, ", "), Ignored: strings.Join(ignored, ", ")}
		t.Body, err = json.Marshal(m.Answer(created))
		return err
	}
	if once != nil {
		once.Answer = func(created room.Created) ([]byte, error) {
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
func readProjectID(o *web.Object, anyText bool) (string, error) {
	text := o.RequiredText("project_id")
	if err := o.Err(); err != nil {
		return "", err
	}
	id, ok := UUID(text)
	if !ok && !anyText {
		return "", fault.Invalidf("project_id must be a UUID")
	}
	return id, nil
}

// UUID returns the canonical form of a UUID, and any other text as it is.
func UUID(text string) (canonical string, ok bool) {
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
