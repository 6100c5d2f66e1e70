// Package apitest holds a handler to its openapi.yaml in tests: each answer
// must be one that the description documents, byte for byte of its schema. It
// imports the standard library and kin-openapi, and is imported by tests only.
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

// Checker sends requests and holds the answers to the description.
type Checker struct {
	t       testing.TB
	doc     *openapi3.T
	router  routers.Router
	handler http.Handler

	mu     sync.Mutex
	seen   map[string]bool // "operationId status"
	errors errorLog
}

// New loads a description and checks that it is one.
func New(t testing.TB, description []byte, handler http.Handler) *Checker {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatalf("load the description: %v", err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Fatalf("the description is no OpenAPI document: %v", err)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatalf("route the description: %v", err)
	}
	return &Checker{t: t, doc: doc, router: router, handler: handler, seen: map[string]bool{}, errors: errorLog{}}
}

// Do sends a request. The answer must be documented for its operation: status,
// headers and body. For an answer of 200 the request must be valid by the
// description too, so that the two cannot drift apart.
func (c *Checker) Do(t testing.TB, method, target string, header http.Header, body []byte) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, bytes.NewReader(body))
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	answer := w.Result()
	answer.Body = io.NopCloser(bytes.NewReader(w.Body.Bytes()))
	if answer.StatusCode >= http.StatusBadRequest {
		c.mu.Lock()
		c.errors.add(t, method, target, answer, w.Body.Bytes())
		c.mu.Unlock()
	}

	r = httptest.NewRequest(method, target, bytes.NewReader(body))
	r.Header = header.Clone()
	if answer.StatusCode == http.StatusMethodNotAllowed {
		c.checkAllow(t, r, answer)
		return answer
	}
	route, params, err := c.router.FindRoute(r)
	if err != nil || strings.HasSuffix(r.URL.Path, "/") {
		return answer // not an operation: nothing is documented
	}
	c.mu.Lock()
	c.seen[fmt.Sprintf("%s %d", route.Operation.OperationID, answer.StatusCode)] = true
	c.mu.Unlock()
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}}
	if answer.StatusCode == http.StatusOK {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			t.Errorf("%s %s answered 200 to a request that the description refuses: %v", method, target, err)
		}
	}
	if err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: answer.StatusCode, Header: answer.Header,
		Body: io.NopCloser(bytes.NewReader(w.Body.Bytes())), Options: in.Options,
	}); err != nil {
		t.Errorf("%s %s answered %d, which the description does not allow: %v\n%s", method, target, answer.StatusCode, err, w.Body)
	}
	return answer
}

// checkAllow holds a 405 to its Allow header: it must name the methods that
// the description has for the path, and each of them then documents the 405.
func (c *Checker) checkAllow(t testing.TB, r *http.Request, answer *http.Response) {
	t.Helper()
	var documented []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		asked := r.Clone(context.Background())
		asked.Method = method
		route, params, err := c.router.FindRoute(asked)
		if err != nil || slices.Contains(slices.Collect(maps.Values(params)), "") { // the router takes /a for /a/{id}
			continue
		}
		documented = append(documented, method)
		if method == http.MethodGet {
			documented = append(documented, http.MethodHead)
		}
		c.seen[route.Operation.OperationID+" 405"] = true
	}
	slices.Sort(documented)
	if got := answer.Header.Get("Allow"); got != strings.Join(documented, ", ") {
		t.Errorf("%s %s: Allow is %q, the description has %v", r.Method, r.URL.Path, got, documented)
	}
}

// WithHandler sends what work sends to another handler of the same description, such
// as one whose database is gone.
func (c *Checker) WithHandler(handler http.Handler, work func()) {
	usual := c.handler
	defer func() { c.handler = usual }()
	c.handler = handler
	work()
}

// AssertCovered fails the test for each documented status of each operation that no
// request has met.
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
		c.t.Errorf("documented, but met by no request here:\n%s", strings.Join(missing, "\n"))
	}
}
