package roomapi

import (
	"net/http"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
)

// Route is one signed route.
type Route struct {
	Method string
	Path   string // below the path of the version, such as /rooms/{room_id}/events
	Auth   Auth
	Effect Effect
	// NeedsActiveProject refuses calls for projects that allow no new rooms and joins.
	NeedsActiveProject bool
	// FieldPaths are the paths of fields in the body, by their names in errors of the domain. A
	// field that is not in it has the same name in both.
	FieldPaths map[string]string
	// Handle reads the fields of a call that may be made, and writes the response.
	Handle func(c *Call) error

	hasUserInfo bool // has the field user_info
	isOldest    bool // of the first release, whose errors never had the field message
}

// Auth finds the project of a call and checks its signature. It sets Project, and Fields if the
// body names the project, and returns the ID of the credential, which the rate limits count.
type Auth func(a *API, c *Call) (credential string, err error)

// Effect is what the calls of a route do. It decides about the rate limit and the
// Idempotency-Key.
type Effect int

const (
	// Reads is the effect of a route that changes nothing, even if its method is POST.
	Reads Effect = iota
	// Sets is that of a route whose calls have the same effect when they are sent again.
	// Its calls ignore an Idempotency-Key.
	Sets
	// Creates is that of a route whose calls take effect once with an Idempotency-Key, or once
	// with a signature that contains the time.
	Creates
)

// Call is an authenticated call.
type Call struct {
	Request *http.Request
	Body    []byte // as it was signed
	Project project.Project
	Fields  *httpx.Object // of the body; nil for GET
	// IdempotencyKey makes the call take effect once: the header of that name, or
	// a signature that contains the time. Nil if the call has neither.
	IdempotencyKey *room.IdempotencyKey

	w          http.ResponseWriter
	bodySigned bool // signed over the body alone, as older clients do
}

// Handle registers routes.
func (a *API) Handle(routes ...Route) {
	for _, route := range routes {
		path := a.prefix() + route.Path
		a.repeatsMessage[path] = a.DuplicateMessage && (!route.isOldest || a.LegacyClients)
		a.mux.HandleFunc(route.Method+" "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := a.handle(&Call{Request: r, w: w}, route); err != nil {
				a.WriteError(w, r, err)
			}
		})
	}
}

// handle makes the checks of every signed call in their order: the body as a whole, signature,
// rate limit, project, Idempotency-Key. Then it handles the call.
func (a *API) handle(c *Call, route Route) (err error) {
	if c.Body, err = route.readBody(c); err != nil {
		return err
	}
	credential, err := route.Auth(a, c)
	if err != nil {
		return err
	}
	if err := takeToken(a.limiter(route.Effect), credential); err != nil {
		return err
	}
	if err := route.checkProject(c.Project); err != nil {
		return err
	}
	if err := route.parseFields(c); err != nil {
		return err
	}
	if route.Effect == Creates {
		if err := c.readIdempotencyKey(); err != nil {
			return err
		}
		end, err := a.rooms.BeginIdempotent(c.Request.Context(), c.IdempotencyKey)
		if err != nil {
			return fault.RenameField(err, idempotencyKeyHeader)
		}
		defer end()
	}
	return fault.RenameField(route.Handle(c), route.FieldPaths)
}

var idempotencyKeyHeader = map[string]string{"idempotency_key": "the header Idempotency-Key"}

func (r Route) readBody(c *Call) ([]byte, error) {
	if r.Method == http.MethodGet {
		return httpx.ReadOptionalBody(c.w, c.Request)
	}
	return httpx.ReadJSONBody(c.w, c.Request)
}

func (a *API) limiter(e Effect) RateLimiter {
	if e == Reads {
		return a.Limits.Reads
	}
	return a.Limits.Writes
}

func (r Route) checkProject(p project.Project) error {
	if r.NeedsActiveProject {
		return p.AllowsJoins()
	}
	return p.CheckNotSuspended()
}

// parseFields parses the body, unless the authentication had to. It refuses a join event that was
// sent to another route.
func (r Route) parseFields(c *Call) (err error) {
	if r.Method == http.MethodGet || c.Fields != nil {
		return nil
	}
	if c.Fields, err = httpx.ParseObject(c.Body); err != nil {
		return err
	}
	if c.bodySigned && !r.hasUserInfo && c.Fields.Has("user_info") {
		return errJoinEvent
	}
	return nil
}

// readIdempotencyKey sets c.IdempotencyKey from the header, if it was sent. It replaces
// the signature, which makes a companion call unique otherwise. It returns Invalid for a repeated
// header, because a client that means one key and a proxy that adds another would not agree
// on the creation.
func (c *Call) readIdempotencyKey() error {
	keys := c.Request.Header["Idempotency-Key"]
	switch len(keys) {
	case 0:
		return nil
	case 1:
		c.IdempotencyKey = &room.IdempotencyKey{ProjectID: c.Project.ID, Route: c.Request.URL.Path,
			Key: keys[0], Body: c.Body}
		return nil
	}
	return fault.Invalidf("the header Idempotency-Key must be sent at most once")
}

// WriteResult writes the response to a call that created or changed something. The
// headers name the features that were lowered to what the plan allows, and the fields
// that have no effect.
func (c *Call) WriteResult(response any, adjusted []string, ignored IgnoredFields) {
	if len(adjusted) > 0 {
		c.w.Header().Set("X-Feature-Adjusted", strings.Join(adjusted, ", "))
	}
	if len(ignored) > 0 {
		c.w.Header().Set("X-Ignored-Fields", strings.Join(ignored, ", "))
	}
	httpx.WriteJSON(c.w, http.StatusOK, response)
}

// writeJSON writes the response to a call that succeeded, which no cache may keep.
func (c *Call) writeJSON(v any) {
	c.w.Header().Set("Cache-Control", "no-store")
	httpx.WriteJSON(c.w, http.StatusOK, v)
}
