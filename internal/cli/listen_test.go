package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/quickstart"
	"parley/internal/testkit"
)

const (
	oldSecret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

// startListen runs the command with a secret from the quickstart file, and
// returns its address, its output, and a function that ends it and returns the exit status and
// the standard error.
func startListen(t *testing.T, flags ...string) (url string, out *testkit.Buffer, end func() (int, string)) {
	t.Helper()
	dir := t.TempDir()
	raw, err := json.Marshal(quickstart.File{ProjectID: "P", ProjectSecret: oldSecret})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, quickstart.FileName), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	out = &testkit.Buffer{}
	var errs testkit.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- Main(ctx, append([]string{"webhook", "listen", "--listen", "127.0.0.1:0", "--data-dir", dir},
			flags...), nil, out, &errs)
	}()
	t.Cleanup(stop)
	greeting := regexp.MustCompile(`webhooks at (http://127\.0\.0\.1:\d+/) until`)
	testkit.Eventually(t, "the command prints its URL", func() bool {
		m := greeting.FindStringSubmatch(errs.String())
		if m != nil {
			url = m[1]
		}
		return m != nil
	})
	return url, out, func() (int, string) {
		stop()
		return <-ended, errs.String()
	}
}

// testWebhook is a webhook to send.
type testWebhook struct {
	id, body        string
	secrets         []string
	timestampOffset time.Duration     // its timestamp, from now
	headerOverrides map[string]string // replace the correct headers; an empty one removes its header
	sentBody        string            // replaces the signed body
}

func newEvent(id, room string, sequence, previous int) testWebhook {
	return testWebhook{id: id, secrets: []string{oldSecret},
		body: fmt.Sprintf(
			`{"id":%q,"type":"room.opened","sequence":%d,"previous":%d,"project_id":"P","data":{"room_id":%q}}`, id, sequence, previous, room)}
}

func (w testWebhook) send(t *testing.T, url string) (status int) {
	t.Helper()
	timestamp := sign.FormatTimestamp(time.Now().Add(w.timestampOffset))
	signature, err := sign.Webhook(w.secrets, w.id, timestamp, []byte(w.body))
	if err != nil {
		t.Fatal(err)
	}
	if w.sentBody == "" {
		w.sentBody = w.body
	}
	q, err := http.NewRequest(http.MethodPost, url, strings.NewReader(w.sentBody))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{headerWebhookID: w.id, headerWebhookTimestamp: timestamp,
		headerWebhookSignature: signature} {
		q.Header.Set(name, value)
	}
	for name, value := range w.headerOverrides {
		if q.Header.Set(name, value); value == "" {
			q.Header.Del(name)
		}
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// readReports parses the JSON lines of the output.
func readReports(t *testing.T, out *testkit.Buffer) (all []webhookReport) {
	t.Helper()
	for line := range strings.Lines(out.String()) {
		var a webhookReport
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("parse the report %s: %v", line, err)
		}
		all = append(all, a)
	}
	return all
}

// TestWebhookListen_ReportsProblem checks the problem that is reported for each
// kind of invalid webhook, which is refused.
func TestWebhookListen_ReportsProblem(t *testing.T) {
	t.Parallel()
	url, out, end := startListen(t, "--json")
	with := func(change func(*testWebhook)) testWebhook {
		w := newEvent("e1", "r", 1, 0)
		change(&w)
		return w
	}
	tampered := strings.Replace(newEvent("e1", "r", 1, 0).body, "opened", "opener", 1)
	for i, tc := range []struct {
		testWebhook
		problem string
	}{
		{with(func(w *testWebhook) { w.secrets = []string{otherSecret} }), "other_secret"},
		{with(func(w *testWebhook) { w.sentBody = tampered }), "other_secret"}, // before the first valid webhook, the secret may be wrong too
		{newEvent("e0", "r", 1, 0), ""},
		{with(func(w *testWebhook) { w.sentBody = tampered }), "body_changed"},
		{with(func(w *testWebhook) { w.secrets = []string{otherSecret, oldSecret} }), ""},
		{with(func(w *testWebhook) { w.sentBody = tampered }), "body_changed"},
		{with(func(w *testWebhook) { w.sentBody = strings.ReplaceAll(w.body, ",", ", ") + "\n" }), "body_changed"}, // differs from the first delivery
		{with(func(w *testWebhook) {
			*w = newEvent("e2", "r", 2, 1)
			w.sentBody = strings.ReplaceAll(w.body, ",", ", ") + "\n"
		}), "body_reformatted"},
		{with(func(w *testWebhook) { *w = newEvent("e2", "r", 2, 1); w.sentBody = w.body[:20] }), "body_changed"},
		{with(func(w *testWebhook) {
			*w = newEvent("e3", "r", 3, 2)
			w.body, w.secrets = strings.Replace(w.body, `"P"`, `"Q"`, 1), []string{otherSecret}
		}), "other_project"},
		{with(func(w *testWebhook) { w.headerOverrides = map[string]string{headerWebhookID: "e4"} }), "body_changed"},
		{with(func(w *testWebhook) { w.headerOverrides = map[string]string{headerWebhookID: ""} }), "header_missing"},
		{with(func(w *testWebhook) { w.headerOverrides = map[string]string{headerWebhookTimestamp: ""} }), "header_missing"},
		{with(func(w *testWebhook) { w.headerOverrides = map[string]string{headerWebhookSignature: ""} }), "header_missing"},
		{with(func(w *testWebhook) { w.headerOverrides = map[string]string{headerWebhookTimestamp: "soon"} }), "header_malformed"},
		{with(func(w *testWebhook) { w.timestampOffset = -time.Hour }), "timestamp_behind"},
		{with(func(w *testWebhook) { w.timestampOffset = time.Hour }), "timestamp_ahead"},
		{with(func(w *testWebhook) { w.sentBody = strings.Repeat("x", maxWebhookBody+1) }), "body_too_large"},
	} {
		want := http.StatusUnauthorized
		switch tc.problem {
		case "":
			want = http.StatusNoContent
		case "body_too_large":
			want = http.StatusRequestEntityTooLarge
		}
		if status := tc.send(t, url); status != want {
			t.Errorf("webhook %d: got status %d, want %d", i, status, want)
		}
		all := readReports(t, out)
		a := all[len(all)-1]
		code := ""
		if a.Problem != nil {
			code = a.Problem.Code
		}
		if len(all) != i+1 || code != tc.problem || a.Valid != (code == "") || a.Status != want {
			t.Errorf("webhook %d: got problem %q in %+v, want %q and status %d", i, code, a, tc.problem, want)
		}
	}
	const summary = "18 webhooks received, 2 verified, 0 of them repeated; 0 gaps."
	if status, errs := end(); status != exitOK || !strings.Contains(errs, summary) {
		t.Errorf("got exit status %d, %s, want 0, %s", status, errs, summary)
	}
}

// TestWebhookListen_TracksSequence checks that missing, repeated, replayed and
// late webhooks are marked, separately for each room and path.
func TestWebhookListen_TracksSequence(t *testing.T) {
	t.Parallel()
	url, out, end := startListen(t, "--status", "500", "--json")
	replay := map[string]string{headerWebhookReplay: "true"}
	again := newEvent("a1", "r", 2, 1)
	again.headerOverrides = replay
	unseen := newEvent("a3", "r", 4, 3)
	unseen.headerOverrides = replay
	stranger := newEvent("a9", "r", 90, 6)
	stranger.secrets = []string{otherSecret}
	type mark struct {
		times                 int
		replay, missing, late bool
		last                  int64
	}
	for i, tc := range []struct {
		testWebhook
		path string
		want mark
	}{
		{newEvent("a1", "r", 2, 1), "", mark{times: 1}}, // earlier webhooks are not missing
		{newEvent("a1", "r", 2, 1), "", mark{times: 2}},
		{newEvent("b1", "other", 1, 0), "", mark{times: 1}},
		{newEvent("a2", "r", 3, 2), "", mark{times: 1, last: 2}},
		{newEvent("a5", "r", 6, 5), "", mark{times: 1, missing: true, last: 3}},
		{unseen, "", mark{times: 1, replay: true}},
		{again, "", mark{times: 3, replay: true}},
		{stranger, "", mark{}},
		{newEvent("a6", "r", 7, 6), "", mark{times: 1, last: 6}},
		{newEvent("a4", "r", 5, 4), "", mark{times: 1, late: true, last: 7}},
		{newEvent("c1", "r", 9, 8), "elsewhere?x=1", mark{times: 1}},
		{newEvent("p1", "", 3, 2), "", mark{times: 1}},
	} {
		status := tc.send(t, url+tc.path)
		all := readReports(t, out)
		a := all[len(all)-1]
		if got := (mark{a.Times, a.Replay, a.Missing, a.Late, a.Last}); got != tc.want || a.Target != "/"+tc.path ||
			string(a.Payload) != tc.body {
			t.Errorf("webhook %d: got %+v, want %+v, in %+v", i, got, tc.want, a)
		}
		if want := map[bool]int{true: 500, false: 401}[a.Valid]; status != want || a.Status != want {
			t.Errorf("webhook %d: got status %d, reported as %d, want %d", i, status, a.Status, want)
		}
	}
	const summary = "12 webhooks received, 11 verified, 2 of them repeated; 1 gap."
	if status, errs := end(); status != exitOK || !strings.Contains(errs, "The response is 500") ||
		!strings.Contains(errs, summary) {
		t.Errorf("got exit status %d, %s, want 0, the response 500 and %s", status, errs, summary)
	}
}

// TestWebhookListen_TextOutput checks the output for people, without control
// characters.
func TestWebhookListen_TextOutput(t *testing.T) {
	t.Parallel()
	url, out, end := startListen(t)
	both := newEvent("e1", "r1", 1, 0)
	both.secrets = []string{otherSecret, oldSecret}
	both.send(t, url)
	both.send(t, url)
	newEvent("e4", "r1", 4, 3).send(t, url)
	stranger := newEvent("e5", "r1", 5, 4)
	stranger.secrets = []string{otherSecret}
	stranger.body = strings.Replace(stranger.body, "room.opened", `\u001b[2J`, 1)
	stranger.send(t, url)
	if answer, err := http.Get(url); err != nil || answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET %s: got %v, %v, want status 405", url, answer, err)
	}
	status, errs := end()
	if status != exitOK {
		t.Errorf("got exit status %d, want 0", status)
	}
	for _, line := range []string{
		`(?m)^20\S+Z  room\.opened  sequence 1, after 0  room r1  verified  answered 204$`,
		`(?m)^    signature 2 of 2 matches: the secret is being rotated, and yours is valid until the overlap ends$`,
		`(?m)^    the same webhook for the 2\. time`,
		`(?m)^    MISSING: the last received sequence is 1, but events up to 3 were sent`,
		`(?m)^20\S+Z  �\[2J  sequence 5, after 4  room r1  NOT VERIFIED  answered 401$`,
		`(?m)^    no signature matches, .* \(body_changed\)$`,
	} {
		if !regexp.MustCompile(line).MatchString(out.String()) {
			t.Errorf("the output has no line %s:\n%s", line, out.String())
		}
	}
	for _, line := range []string{"parley project set P default_webhook_url=" + url,
		"parley serve --webhook-allow 127.0.0.1", "4 webhooks received, 3 verified, 1 of them repeated; 1 gap."} {
		if !strings.Contains(errs, line) {
			t.Errorf("the standard error has no %q:\n%s", line, errs)
		}
	}
	if strings.Contains(out.String()+errs, oldSecret[:12]) {
		t.Error("the output contains the secret")
	}
}
