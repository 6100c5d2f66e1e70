package roomstest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/internal/api/apitest"
	"parley/internal/project"
	"parley/internal/seal"
)

// FaultyRequest is a request with many errors at once. The first reported error
// shows the order of the checks.
type FaultyRequest struct {
	Fixture        *Fixture
	Handler        http.Handler
	Method, Target string
	ContentType    string
	Body           string
	Signer         seal.Secret
	IdempotencyKey *string // nil for none
	Limiter        *StubLimiter
}

// StubLimiter is a limiter that is exhausted until AllowAll is set.
type StubLimiter struct{ AllowAll bool }

// Allow implements rooms.RateLimiter.
func (b *StubLimiter) Allow(string) (bool, time.Duration) { return b.AllowAll, time.Second }

// ExpectedError is the next error of a FaultyRequest, and the change that fixes it.
type ExpectedError struct {
	Status  int
	Message string
	Fix     func(f *FaultyRequest)
}

// ExpectError returns an ExpectedError.
func ExpectError(status int, message string, fix func(f *FaultyRequest)) ExpectedError {
	return ExpectedError{status, message, fix}
}

// AssertErrorOrder sends the request and fixes the reported error, until the
// request succeeds.
func (f *FaultyRequest) AssertErrorOrder(t *testing.T, errors []ExpectedError) {
	t.Helper()
	Must(t, f.Fixture.Projects.Suspend(t.Context(), f.Fixture.Project.ID))
	for _, next := range errors {
		AssertError(t, f.send(), next.Status, next.Message)
		next.Fix(f)
	}
	if resp := f.send(); resp.StatusCode != http.StatusOK {
		t.Errorf("after all fixes: got %d %s, want 200", resp.StatusCode, ErrorMessage(t, resp))
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

// TransportErrors returns the errors that every route with a body checks first.
// next is the body after the last fix.
func TransportErrors(method, target, next string) []ExpectedError {
	return []ExpectedError{
		{404, "there is no such path in this version of the API", func(f *FaultyRequest) { f.Target = target }},
		{405, "this path takes " + method + ", not DELETE", func(f *FaultyRequest) { f.Method = method }},
		{415, "the header Content-Type must be application/json (UTF-8)",
			func(f *FaultyRequest) { f.ContentType = "application/json" }},
		{413, "the body must not be larger than 65536 bytes", func(f *FaultyRequest) { f.Body = next }},
	}
}

// AccessErrors returns the errors from the signature to the status of the project.
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

// CreateErrors returns the errors of a creation in their order. fields are the
// fields of a valid room as JSON, without braces.
func CreateErrors(t *testing.T, b *Fixture, target, fields string) []ExpectedError {
	body := func(projectID, more string) string { return `{"project_id":"` + projectID + `",` + fields + more + `}` }
	key := func(text string) func(f *FaultyRequest) { return func(f *FaultyRequest) { f.IdempotencyKey = &text } }
	bad := body("PROJECT", `,"client_room_id":5`)
	list := append(TransportErrors(http.MethodPost, target, `{"project_id":`),
		ExpectedError{400, "the body ends before its JSON does",
			func(f *FaultyRequest) { f.Body = body("mine", `,"client_room_id":5`) }},
		ExpectedError{400, "project_id must be a UUID", func(f *FaultyRequest) { f.Body = bad }})
	list = append(list, AccessErrors(b.Issued.APIKey, ResumeProject(t))...)
	return append(list,
		ExpectedError{403, "the project is inactive",
			func(f *FaultyRequest) { Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Active)) }},
		ExpectedError{400, "the header Idempotency-Key must have 1 to 255 printable ASCII characters", key("used")},
		ExpectedError{422, "this Idempotency-Key was used with another body", key("fresh")},
		ExpectedError{400, "client_room_id must be a string",
			func(f *FaultyRequest) { f.Body = body("PROJECT", `,"client_room_id":"taken"`) }},
		ExpectedError{409, "client_room_id is already taken by another room of this project",
			func(f *FaultyRequest) { f.Body = body("PROJECT", "") }},
	)
}

// NewFaultyRequest returns a request that fails every check. Its project is
// inactive and has a room with the client_room_id "taken", which was created with
// the Idempotency-Key "used".
func NewFaultyRequest(t *testing.T, b *Fixture, handler http.Handler, limiter *StubLimiter, target,
	fields string) *FaultyRequest {
	t.Helper()
	used, empty := "used", ""
	limiter.AllowAll = true
	f := &FaultyRequest{
		Fixture:        b,
		Handler:        handler,
		Limiter:        limiter,
		Method:         http.MethodPost,
		Target:         target,
		ContentType:    "application/json",
		Body:           `{"project_id":"PROJECT",` + fields + `,"client_room_id":"taken"}`,
		Signer:         b.Issued.APIKey,
		IdempotencyKey: &used,
	}
	if resp := f.send(); resp.StatusCode != http.StatusOK {
		t.Fatalf("first room: got %d %s, want 200", resp.StatusCode, ErrorMessage(t, resp))
	}
	Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Inactive))
	limiter.AllowAll = false
	f.Method, f.Target, f.ContentType, f.Body, f.Signer, f.IdempotencyKey = http.MethodDelete, target+"/x/y",
		"text/plain", strings.Repeat("x", 65537), "wrong", &empty
	return f
}

// AssertOperationsServed checks that a version has a route for each operation of its description.
func AssertOperationsServed(t *testing.T, description []byte, handler http.Handler) {
	t.Helper()
	c := apitest.New(t, description, handler)
	for _, o := range c.Operations() {
		resp := httptest.NewRecorder()
		handler.ServeHTTP(resp, httptest.NewRequest(o.Method, o.Path, nil))
		if resp.Code == 405 || strings.Contains(resp.Body.String(), "no such path") {
			t.Errorf("%s %s: got %d %s, want a route", o.Method, o.Path, resp.Code, resp.Body)
		}
	}
}
