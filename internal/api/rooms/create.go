package rooms

import (
	"cmp"
	"crypto/subtle"
	"math"
	"net/http"
	"strings"
	"time"

	"parley/client/sign"
	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
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

// readIdempotencyKey uses the header Idempotency-Key, if it was sent, instead of the
// signature.
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

// dummyKey belongs to no project. Calls for an unknown project are checked against
// it, so that the response time does not reveal whether a project exists.
const dummyKey = "pk_00000000000000000000000000000000"

var errUnauthorized = fault.New(fault.Unauthorized, "unauthorized", "invalid signature")

// AuthenticateProject checks the signature of a call that names its project:
// Base64(HMAC-SHA256(k, raw body)), where k is a live API key or the project secret of
// the project. Then it checks the rate limit. An unknown project, an unknown key and a
// wrong signature have the same response.
func (a *API) AuthenticateProject(r *http.Request, projectID string, body []byte) (project.Project, error) {
	ring, err := a.Keys.Keyring(r.Context(), projectID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return project.Project{}, err
	}
	credential, ok := "", false
	if err == nil {
		credential, ok = a.verifyRequest(r, ring, body)
	} else {
		verifyDummy(r, body)
	}
	if !ok {
		return project.Project{}, a.authenticationError(r)
	}
	a.countCall(r, ring, credential)
	return ring.Project, takeToken(a.Limits.Writes, credential)
}

// AuthenticateJoinEvent checks the signature of a join event as AuthenticateProject
// does, but only with a project secret.
func (a *API) AuthenticateJoinEvent(r *http.Request, projectID string, body []byte) (project.Project, error) {
	ring, err := a.Keys.Keyring(r.Context(), projectID)
	if err != nil {
		return project.Project{}, err
	}
	credential, ok := verifySignature(r, ring, true, a.Now(), body)
	if !ok {
		return project.Project{}, a.authenticationError(r)
	}
	return ring.Project, takeToken(a.Limits.Writes, credential)
}

func (a *API) verifyRequest(r *http.Request, ring *key.Keyring, body []byte) (credential string, ok bool) {
	now := a.Now()
	presented := false
	for _, name := range [...]string{"Api-Key", "Key"} {
		if len(r.Header[name]) == 0 {
			continue
		}
		presented = true
		if credential, ok = findLiveKey(ring, now, headerValue(r, name)); !ok {
			verifyDummy(r, body)
			return "", false
		}
	}
	secretsOnly := ring.Project.Settings.RequireSecretSignatures
	if presented && a.KeyHeaderOnly && !secretsOnly && len(r.Header["Hash-Signature"]) == 0 {
		return credential, true
	}
	return verifySignature(r, ring, secretsOnly, now, body)
}

// verifyBodySigned checks the signature that older clients send with a companion call:
// that of the project secret over the body, or over path and query for GET. The header
// key is the older name of api-key; if both are sent, both must be live.
func (a *API) verifyBodySigned(c *Call) (ring *key.Keyring, k key.APIKey, ok bool, err error) {
	message := c.body
	if c.Request.Method != http.MethodPost {
		message = []byte(c.Request.RequestURI)
	}
	older, now := headerValue(c.Request, "Key"), a.Now()
	named := cmp.Or(headerValue(c.Request, "Api-Key"), older)
	k, ring, err = a.Keys.ByAPIKey(c.Request.Context(), named)
	if fault.Is(err, fault.NotFound) || err == nil && !k.Live(now) {
		verifyDummy(c.Request, message)
		return nil, k, false, nil
	}
	if err != nil {
		return nil, k, false, err
	}
	if older != "" {
		if _, ok := findLiveKey(ring, now, older); !ok {
			verifyDummy(c.Request, message)
			return nil, k, false, nil
		}
	}
	_, ok = verifySignature(c.Request, ring, true, now, message)
	return ring, k, ok, nil
}

// headerValue returns a header, "" if it is absent. The values of a header that was sent
// more than once are joined with a comma (RFC 9110, section 5.3), so that two keys become
// one key that does not exist. The name has the canonical form of net/http.
func headerValue(r *http.Request, name string) string { return strings.Join(r.Header[name], ", ") }

// verifySignature checks the signature of a message, and returns the id of the
// credential that signed it.
func verifySignature(r *http.Request, ring *key.Keyring, secretsOnly bool, now time.Time,
	message []byte) (credential string, ok bool) {
	signatures := r.Header["Hash-Signature"]
	if len(signatures) != 1 {
		verifyDummy(r, message)
		return "", false
	}
	return ring.Verify(now, secretsOnly, func(k string) bool { return sign.VerifyLegacy(k, message, signatures[0]) })
}

// verifyDummy takes as long as a check with the one key and the one secret that a
// project usually has.
func verifyDummy(r *http.Request, message []byte) {
	for range 2 {
		sign.VerifyLegacy(dummyKey, message, r.Header.Get("Hash-Signature"))
	}
}

// findLiveKey returns the id of the live API key with the text. It compares the text
// with every key, so that the response time does not reveal which one matched.
func findLiveKey(ring *key.Keyring, now time.Time, text string) (id string, ok bool) {
	for _, k := range ring.Keys() {
		if subtle.ConstantTimeCompare([]byte(k.Key.Reveal()), []byte(text)) == 1 && k.Live(now) {
			id, ok = k.ID, true
		}
	}
	return id, ok
}

// authenticationError records a failed authentication and returns its error.
func (a *API) authenticationError(r *http.Request) error {
	if a.Limits.Failures != nil {
		if over, retryAfter := a.Limits.Failures.RecordAttempt(httpx.FromContext(r.Context()).Client); over {
			return &fault.Error{Kind: fault.Exhausted, Code: "too_many_attempts", RetryAfter: retryAfter,
				Message: "too many failed authentications from your address, try again later"}
		}
	}
	return errUnauthorized
}

// countCall counts a call for the API key that signed it and for those in its
// headers. A call that the project secret signed without naming a key counts for
// none.
func (a *API) countCall(r *http.Request, ring *key.Keyring, signer string) {
	if a.CallCounter == nil {
		return
	}
	for _, k := range ring.Keys() {
		if text := k.Key.Reveal(); k.ID == signer || headerValue(r, "Api-Key") == text || headerValue(r, "Key") == text {
			a.CallCounter.Add(k.ID, string(k.Slot))
		}
	}
}

// takeToken counts a call against the rate limit of a credential; a nil limiter
// allows every call.
func takeToken(rate RateLimiter, credential string) error {
	if rate != nil {
		if ok, retryAfter := rate.Allow(credential); !ok {
			return &fault.Error{Kind: fault.Exhausted, Code: "rate_limited", RetryAfter: retryAfter,
				Message: "too many calls with this key, try again later"}
		}
	}
	return nil
}
