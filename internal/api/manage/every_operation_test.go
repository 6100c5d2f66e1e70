package manage

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/internal/api/apitest"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/ratelimit"
)

// unknownPath returns the path of an operation with an unknown id for each parameter.
func unknownPath(path string) string {
	return regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(path, unknownID)
}

// testEveryOperation checks the errors that all operations have in common.
func testEveryOperation(t *testing.T, b *fixture) {
	b.t = t
	unavailable := &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
		Message: "the database does not answer, try again in a moment"}
	for _, o := range b.contract.Operations() {
		path := strings.TrimPrefix(unknownPath(o.Path), "/api/manage")
		if o.Public {
			testPublicOperation(b, o, path)
			continue
		}
		for name, header := range map[string]http.Header{
			"no token":       {},
			"another":        {"Authorization": {"Bearer pt_other"}},
			"empty":          {"Authorization": {"Bearer "}},
			"other scheme":   {"Authorization": {"Basic " + b.token}},
			"the token bare": {"Authorization": {b.token}},
			"two":            {"Authorization": {"Bearer " + b.token, "Bearer " + b.token}},
		} {
			if status, out := b.send(o.Method, path, header, nil); status != 401 ||
				out["error"].(m)["code"] != "unauthorized" {
				t.Errorf("%s, %s: got %d %v, want 401 unauthorized", o.ID, name, status, out)
			}
		}
		if status, _ := b.call("OPTIONS", path, nil); status != 405 {
			t.Errorf("OPTIONS %s: got %d, want 405", path, status)
		}
		b.testBody(o, path)
		if strings.Contains(o.Path, "{") {
			var body any
			if o.HasJSON {
				body = m{}
			}
			switch o.ID {
			case "setProjectLogo":
				body = pngImage(16, 16)
			case "exportPerson", "erasePerson":
				body = m{"user_id": "user-7"}
			case "removePerson":
				body = m{"seat_id": unknownID}
			}
			if status, out := b.call(o.Method, path, body); status != 404 {
				t.Errorf("%s of an unknown resource: got %d %v, want 404", o.ID, status, out)
			}
		}
		b.contract.WithHandler(b.handler(failingTokens{err: errors.New("secret cause")}, fakePlans{}, nil), func() {
			b.assertError(o.Method, path, nil, 500, "internal", internalError)
		})
		b.contract.WithHandler(b.handler(failingTokens{err: unavailable}, fakePlans{}, nil), func() {
			b.assertError(o.Method, path, nil, 503, "unavailable", unavailable.Message)
		})
		over := ratelimit.NewAddressLimiter(1, time.Now, nil)
		over.RecordAttempt(netip.Addr{})
		badToken := http.Header{"Authorization": {"Bearer pt_other"}}
		b.contract.WithHandler(b.handler(b.tokens, fakePlans{}, singleAddressLimiter{over}), func() {
			if status, out := b.send(o.Method, path, badToken, nil); status != 429 ||
				out["error"].(m)["code"] != "too_many_attempts" {
				t.Errorf("%s after too many failures: got %d %v, want 429 too_many_attempts", o.ID, status, out)
			}
		})
	}
	b.assertError("GET", "/nothing", nil, 404, "not_found",
		"there is no such path in the management API: use one of its openapi.yaml, in the source of this release")
	if resp := b.contract.Do(t, "GET", "/api/manage/nothing", nil, nil); resp.StatusCode != 401 {
		t.Errorf("an unknown path without a token: got %d, want 401", resp.StatusCode)
	}
}

// singleAddressLimiter counts all addresses as one.
type singleAddressLimiter struct{ *ratelimit.AddressLimiter }

func (e singleAddressLimiter) RecordAttempt(netip.Addr) (bool, time.Duration) {
	return e.AddressLimiter.RecordAttempt(netip.Addr{})
}

// testPublicOperation checks that an operation needs no token, not even a valid one.
func testPublicOperation(b *fixture, o apitest.Operation, path string) {
	if status, out := b.send(o.Method, path, http.Header{"Authorization": {"Bearer pt_other"}}, nil); status == 401 {
		b.t.Errorf("%s with another token: got %d %v, want that it does not matter", o.ID, status, out)
	}
	if status, _ := b.call("OPTIONS", path, nil); status != 405 {
		b.t.Errorf("OPTIONS %s: got %d, want 405", path, status)
	}
	b.testBody(o, path)
}

// testBody checks the errors for bodies that no operation takes.
func (b *fixture) testBody(o apitest.Operation, path string) {
	if !o.HasJSON {
		return
	}
	if status, out := b.send(o.Method, path,
		http.Header{"Authorization": {"Bearer " + b.token}, "Content-Type": {"text/plain"}}, []byte(`{}`)); status != 415 {
		b.t.Errorf("%s, text/plain: got %d %v, want 415", o.ID, status, out)
	}
	if status, out := b.call(o.Method, path, `{"x":"`+strings.Repeat("a", 64<<10)+`"}`); status != 413 {
		b.t.Errorf("%s, a large body: got %d %v, want 413", o.ID, status, out)
	}
	b.assertError(o.Method, path, `[]`, 400, "invalid_request", "the body must be a JSON object")
	b.assertError(o.Method, path, `{"`, 400, "invalid_request", "the body ends before its JSON does")
}

// failingTokens fails every authentication with err.
type failingTokens struct {
	Tokens
	err error
}

func (f failingTokens) Authenticate(context.Context, string) (operator.Token, error) {
	return operator.Token{}, f.err
}

// TestAuthenticate_LimitsFailures checks that an address with too many failures
// gets 429, and that a live token still passes.
func TestAuthenticate_LimitsFailures(t *testing.T) {
	t.Parallel()
	b := setup(t)
	limit := ratelimit.NewAddressLimiter(120, func() time.Time { return time.Unix(1_800_000_000, 0) }, nil)
	h := b.handler(b.tokens, fakePlans{}, limit)
	call := func(token string) int {
		r := httptest.NewRequest(http.MethodGet, "/api/manage/tokens", nil)
		r.RemoteAddr = "192.0.2.7:1234"
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if over := w.Code == http.StatusTooManyRequests; over != (w.Header().Get("Retry-After") != "") {
			t.Errorf("a response with the status %d: got Retry-After %q, want it with 429 only", w.Code,
				w.Header().Get("Retry-After"))
		}
		return w.Code
	}
	got := map[int]int{}
	for range 400 {
		got[call("wrong")]++
	}
	if got[401] != 120 || got[429] != 280 || call(b.token) != 200 {
		t.Errorf("400 wrong tokens got %v, want 120 times 401 and 280 times 429; the live token got %d, want 200",
			got, call(b.token))
	}
}
