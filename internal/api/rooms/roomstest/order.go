package roomstest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/internal/project"
	"parley/internal/seal"
)

// FaultyRequest is a request with many faults at once, on a service that has some of
// its own. What is refused first says in which order they are looked for.
type FaultyRequest struct {
	Fixture        *Fixture
	Handler        http.Handler
	Method, Target string
	ContentType    string
	Body           string
	Signer         seal.Secret
	IdempotencyKey *string // Idempotency-Key
	Limiter        *StubLimiter
}

// StubLimiter is a limit that may be lifted.
type StubLimiter struct{ AllowAll bool }

// Allow implements legacy.Rate.
func (b *StubLimiter) Allow(string) (bool, time.Duration) { return b.AllowAll, time.Second }

// ExpectedError is what is refused next, and how it is mended.
type ExpectedError struct {
	Status  int
	Message string
	Fix     func(f *FaultyRequest)
}

// ExpectError returns a Fault.
func ExpectError(status int, sentence string, mend func(f *FaultyRequest)) ExpectedError {
	return ExpectedError{status, sentence, mend}
}

// AssertErrorOrder sends the request, mends what it is refused for, and so on until it
// is served.
func (f *FaultyRequest) AssertErrorOrder(t *testing.T, faults []ExpectedError) {
	t.Helper()
	Must(t, f.Fixture.Projects.Suspend(t.Context(), f.Fixture.Project.ID))
	for _, fault := range faults {
		AssertError(t, f.send(), fault.Status, fault.Message)
		fault.Fix(f)
	}
	if answer := f.send(); answer.StatusCode != http.StatusOK {
		t.Errorf("with nothing left to mend: %d %s", answer.StatusCode, ErrorMessage(t, answer))
	}
}

func (f *FaultyRequest) send() *http.Response {
	body := strings.ReplaceAll(f.Body, "PROJECT", f.Fixture.Project.ID)
	r := httptest.NewRequest(f.Method, f.Target, strings.NewReader(body))
	r.Header = SignedHeaders(f.Signer, []byte(body))
	r.Header.Set("Content-Type", f.ContentType)
	if f.IdempotencyKey != nil {
		r.Header["Idempotency-Key"] = []string{*f.IdempotencyKey}
	}
	w := httptest.NewRecorder()
	f.Handler.ServeHTTP(w, r)
	return w.Result()
}

// TransportErrors are the faults that every route with a body is looked at for
// first; next is the body that follows.
func TransportErrors(method, target, next string) []ExpectedError {
	return []ExpectedError{
		{404, "there is no such path in this version of the API", func(f *FaultyRequest) { f.Target = target }},
		{405, "this path takes " + method + ", not DELETE", func(f *FaultyRequest) { f.Method = method }},
		{415, "the header Content-Type must be application/json (UTF-8)", func(f *FaultyRequest) { f.ContentType = "application/json" }},
		{413, "the body must not be larger than 65536 bytes", func(f *FaultyRequest) { f.Body = next }},
	}
}

// AccessErrors are the faults that stand between a signature and the project's
// doors.
func AccessErrors(signer seal.Secret, admits func(f *FaultyRequest)) []ExpectedError {
	return []ExpectedError{
		{401, "invalid signature", func(f *FaultyRequest) { f.Signer = signer }},
		{429, "too many calls with this key, try again later", func(f *FaultyRequest) { f.Limiter.AllowAll = true }},
		{403, "the project is suspended", admits},
	}
}

// ResumeProject lifts the suspension of the project.
func ResumeProject(t *testing.T) func(f *FaultyRequest) {
	return func(f *FaultyRequest) { Must(t, f.Fixture.Projects.Resume(t.Context(), f.Fixture.Project.ID)) }
}

// CreateErrors are the faults of a creation, in their order. The fields are those
// of a room that is right; body writes them, with the project they name.
func CreateErrors(t *testing.T, b *Fixture, target, fields string) []ExpectedError {
	body := func(projectID, more string) string { return `{"project_id":"` + projectID + `",` + fields + more + `}` }
	key := func(text string) func(f *FaultyRequest) { return func(f *FaultyRequest) { f.IdempotencyKey = &text } }
	bad := body("PROJECT", `,"client_room_id":5`)
	list := append(TransportErrors(http.MethodPost, target, `{"project_id":`),
		ExpectedError{400, "the body ends before its JSON does", func(f *FaultyRequest) { f.Body = body("mine", `,"client_room_id":5`) }},
		ExpectedError{400, "project_id must be a UUID", func(f *FaultyRequest) { f.Body = bad }})
	list = append(list, AccessErrors(b.Issued.APIKey, ResumeProject(t))...)
	return append(list,
		ExpectedError{403, "the project is inactive", func(f *FaultyRequest) { Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Active)) }},
		ExpectedError{400, "the header Idempotency-Key must have 1 to 255 printable ASCII characters", key("used")},
		ExpectedError{422, "this Idempotency-Key was used with another body", key("fresh")},
		ExpectedError{400, "client_room_id must be a string", func(f *FaultyRequest) { f.Body = body("PROJECT", `,"client_room_id":"taken"`) }},
		ExpectedError{409, "client_room_id is already taken by another room of this project", func(f *FaultyRequest) { f.Body = body("PROJECT", "") }},
	)
}

// NewFaultyRequest returns a request that no route takes, of a project that is
// inactive and has a room named "taken", which was made with the
// Idempotency-Key "used".
func NewFaultyRequest(t *testing.T, b *Fixture, handler http.Handler, busy *StubLimiter, target, fields string) *FaultyRequest {
	t.Helper()
	used, empty := "used", ""
	busy.AllowAll = true
	f := &FaultyRequest{Fixture: b, Handler: handler, Limiter: busy, Method: http.MethodPost, Target: target, ContentType: "application/json",
		Body: `{"project_id":"PROJECT",` + fields + `,"client_room_id":"taken"}`, Signer: b.Issued.APIKey, IdempotencyKey: &used}
	if answer := f.send(); answer.StatusCode != http.StatusOK {
		t.Fatalf("the first room: %d %s", answer.StatusCode, ErrorMessage(t, answer))
	}
	Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Inactive))
	busy.AllowAll = false
	f.Method, f.Target, f.ContentType, f.Body, f.Signer, f.IdempotencyKey = http.MethodDelete, target+"/x/y", "text/plain", strings.Repeat("x", 65537), "wrong", &empty
	return f
}
