package rooms

import (
	"math"
	"net/http"
	"strings"
	"time"

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

// ProjectIDForm says which texts a creation accepts as its project_id.
type ProjectIDForm bool

const (
	// UUIDProjectID accepts a UUID. Another text is an invalid field (400).
	UUIDProjectID ProjectIDForm = false
	// AnyProjectID accepts any text, as version 3 describes its quick rooms. A text that
	// is not a UUID is an unknown project (401).
	AnyProjectID ProjectIDForm = true
)

// AuthenticateCreation reads the body of a call that creates a room. Then it checks the
// project_id, the signature, the rate limit and that the project may create rooms.
func (a *API) AuthenticateCreation(w http.ResponseWriter, r *http.Request, form ProjectIDForm) (*Call, error) {
	body, err := httpx.ReadJSONBody(w, r)
	if err != nil {
		return nil, err
	}
	fields, err := httpx.ParseObject(body)
	if err != nil {
		return nil, err
	}
	projectID, err := readProjectID(fields, form)
	if err != nil {
		return nil, err
	}
	p, err := a.AuthenticateProject(r, projectID, body)
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

// readIdempotencyKey sets c.IdempotencyKey from the header, if it was sent. It replaces
// the signature, which makes a companion call unique otherwise.
func (c *Call) readIdempotencyKey() {
	if _, sent := c.Request.Header["Idempotency-Key"]; sent {
		c.IdempotencyKey = &room.IdempotencyKey{ProjectID: c.Project.ID, Route: c.Request.URL.Path,
			Key: headerValue(c.Request, "Idempotency-Key"), Body: c.body}
	}
}

// readProjectID reads the project that a body names.
func readProjectID(fields *httpx.Object, form ProjectIDForm) (string, error) {
	text := fields.RequiredText("project_id")
	if err := fields.Err(); err != nil {
		return "", err
	}
	id, ok := ParseUUID(text)
	if !ok && form == UUIDProjectID {
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

// ReadCommonFields reads the fields that every creation has. number reads an
// integer field, which may also be a string in version 4.
func ReadCommonFields(o *httpx.Object, kind room.Type,
	number func(o *httpx.Object, name string) int) room.Spec {
	metadata := o.RequiredObject("metadata")
	return room.Spec{
		Type:            kind,
		MaxParticipants: number(o, "max_participants"),
		EmptyTimeout:    Units(number(o, "empty_timeout"), time.Second),
		Title:           metadata.RequiredText("room_title"),
		WelcomeMessage:  metadata.RequiredText("welcome_message"),
		ClientRoomID:    OptionalText(o, "client_room_id"),
	}
}

// Units returns n units of time. A number that a Duration cannot hold becomes the
// nearest that it can, which is out of the bounds of every field.
func Units(n int, unit time.Duration) time.Duration {
	limit := int(math.MaxInt64 / unit)
	return time.Duration(min(max(n, -limit), limit)) * unit
}

// OptionalUnits returns n units of time; nil if n is nil.
func OptionalUnits(n *int, unit time.Duration) *time.Duration {
	if n == nil {
		return nil
	}
	return new(Units(*n, unit))
}

// OptionalText returns an optional text, "" if it is absent.
func OptionalText(o *httpx.Object, name string) string {
	if text := o.Text(name); text != nil {
		return *text
	}
	return ""
}

const (
	maxIgnoredNames = 20 // names in a header
	maxNameLength   = 64
)

// IgnoredFields are the names of fields that were sent and have no effect, for a
// header: at most 20 names of letters, digits, "_", "-" and ".".
type IgnoredFields []string

// Add adds those of the names that the object at prefix has.
func (i *IgnoredFields) Add(o *httpx.Object, prefix string, names ...string) {
	for _, name := range names {
		if len(*i) < maxIgnoredNames && o.Has(name) {
			*i = append(*i, headerSafe(prefix+name))
		}
	}
}

// AddAllExcept adds all fields of the object at prefix except the known ones.
func (i *IgnoredFields) AddAllExcept(o *httpx.Object, prefix string, known ...string) {
next:
	for _, name := range o.Names() {
		for _, k := range known {
			if name == k {
				continue next
			}
		}
		i.Add(o, prefix, name)
	}
}

// headerSafe replaces the characters of a name that a header must not contain.
func headerSafe(name string) string {
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			return c
		}
		return '_'
	}, name)
	return name[:min(len(name), maxNameLength)]
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
