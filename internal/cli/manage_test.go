package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"parley/internal/api/httpx"
	"parley/internal/api/manage"
	"parley/internal/operator"
	"parley/internal/overview"
	"parley/internal/project"
	"parley/internal/testkit"
)

// A read that exceeds the rate limit of an integrator's token is repeated when the server says. A change and a call
// with another refusal are not.
func TestManager_WaitsForRateLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args    []string
		code    string
		refused int // calls that are refused
		calls   int
		status  int
	}{
		"read":             {[]string{"room", "list"}, "rate_limited", 1, 2, exitOK},
		"change":           {[]string{"session", "revoke", noID, "--yes"}, "rate_limited", 1, 1, exitError},
		"too many guesses": {[]string{"room", "list"}, "too_many_attempts", 1, 1, exitError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if calls++; calls > c.refused {
					_, _ = w.Write([]byte(`{"rooms":[]}`))
					return
				}
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = w.Write([]byte(`{"error":{"code":"` + c.code + `","message":"too many calls, try again later"}}`))
			}))
			defer server.Close()
			var out, errs bytes.Buffer
			status := Main(t.Context(), append(c.args, "--url", server.URL, "--token", "pt_test"), nil, &out, &errs)
			if status != c.status || calls != c.calls ||
				status != exitOK && !strings.Contains(errs.String(), "too many calls, try again later") {
				t.Errorf("got status %d after %d calls and %q, want status %d after %d calls", status, calls, errs.String(),
					c.status, c.calls)
			}
		})
	}
}

// failing is a store of tokens, and an overview, that fail.
type failing struct{ manage.Tokens }

var errFailing = errors.New("no such table: api_tokens")

func (failing) Authenticate(context.Context, string) (operator.Token, error) {
	return operator.Token{}, errFailing
}

func (failing) All(context.Context) (overview.Overview, error) {
	return overview.Overview{}, errFailing
}

func (failing) OfProject(context.Context, project.Project) (overview.Overview, error) {
	return overview.Overview{}, errFailing
}

// An internal error of the server is one line, with the ID by which its cause is found in the log.
func TestInternalError_NamesTheRequest(t *testing.T) {
	t.Parallel()
	const id = `req_[0-9a-z]+`
	const want = `internal error: the operator of the server finds the cause in its log under the request ID ` + id
	serve := func(h http.Handler) (server *httptest.Server, log *testkit.Buffer) {
		log = &testkit.Buffer{}
		options := httpx.Options{Log: slog.New(slog.NewTextHandler(log, nil)), Fail: manage.WriteInternalError}
		server = httptest.NewServer(httpx.Middleware(h, options))
		t.Cleanup(server.Close)
		return server, log
	}
	check := func(name, got, line string, log *testkit.Buffer) {
		t.Helper()
		if !regexp.MustCompile(line).MatchString(got) {
			t.Fatalf("%s: got %q, want %s", name, got, line)
		}
		logged := regexp.MustCompile(id).FindString(got)
		testkit.Eventually(t, "the log has the cause under the ID of "+name, func() bool {
			return log.HasLine("request_id="+logged, errFailing.Error())
		})
	}
	server, log := serve(manage.NewHandler(manage.Services{Tokens: failing{}, BaseURL: func() string { return "" }}))
	var out, errs bytes.Buffer
	status := Main(t.Context(), []string{"status", "--url", server.URL, "--token", "pt_test"}, nil, &out, &errs)
	if status != exitError || out.Len() > 0 {
		t.Errorf("got status %d and the output %q, want status %d and no output", status, out.String(), exitError)
	}
	check("parley status", errs.String(), "^parley: "+want+"\n$", log)

	server, log = serve(manage.NewLocalHandler(failing{}))
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = localOverview(t.Context(), conn)
	check("the overview of parley doctor", fmt.Sprint(err), "^status 500: "+want+"$", log)

	panics := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(errFailing) })
	server, log = serve(httpx.WithRequestID(panics))
	errs.Reset()
	Main(t.Context(), []string{"status", "--url", server.URL, "--token", "pt_test"}, nil, &out, &errs)
	check("parley status after a panic", errs.String(), "^parley: "+want+"\n$", log)
}

// A value that chooses objects is refused if it is empty, so that a command with an unset variable of a script is not
// about all objects.
func TestManager_RefusesEmptyValues(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{}`))
		if r.URL.Path != "/api/manage/projects" {
			t.Errorf("got %s %s, want no call", r.Method, r.URL.Path)
		}
	}))
	defer server.Close()
	for _, c := range []struct {
		args []string
		want string // what must not be empty, or nothing if the command runs
	}{
		{[]string{"webhook", "retry", "--project", "", "--target", "https://example.org"}, "--project"},
		{[]string{"webhook", "retry", "--project", noID, "--target", ""}, "--target"},
		{[]string{"usage", "rebuild", "--org="}, "--org"},
		{[]string{"audit", "list", "--subject", ""}, "--subject"},
		{[]string{"room", "end", ""}, "<id>"},
		{[]string{"drain", ""}, "<node>"},
		{[]string{"portal", noID, ""}, "<project-id>"},
		{[]string{"person", "erase", noID, "--user-id", ""}, "--user-id"},
		{[]string{"user", "change", noID, "--role", "integrator", "--project", ""}, "--project"},
		{[]string{"project", "list", "--search", ""}, ""},
		{[]string{"project", "list"}, ""},
	} {
		var out, errs bytes.Buffer
		status := Main(t.Context(), append(c.args, "--url", server.URL, "--token", "pt_test"), nil, &out, &errs)
		wantStatus, want := exitUsage, "parley: "+c.want+" must not be empty\n"
		if c.want == "" {
			wantStatus, want = exitOK, ""
		}
		if status != wantStatus || errs.String() != want {
			t.Errorf("%q: got status %d and %q, want %d and %q", c.args, status, errs.String(), wantStatus, want)
		}
	}
}
