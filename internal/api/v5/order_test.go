package v5

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/internal/requestlog"
	"parley/internal/usage"
)

// TestServeHTTP_OrderOfChecks sends a request that fails every check, and fixes
// the reported error until the request succeeds.
func TestServeHTTP_OrderOfChecks(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	must(t, b.projects.Suspend(t.Context(), b.project.ID))
	options := Options{Skew: time.Minute, Disabled: true, Rate: alwaysLimited{}, RequestLog: failingList{b.recorder}}
	method, target, body := http.MethodPost, prefix+"request?limit=0", strings.Repeat("x", 1<<17)
	secret := b.issued.APIKey
	for _, tc := range []struct {
		status int
		code   string
		fix    func()
	}{
		{404, "SVC_GATEWAY_DISABLED", func() { options.Disabled = false }},
		{404, "SVC_RESOURCE_NOT_FOUND", func() { target = prefix + "requests?limit=0" }},
		{404, "SVC_RESOURCE_NOT_FOUND", func() { method = http.MethodGet }},
		{413, "SVC_INVALID_REQUEST", func() { body = "" }},
		{401, "SVC_UNAUTHORIZED", func() { secret = b.issued.GatewaySecret }},
		{429, "SVC_RATE_LIMITED", func() { options.Rate = nil }},
		{403, "SVC_GATEWAY_PROJECT_SUSPENDED", func() { must(t, b.projects.Resume(t.Context(), b.project.ID)) }},
		{400, "SVC_INVALID_REQUEST", func() { target = prefix + "requests?limit=1" }},
		{503, "SVC_GATEWAY_UNAVAILABLE", func() { options.RequestLog = b.recorder }},
		{200, "", nil},
	} {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header = signHeaders(b.issued.APIKey, secret, method, target, b.timestamp(0), []byte(body))
		w := httptest.NewRecorder()
		b.serve(t, usage.NoProvider{}, options).ServeHTTP(w, r)
		resp, code := w.Result(), ""
		if resp.StatusCode != http.StatusOK {
			code, _ = decodeError(t, resp)
		}
		if resp.StatusCode != tc.status || code != tc.code {
			t.Fatalf("got %d %s, want %d %s", resp.StatusCode, code, tc.status, tc.code)
		}
		if tc.fix != nil {
			tc.fix()
		}
	}
}

// failingList is a RequestLog whose List fails.
type failingList struct{ RequestLog }

func (failingList) List(context.Context, requestlog.Query) (requestlog.Page, error) {
	return requestlog.Page{}, errors.New("gone")
}
