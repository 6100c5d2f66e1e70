// Package webhooks tests that a public library verifies the webhooks of a server: the body
// and headers that were received over HTTP are passed to the npm package standardwebhooks.
package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/cli"
	"parley/internal/quickstart"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

func TestMain(m *testing.M) { parleytest.Main(m) }

// server is a running parley serve.
type server struct {
	t   *testing.T
	dir string
}

func startServer(t *testing.T) server {
	t.Helper()
	s := server{t, t.TempDir()}
	parleytest.Start(t, parleytest.Options{DataDir: s.dir, Args: []string{"--webhook-allow", "127.0.0.1"}})
	testkit.Eventually(t, "the server is healthy", func() bool {
		res, err := http.Get(s.quickstart().BaseURL + "/healthz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return s
}

// quickstart returns the current credentials of the server's project.
func (s server) quickstart() quickstart.File {
	s.t.Helper()
	q, err := quickstart.Read(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return q
}

// run runs a parley command on the server's data directory.
func (s server) run(args ...string) {
	s.t.Helper()
	var errs strings.Builder
	if status := cli.Main(context.Background(), append(args, "--data-dir", s.dir), nil, io.Discard,
		&errs); status != 0 {
		s.t.Fatalf("parley %s: %s", strings.Join(args, " "), errs.String())
	}
}

// delivery is a received webhook with the secret that verifies it.
type delivery struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body"` // Base64 in JSON
}

// startReceiver starts an HTTP server that sends the received webhooks to the channel.
func startReceiver(t *testing.T) (url string, received <-chan delivery) {
	all := make(chan delivery, 16)
	r := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Errorf("read the body of a webhook: %v", err)
		}
		d := delivery{Headers: map[string]string{}, Body: body}
		for name, values := range q.Header {
			d.Headers[strings.ToLower(name)] = strings.Join(values, ", ") // as in Node
		}
		all <- d
	}))
	t.Cleanup(r.Close)
	return r.URL, all
}

// verification is the library's result for a delivery.
type verification struct{ ID, Refusal string }

// verify verifies deliveries with the library.
func verify(t *testing.T, all []delivery) (results []verification) {
	t.Helper()
	in, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "verify.mjs")
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node verify.mjs: %v (make test-go installs its packages)\n%s", err, errs.String())
	}
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatalf("parse the output of verify.mjs: %v\n%s", err, out)
	}
	return results
}

// Before a rotation the old secret verifies webhooks, during it both secrets do, and after
// it only the new one does. A webhook with a changed byte is never verified.
func TestStandardWebhooks(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	url, received := startReceiver(t)
	next := func(kind string) delivery {
		t.Helper()
		select {
		case d := <-received:
			if !bytes.Contains(d.Body, []byte(`"type":"`+kind+`"`)) {
				t.Fatalf("received %s, want type %s", d.Body, kind)
			}
			return d
		case <-time.After(testkit.Timeout):
			t.Fatalf("no webhook of type %s within %s", kind, testkit.Timeout)
			return delivery{}
		}
	}
	project := s.quickstart().ProjectID
	s.run("project", "set", project, "default_webhook_url="+url)
	old := s.quickstart().ProjectSecret
	s.run("webhook", "test", project)
	before := next("webhook.test")
	s.run("project", "rotate-secret", project)
	next("key.rotated")
	s.run("request", "POST", "/api/v4/rooms/create_quick_video_room",
		"--body", `{"name":"Amína","max_participants":5,"empty_timeout":60,"metadata":{"room_title":"<Café> & ✓","welcome_message":""}}`)
	during := next("room.opened")
	s.run("project", "revoke-secret-overlap", project)
	s.run("webhook", "test", project)
	after := next("webhook.test")
	current := s.quickstart().ProjectSecret
	if old == current {
		t.Fatal("the secret was not rotated")
	}
	if n := len(strings.Fields(during.Headers["webhook-signature"])); n != 2 {
		t.Errorf("got %d signatures during the rotation, want 2", n)
	}

	const noMatch = "No matching signature found"
	type testCase struct {
		name   string
		of     delivery
		secret string
		change func(*delivery)
		want   string // the refusal
	}
	cases := []testCase{
		{"before", before, old, nil, ""},
		{"before, the new secret", before, current, nil, noMatch},
		{"during, the old secret", during, old, nil, ""},
		{"during, the new secret", during, current, nil, ""},
		{"after, the old secret", after, old, nil, noMatch},
		{"after, the new secret", after, current, nil, ""},
		{"another id", after, current, func(d *delivery) { d.Headers["webhook-id"] += "0" }, noMatch},
		{"another time", after, current, func(d *delivery) { d.Headers["webhook-timestamp"] = "1767225600" }, "Message timestamp too old"},
	}
	for _, d := range []testCase{{of: before, secret: old}, {of: during, secret: old}, {of: during, secret: current},
		{of: after, secret: current}} {
		for _, offset := range []int{0, len(d.of.Body) / 2, len(d.of.Body) - 1} {
			d.name, d.want = "a byte changed", noMatch
			d.change = func(d *delivery) { d.Body[offset] ^= 1 }
			cases = append(cases, d)
		}
	}
	var deliveries []delivery
	for _, q := range cases {
		d := delivery{Secret: q.secret, Headers: maps.Clone(q.of.Headers), Body: slices.Clone(q.of.Body)}
		if q.change != nil {
			q.change(&d)
		}
		deliveries = append(deliveries, d)
	}
	results := verify(t, deliveries)
	for i, q := range cases {
		want := verification{Refusal: q.want}
		if q.want == "" {
			want.ID = q.of.Headers["webhook-id"]
		}
		if results[i] != want {
			t.Errorf("%s: got %+v, want %+v", q.name, results[i], want)
		}
	}
}
