package legacytest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/internal/project"
	"parley/internal/seal"
)

// Faulty is a request with many faults at once, on a service that has some of
// its own. What is refused first says in which order they are looked for.
type Faulty struct {
	Bundle         *Bundle
	Handler        http.Handler
	Method, Target string
	ContentType    string
	Body           string
	Signer         seal.Secret
	Key            *string // Idempotency-Key
	Busy           *Busy
}

// Busy is a limit that may be lifted.
type Busy struct{ Lifted bool }

// Allow implements legacy.Rate.
func (b *Busy) Allow(string) (bool, time.Duration) { return b.Lifted, time.Second }

// Fault is what is refused next, and how it is mended.
type Fault struct {
	Status   int
	Sentence string
	Mend     func(f *Faulty)
}

// Told returns a Fault.
func Told(status int, sentence string, mend func(f *Faulty)) Fault {
	return Fault{status, sentence, mend}
}

// Mended sends the request, mends what it is refused for, and so on until it
// is served.
func (f *Faulty) Mended(t *testing.T, faults []Fault) {
	t.Helper()
	Must(t, f.Bundle.Projects.Suspend(t.Context(), f.Bundle.Project.ID))
	for _, fault := range faults {
		Says(t, f.send(), fault.Status, fault.Sentence)
		fault.Mend(f)
	}
	if answer := f.send(); answer.StatusCode != http.StatusOK {
		t.Errorf("with nothing left to mend: %d %s", answer.StatusCode, Sentence(t, answer))
	}
}

func (f *Faulty) send() *http.Response {
	body := strings.ReplaceAll(f.Body, "PROJECT", f.Bundle.Project.ID)
	r := httptest.NewRequest(f.Method, f.Target, strings.NewReader(body))
	r.Header = Signed(f.Signer, []byte(body))
	r.Header.Set("Content-Type", f.ContentType)
	if f.Key != nil {
		r.Header["Idempotency-Key"] = []string{*f.Key}
	}
	w := httptest.NewRecorder()
	f.Handler.ServeHTTP(w, r)
	return w.Result()
}

// Transport are the faults that every route with a body is looked at for
// first; next is the body that follows.
func Transport(method, target, next string) []Fault {
	return []Fault{
		{404, "there is no such path in this version of the API", func(f *Faulty) { f.Target = target }},
		{405, "this path takes " + method + ", not DELETE", func(f *Faulty) { f.Method = method }},
		{415, "the header Content-Type must be application/json (UTF-8)", func(f *Faulty) { f.ContentType = "application/json" }},
		{413, "the body must not be larger than 65536 bytes", func(f *Faulty) { f.Body = next }},
	}
}

// Access are the faults that stand between a signature and the project's
// doors.
func Access(signer seal.Secret, admits func(f *Faulty)) []Fault {
	return []Fault{
		{401, "invalid signature", func(f *Faulty) { f.Signer = signer }},
		{429, "too many calls with this key, try again later", func(f *Faulty) { f.Busy.Lifted = true }},
		{403, "the project is suspended", admits},
	}
}

// Resume lifts the suspension of the project.
func Resume(t *testing.T) func(f *Faulty) {
	return func(f *Faulty) { Must(t, f.Bundle.Projects.Resume(t.Context(), f.Bundle.Project.ID)) }
}

// Creation are the faults of a creation, in their order. The fields are those
// of a room that is right; body writes them, with the project they name.
func Creation(t *testing.T, b *Bundle, target, fields string) []Fault {
	body := func(projectID, more string) string { return `{"project_id":"` + projectID + `",` + fields + more + `}` }
	key := func(text string) func(f *Faulty) { return func(f *Faulty) { f.Key = &text } }
	bad := body("PROJECT", `,"client_room_id":5`)
	list := append(Transport(http.MethodPost, target, `{"project_id":`),
		Fault{400, "the body ends before its JSON does", func(f *Faulty) { f.Body = body("mine", `,"client_room_id":5`) }},
		Fault{400, "project_id must be a UUID", func(f *Faulty) { f.Body = bad }})
	list = append(list, Access(b.Issued.APIKey, Resume(t))...)
	return append(list,
		Fault{403, "the project is inactive", func(f *Faulty) { Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Active)) }},
		Fault{400, "the header Idempotency-Key must have 1 to 255 printable ASCII characters", key("used")},
		Fault{422, "this Idempotency-Key was used with another body", key("fresh")},
		Fault{400, "client_room_id must be a string", func(f *Faulty) { f.Body = body("PROJECT", `,"client_room_id":"taken"`) }},
		Fault{409, "client_room_id is already taken by another room of this project", func(f *Faulty) { f.Body = body("PROJECT", "") }},
	)
}

// NewFaulty returns a request that no route takes, of a project that is
// inactive and has a room named "taken", which was made with the
// Idempotency-Key "used".
func NewFaulty(t *testing.T, b *Bundle, handler http.Handler, busy *Busy, target, fields string) *Faulty {
	t.Helper()
	used, empty := "used", ""
	busy.Lifted = true
	f := &Faulty{Bundle: b, Handler: handler, Busy: busy, Method: http.MethodPost, Target: target, ContentType: "application/json",
		Body: `{"project_id":"PROJECT",` + fields + `,"client_room_id":"taken"}`, Signer: b.Issued.APIKey, Key: &used}
	if answer := f.send(); answer.StatusCode != http.StatusOK {
		t.Fatalf("the first room: %d %s", answer.StatusCode, Sentence(t, answer))
	}
	Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Inactive))
	busy.Lifted = false
	f.Method, f.Target, f.ContentType, f.Body, f.Signer, f.Key = http.MethodDelete, target+"/x/y", "text/plain", strings.Repeat("x", 65537), "wrong", &empty
	return f
}
