// Package apitest checks in tests that a handler conforms to its openapi.yaml:
// the description must document the status, the headers and the body of each
// response. It imports only the standard library and kin-openapi, and only
// tests import it.
package apitest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

func init() {
	for _, binary := range []string{"image/png", "image/jpeg", "image/webp", "application/x-tar", "text/event-stream"} {
		openapi3filter.RegisterBodyDecoder(binary, openapi3filter.FileBodyDecoder)
	}
}

// Checker sends requests to a handler and checks the responses against the
// description.
type Checker struct {
	t       testing.TB
	doc     *openapi3.T
	router  routers.Router
	handler http.Handler

	mu     sync.Mutex
	seen   map[string]bool // "operationId status"
	errors errorLog
}

// New returns a Checker for a handler. It fails the test if description is not
// a valid OpenAPI document.
func New(t testing.TB, description []byte, handler http.Handler) *Checker {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatalf("load the description: %v", err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Fatalf("the description is not a valid OpenAPI document: %v", err)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatalf("route the description: %v", err)
	}
	return &Checker{
		t:       t,
		doc:     doc,
		router:  router,
		handler: handler,
		seen:    map[string]bool{},
		errors:  errorLog{},
	}
}

// Do sends a request and returns the response. The description must document
// the response for its operation: status, headers and body. If the status is
// 200, the request must also be valid by the description, so that the
// description and the handler cannot drift apart.
func (c *Checker) Do(t testing.TB, method, target string, header http.Header, body []byte) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, bytes.NewReader(body))
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	resp := w.Result()
	resp.Body = io.NopCloser(bytes.NewReader(w.Body.Bytes()))
	if resp.StatusCode >= http.StatusBadRequest {
		c.mu.Lock()
		c.errors.add(t, method, target, resp, w.Body.Bytes())
		c.mu.Unlock()
	}

	r = httptest.NewRequest(method, target, bytes.NewReader(body))
	r.Header = header.Clone()
	if resp.StatusCode == http.StatusMethodNotAllowed {
		c.checkAllow(t, r, resp)
		return resp
	}
	route, params, err := c.router.FindRoute(r)
	if err != nil || strings.HasSuffix(r.URL.Path, "/") {
		return resp // the path is not an operation
	}
	c.mu.Lock()
	c.seen[fmt.Sprintf("%s %d", route.Operation.OperationID, resp.StatusCode)] = true
	c.mu.Unlock()
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true}}
	if resp.StatusCode == http.StatusOK {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			t.Errorf("%s %s: got 200, want an error, because the description does not allow the request: %v",
				method, target, err)
		}
	}
	if err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in,
		Status:                 resp.StatusCode,
		Header:                 resp.Header,
		Body:                   io.NopCloser(bytes.NewReader(w.Body.Bytes())),
		Options:                in.Options,
	}); err != nil {
		t.Errorf("%s %s: got %d, want a response that the description allows: %v\n%s", method, target,
			resp.StatusCode, err, w.Body)
	}
	return resp
}

// checkAllow checks that the Allow header of a 405 names the methods that the
// description has for the path, and marks the 405 of their operations as seen.
func (c *Checker) checkAllow(t testing.TB, r *http.Request, resp *http.Response) {
	t.Helper()
	var documented []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete,
		http.MethodPatch} {
		probe := r.Clone(context.Background())
		probe.Method = method
		route, params, err := c.router.FindRoute(probe)
		// The router also matches /a with /a/{id}.
		if err != nil || slices.Contains(slices.Collect(maps.Values(params)), "") {
			continue
		}
		documented = append(documented, method)
		if method == http.MethodGet {
			documented = append(documented, http.MethodHead)
		}
		c.seen[route.Operation.OperationID+" 405"] = true
	}
	slices.Sort(documented)
	if got := resp.Header.Get("Allow"); got != strings.Join(documented, ", ") {
		t.Errorf("%s %s: got Allow %q, want %v from the description", r.Method, r.URL.Path, got, documented)
	}
}

// WithHandler runs work while the checker sends its requests to another handler
// of the same description, such as one whose database is down.
func (c *Checker) WithHandler(handler http.Handler, run func()) {
	previous := c.handler
	defer func() { c.handler = previous }()
	c.handler = handler
	run()
}

// AssertCovered fails the test for each documented status of an operation that
// no response had.
func (c *Checker) AssertCovered() {
	c.t.Helper()
	var missing []string
	for _, item := range c.doc.Paths.Map() {
		for _, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if key := operation.OperationID + " " + status; !c.seen[key] {
					missing = append(missing, key)
				}
			}
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		c.t.Errorf("got no response with these documented statuses, want one of each:\n%s", strings.Join(missing, "\n"))
	}
}
