package v5

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley.example/client/sign"
	"parley/internal/api/apitest"
	"parley/internal/api/httpx"
	"parley/internal/api/record"
	"parley/internal/counter"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// fixture is version 5 with a real database.
type fixture struct {
	db           *store.DB
	projects     *project.Service
	keys         *key.Service
	counter      *counter.Counter
	recorder     *requestlog.Recorder
	organization project.Organization
	project      project.Project
	issued       key.IssuedCredentials
	options      Options
	handler      http.Handler
	now          time.Time
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func setup(t testing.TB, change func(*fixture)) *fixture {
	t.Helper()
	return setupOn(t, "", change)
}

// databases are the databases for the tests of stored data.
var databases = map[string]func(t testing.TB) string{
	"SQLite":     func(testing.TB) string { return "" },
	"PostgreSQL": storetest.Postgres,
}

// onDatabases runs a test on both databases.
func onDatabases(t *testing.T, test func(t *testing.T, url string)) {
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func setupOn(t testing.TB, url string, change func(*fixture)) *fixture {
	t.Helper()
	db, err := store.Open(t.Context(), url, t.TempDir())
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	must(t, db.Unlock(t.Context(), seal.NewBox(seal.NewKey())))
	b := &fixture{db: db, now: time.Date(2026, 11, 21, 9, 30, 0, 250e6, time.UTC)}
	clock := func() time.Time { return b.now }
	b.projects = project.NewService(db, clock, newID, func(id string) { b.keys.Invalidate(id) })
	b.keys = key.NewService(db, b.projects, clock, newID)
	b.organization, err = b.projects.CreateOrganization(t.Context(), "Org", project.Plan)
	must(t, err)
	b.project, b.issued, err = b.keys.CreateProject(t.Context(),
		project.Draft{OrganizationID: b.organization.ID, Name: "Project"})
	must(t, err)
	b.counter = counter.New(db, clock)
	b.recorder = requestlog.NewRecorder(db, clock)
	b.options = Options{Skew: 5 * time.Minute, RequestLog: b.recorder}
	if change != nil {
		change(b)
	}
	b.handler = b.serve(t, usage.NewBuiltinProvider(nil), b.options)
	return b
}

// serve returns a handler with another plan provider and other options.
func (b *fixture) serve(t testing.TB, plans usage.Provider, options Options) http.Handler {
	t.Helper()
	clock := func() time.Time { return b.now }
	h := NewHandler(b.keys, usage.NewService(b.db, plans, clock), b.counter, clock, options)
	return b.withMiddleware(h)
}

// withMiddleware adds the transport, which enters calls in the request log.
func (b *fixture) withMiddleware(h http.Handler) http.Handler {
	return httpx.Middleware(h, httpx.Options{Log: slog.New(slog.DiscardHandler), Fail: WriteInternalError,
		Done: func(r *http.Request, info *httpx.RequestInfo) { record.Call(b.recorder, version, r, info) },
		Now:  func() time.Time { return b.now }})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// signedHeaders returns the headers of a correctly signed call.
func (b *fixture) signedHeaders(method, target string, body []byte) http.Header {
	return signHeaders(b.issued.APIKey, b.issued.GatewaySecret, method, target, sign.FormatTimestamp(b.now), body)
}

func signHeaders(apiKey, secret seal.Secret, method, target, timestamp string, body []byte) http.Header {
	return http.Header{"Api-Key": {apiKey.Reveal()}, "Timestamp": {timestamp},
		"Hash-Signature": {sign.V5(secret.Reveal(), method, target, timestamp, "", body)}}
}

// decodeError returns the code and the message of an error response, and checks
// its form.
func decodeError(t testing.TB, resp *http.Response) (code, message string) {
	t.Helper()
	raw, err := io.ReadAll(resp.Body)
	must(t, err)
	var body map[string]map[string]string
	if err := json.Unmarshal(raw, &body); err != nil || len(body) != 1 || len(body["error"]) != 3 {
		t.Fatalf("got body %s, want an error with code, message and request_id", raw)
	}
	if id := body["error"]["request_id"]; id == "" || id != resp.Header.Get("X-Gateway-Request-ID") {
		t.Errorf("request_id: got %q, want the X-Gateway-Request-ID %q", id, resp.Header.Get("X-Gateway-Request-ID"))
	}
	if used := resp.Header.Get("X-Gateway-Requests-Used"); used != "" {
		t.Errorf("X-Gateway-Requests-Used with an error: got %q, want none", used)
	}
	return body["error"]["code"], body["error"]["message"]
}

// decodeData decodes the data of a response with status 200.
func decodeData[T any](t testing.TB, resp *http.Response) (out T) {
	t.Helper()
	raw, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("got %d %s, want 200", resp.StatusCode, raw)
	}
	var envelope map[string]json.RawMessage
	must(t, json.Unmarshal(raw, &envelope))
	if len(envelope) != 1 {
		t.Fatalf("got envelope %s, want only data", raw)
	}
	must(t, json.Unmarshal(envelope["data"], &out))
	if resp.Header.Get("X-Gateway-Request-ID") == "" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: got %v, want X-Gateway-Request-ID and Cache-Control no-store", resp.Header)
	}
	return out
}

var signedRoutes = []string{"keys", "usage", "limits", "requests"}

func TestContract(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	c := apitest.New(t, description, b.handler)
	get := func(t testing.TB, target string, header http.Header, body []byte) *http.Response {
		return c.Do(t, http.MethodGet, target, header, body)
	}
	t.Run("the description", func(t *testing.T) {
		resp := get(t, prefix+"openapi.json", nil, nil)
		var document struct{ OpenAPI string }
		must(t, json.NewDecoder(resp.Body).Decode(&document))
		if resp.StatusCode != 200 || document.OpenAPI != "3.1.0" || resp.Header.Get("X-Gateway-Request-ID") == "" {
			t.Errorf("got %d %+v, want 200 and OpenAPI 3.1.0", resp.StatusCode, document)
		}
	})
	suspended := func(run func()) {
		must(t, b.projects.Suspend(t.Context(), b.project.ID))
		run()
		must(t, b.projects.Resume(t.Context(), b.project.ID))
	}
	full := b.options
	full.Rate, full.Failures = alwaysLimited{}, alwaysLimited{}
	for i, route := range signedRoutes {
		t.Run(route, func(t *testing.T) {
			target := prefix + route
			header := b.signedHeaders("GET", target, nil)
			expect := func(resp *http.Response, status int, code, message string) {
				t.Helper()
				if gotCode, got := decodeError(t, resp); resp.StatusCode != status || gotCode != code ||
					got != message {
					t.Errorf("got %d %s %q\nwant %d %s %q", resp.StatusCode, gotCode, got, status, code, message)
				}
			}
			resp := get(t, target, header, nil)
			decodeData[map[string]any](t, resp)
			if used := resp.Header.Get("X-Gateway-Requests-Used"); resp.StatusCode == 200 && used == "" || i == 0 &&
				used != "1" {
				t.Errorf("X-Gateway-Requests-Used: got %q, want a count, 1 at first", used)
			}
			if resp := c.Do(t, http.MethodHead, target, b.signedHeaders("HEAD", target, nil),
				nil); resp.StatusCode != 200 {
				t.Errorf("HEAD: got %d, want 200", resp.StatusCode)
			}
			expect(get(t, target, nil, nil), 401, "SVC_UNAUTHORIZED",
				"the API key, signature or timestamp was not accepted")
			suspended(func() {
				expect(get(t, target, header, nil), 403, "SVC_GATEWAY_PROJECT_SUSPENDED", "the project is suspended")
				expect(get(t, target, nil, nil), 401, "SVC_UNAUTHORIZED",
					"the API key, signature or timestamp was not accepted")
			})
			must(t, b.projects.SetStatus(t.Context(), b.project.ID, project.Inactive))
			decodeData[map[string]any](t, get(t, target, header,
				nil)) // version 5 ignores the status that the client controls
			must(t, b.projects.SetStatus(t.Context(), b.project.ID, project.Active))

			large := make([]byte, httpx.MaxBodySize+1)
			expect(get(t, target, b.signedHeaders("GET", target, large), large), 413, "SVC_INVALID_REQUEST",
				"the body must not be larger than 65536 bytes")
			post := c.Do(t, http.MethodPost, target, header, nil)
			expect(post, 404, "SVC_RESOURCE_NOT_FOUND", "this resource is read with GET or HEAD")
			if post.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("Allow: got %q, want GET, HEAD", post.Header.Get("Allow"))
			}
			c.WithHandler(b.serve(t, usage.NoProvider{}, Options{Disabled: true}), func() {
				expect(get(t, target, header, nil), 404, "SVC_GATEWAY_DISABLED",
					"version 5 is disabled in this environment")
				expect(get(t, prefix+"openapi.json", nil, nil), 404, "SVC_GATEWAY_DISABLED",
					"version 5 is disabled in this environment")
			})
			c.WithHandler(b.serve(t, usage.NoProvider{}, full), func() {
				resp := get(t, target, header, nil)
				expect(resp, 429, "SVC_RATE_LIMITED", "too many calls with this API key, try again later")
				if resp.Header.Get("Retry-After") != "2" {
					t.Errorf("Retry-After: got %q, want 2", resp.Header.Get("Retry-After"))
				}
				expect(get(t, target, nil, nil), 429, "SVC_RATE_LIMITED",
					"too many calls from this address failed to authenticate, try again later")
				for _, offset := range []time.Duration{-time.Hour, time.Hour} {
					at := b.timestamp(offset)
					wrongClock := signHeaders(b.issued.APIKey, b.issued.GatewaySecret, "GET", target, at, nil)
					expect(get(t, target, wrongClock, nil), 401, "SVC_UNAUTHORIZED",
						"the API key, signature or timestamp was not accepted")
					wrongSecret := signHeaders(b.issued.APIKey, "gs_other", "GET", target, at, nil)
					expect(get(t, target, wrongSecret, nil), 429, "SVC_RATE_LIMITED",
						"too many calls from this address failed to authenticate, try again later")
				}
			})
			unavailable := &fault.Error{Kind: fault.Unavailable,
				Message: "the database does not answer, try again in a moment", Err: errors.New("secret cause")}
			c.WithHandler(b.failingHandler(t, unavailable), func() {
				resp := get(t, target, header, nil)
				expect(resp, 503, "SVC_GATEWAY_UNAVAILABLE", unavailable.Message)
				if resp.Header.Get("Retry-After") != "1" {
					t.Errorf("Retry-After: got %q, want 1", resp.Header.Get("Retry-After"))
				}
			})
			c.WithHandler(b.failingHandler(t, errors.New("secret cause")), func() {
				expect(get(t, target, header, nil), 503, "SVC_GATEWAY_UNAVAILABLE",
					"the gateway is unavailable, try again in a moment")
			})
		})
	}
	t.Run("limit and cursor", func(t *testing.T) {
		for query, message := range map[string]string{
			"limit=0":                               "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"limit=":                                "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"limit":                                 "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"limit=-1":                              "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"limit=5.0":                             "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"limit=%D9%A3":                          "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"limit=1;limit=2":                       "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"limit=%zz":                             "limit in the query is not percent-encoded correctly",
			"limit=5&limit=5":                       "limit must be sent at most once",
			"limit=5&%6Cimit=5":                     "limit must be sent at most once",
			"cursor=":                               "cursor must be the next_cursor of an earlier response",
			"cursor=AAAA":                           "cursor must be the next_cursor of an earlier response",
			"cursor=__________8":                    "cursor must be the next_cursor of an earlier response",
			"cursor=AAAAAAAAAAA&cursor=AAAAAAAAAAA": "cursor must be sent at most once",
		} {
			target := prefix + "requests?" + query
			for _, h := range []http.Handler{b.handler, b.serve(t, usage.NoProvider{}, Options{Skew: time.Minute})} {
				c.WithHandler(h, func() {
					resp := get(t, target, b.signedHeaders("GET", target, nil), nil)
					if code, got := decodeError(t, resp); resp.StatusCode != 400 || code != "SVC_INVALID_REQUEST" ||
						got != message {
						t.Errorf("%s: got %d %s %q, want %q", query, resp.StatusCode, code, got, message)
					}
				})
			}
		}
		for _, query := range []string{"limit=1", "limit=007", "limit=100", "limit=101", "limit=999999999999",
			"x=%zz&limit=2", "limit=%31", "project_id=other&limit=3", "cursor=AAAAAAAAAAA"} {
			target := prefix + "requests?" + query
			decodeData[Requests](t, get(t, target, b.signedHeaders("GET", target, nil), nil))
		}
	})
	t.Run("an unreadable body", func(t *testing.T) {
		for _, route := range signedRoutes {
			c.WithHandler(truncateBody(b.handler), func() {
				resp := get(t, prefix+route, nil, []byte("x"))
				if code, _ := decodeError(t, resp); resp.StatusCode != 400 || code != "SVC_INVALID_REQUEST" {
					t.Errorf("a body that breaks off: got %d %s, want 400 SVC_INVALID_REQUEST", resp.StatusCode, code)
				}
			})
		}
	})
	t.Run("other paths", func(t *testing.T) {
		for _, path := range []string{"", "nothing", "keys/", "keys/x", "/keys", "Keys", "openapi.yml"} {
			resp := get(t, prefix+path, b.signedHeaders("GET", prefix+path, nil), nil)
			if code, _ := decodeError(t, resp); resp.StatusCode != 404 || code != "SVC_RESOURCE_NOT_FOUND" ||
				resp.Header.Get("Allow") != "" {
				t.Errorf("%q: got %d %s, Allow %q, want 404 SVC_RESOURCE_NOT_FOUND without Allow", path,
					resp.StatusCode, code, resp.Header.Get("Allow"))
			}
		}
	})
	c.AssertCovered()
	c.AssertGolden("testdata/refusals.golden")
}

// TestDescription_DeclaresAuthentication checks that the description requires a
// signature for every route except openapi.json.
func TestDescription_DeclaresAuthentication(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi.json")
	must(t, err)
	var document struct {
		Security []map[string][]string
		Paths    map[string]map[string]struct{ Security *[]map[string][]string }
	}
	must(t, json.Unmarshal(text, &document))
	if len(document.Security) != 1 || len(document.Security[0]) != 3 {
		t.Errorf("security: got %v, want one requirement with three headers", document.Security)
	}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			if method != "get" || (operation.Security == nil) == (path == "/openapi.json") {
				t.Errorf("%s %s: got security %v, want get, with its own security for openapi.json only", method, path,
					operation.Security)
			}
		}
	}
	if len(document.Paths) != len(signedRoutes)+1 {
		t.Errorf("paths: got %d, want %d", len(document.Paths), len(signedRoutes)+1)
	}
}

// alwaysLimited is a limiter that is always exhausted.
type alwaysLimited struct{}

func (alwaysLimited) Allow(string) (bool, time.Duration) { return false, 1500 * time.Millisecond }
func (alwaysLimited) RecordAttempt(netip.Addr) (bool, time.Duration) {
	return true, 500 * time.Millisecond
}

// failingHandler returns a handler whose key lookup fails with err.
func (b *fixture) failingHandler(t testing.TB, err error) http.Handler {
	t.Helper()
	h := NewHandler(failingLookup{err}, usage.NewService(b.db, usage.NoProvider{}, time.Now), b.counter, time.Now,
		Options{})
	return b.withMiddleware(h)
}

type failingLookup struct{ err error }

func (l failingLookup) ByAPIKey(context.Context, string) (key.APIKey, *key.Keyring, error) {
	return key.APIKey{}, nil, l.err
}

// truncateBody makes reading every body fail before its end.
func truncateBody(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = io.NopCloser(io.MultiReader(r.Body, strings.NewReader("x"), brokenPipe{}))
		h.ServeHTTP(w, r)
	})
}

type brokenPipe struct{}

func (brokenPipe) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestRequestsUsed_CountsPerOrganizationAndDay(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	call := func(c requestSender) string {
		target := prefix + "limits"
		return c.Do(t, http.MethodGet, target, b.signedHeaders("GET", target, nil),
			nil).Header.Get("X-Gateway-Requests-Used")
	}
	c := apitest.New(t, description, b.handler)
	for n := 1; n <= 3; n++ {
		if got := call(c); got != strconv.Itoa(n) {
			t.Errorf("X-Gateway-Requests-Used: got %q, want %d", got, n)
		}
	}
	// Rejected calls count only if their signature is correct.
	must(t, b.projects.Suspend(t.Context(), b.project.ID))
	call(c)
	must(t, b.projects.Resume(t.Context(), b.project.ID))
	c.Do(t, http.MethodGet, prefix+"limits", nil, nil)
	if got := call(c); got != "5" {
		t.Errorf("X-Gateway-Requests-Used: got %q, want 5", got)
	}
	// Another project of the organization has the same count.
	p, issued, err := b.keys.CreateProject(t.Context(),
		project.Draft{OrganizationID: b.organization.ID, Name: "Other"})
	must(t, err)
	resp := c.Do(t, http.MethodGet, prefix+"limits",
		signHeaders(issued.APIKey, issued.GatewaySecret, "GET", prefix+"limits", sign.FormatTimestamp(b.now), nil), nil)
	if got := resp.Header.Get("X-Gateway-Requests-Used"); got != "6" || p.ID == b.project.ID {
		t.Errorf("X-Gateway-Requests-Used: got %q, want 6", got)
	}
	// The count survives a restart.
	must(t, b.counter.Flush(t.Context()))
	b.counter = counter.New(b.db, func() time.Time { return b.now })
	c = apitest.New(t, description, b.serve(t, usage.NoProvider{}, b.options))
	if got := call(c); got != "7" {
		t.Errorf("X-Gateway-Requests-Used: got %q, want 7", got)
	}
	// The count starts again on each UTC day.
	b.now = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	if got := call(c); got != "1" {
		t.Errorf("X-Gateway-Requests-Used: got %q, want 1", got)
	}
	// If the counter fails, the response is the same and the count unavailable.
	h := NewHandler(b.keys, usage.NewService(b.db, usage.NoProvider{}, time.Now), failingCounter{},
		func() time.Time { return b.now }, b.options)
	if got := call(apitest.New(t, description, b.withMiddleware(h))); got != "unavailable" {
		t.Errorf("requests used without a counter: got %q, want unavailable", got)
	}
}

type requestSender interface {
	Do(t testing.TB, method, target string, header http.Header, body []byte) *http.Response
}

type failingCounter struct{}

func (failingCounter) Add(string, string)                     {}
func (failingCounter) Increment(string, string) (int64, bool) { return 0, false }
func (failingCounter) AwaitCount(context.Context, string, string, int64) (int64, error) {
	return 0, errors.New("gone")
}
func (failingCounter) Count(context.Context, string, string) (int64, time.Time, error) {
	return 0, time.Time{}, errors.New("gone")
}
