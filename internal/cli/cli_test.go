package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"parley/internal/quickstart"
	"parley/internal/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		// The command as its main runs it, in a process of its own.
		"parley": func() { os.Exit(Run()) },
	})
}

// These are absolute, because scripts run elsewhere.
var readmePath, columnsPath string

func TestScripts(t *testing.T) {
	testkit.WithinOne(t, 24*time.Hour, 2*time.Minute) // questions.txtar counts by day
	var err error
	if readmePath, err = filepath.Abs("../../README.md"); err != nil {
		t.Fatal(err)
	}
	if columnsPath, err = filepath.Abs("testdata/columns.golden"); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			port, err := testkit.PickUDPPort()
			e.Setenv("PARLEY_RTC_UDP_PORT", fmt.Sprint(port))
			e.Setenv("PARLEY_LISTEN", "127.0.0.1:0")
			e.Setenv("PARLEY_DATA_DIR", e.WorkDir+"/data")
			path, lookErr := exec.LookPath("parley")
			e.Setenv("PARLEY", path)
			return errors.Join(err, lookErr, goEnv(e))
		},
		Cmds:                scriptCommands,
		RequireExplicitExec: true,
	})
}

// healthy waits until the server of a data directory is healthy, and sets $URL,
// $ADDRESS and $TOKEN for it.
func healthy(ts *testscript.TestScript, _ bool, args []string) {
	q, ok := awaitServing(ts.MkAbs(args[0]))
	if !ok {
		ts.Fatalf("the server of %s was not healthy within %s", args[0], testkit.Timeout)
	}
	ts.Setenv("URL", q.BaseURL)
	ts.Setenv("ADDRESS", strings.TrimPrefix(q.BaseURL, "http://"))
	ts.Setenv("TOKEN", q.AdminToken)
}

// eventually reports whether a condition becomes true within testkit.Timeout. It is
// testkit.Eventually for scripts, whose failures must say what the script waited for.
func eventually(ok func() bool) bool {
	for deadline := time.Now().Add(testkit.Timeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return false
}

// awaitServing waits until the server of a data directory is healthy.
func awaitServing(dir string) (q quickstart.File, ok bool) {
	return q, eventually(func() bool { q, ok = serving(dir); return ok })
}

// serving reports whether the server of a data directory is healthy.
func serving(dir string) (quickstart.File, bool) {
	q, err := quickstart.Read(dir)
	if err != nil {
		return q, false
	}
	answer, err := http.Get(q.BaseURL + "/healthz")
	if err != nil {
		return q, false
	}
	_ = answer.Body.Close()
	return q, answer.StatusCode == http.StatusOK
}

// extractReadmeExample writes the example of the README that begins with a text
// to a file, with the address of the running server.
func extractReadmeExample(ts *testscript.TestScript, _ bool, args []string) {
	raw, err := os.ReadFile(readmePath)
	ts.Check(err)
	for _, block := range strings.Split(string(raw), "```sh\n")[1:] {
		example, _, _ := strings.Cut(block, "```")
		if strings.HasPrefix(example, args[1]) {
			example = strings.ReplaceAll(example, "http://127.0.0.1:8080", ts.Getenv("URL"))
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(example), 0o600))
			return
		}
	}
	ts.Fatalf("no example in the README begins with %q", args[1])
}

func TestMain_ExitStatus(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args string
		want int
	}{
		{"", exitOK}, {"--help", exitOK}, {"version", exitOK}, {"version --json", exitOK},
		{"nonsense", exitUsage}, {"serve --nonsense", exitUsage}, {"serve --listen nowhere", exitUsage}, {"serve --rtc-udp-port 0", exitUsage},
		{"request GET", exitUsage}, {"request GET api --url http://127.0.0.1:1", exitUsage},
		{"request GET /healthz --data-dir " + t.TempDir(), exitUsage},
		{"request GET /x --url http://127.0.0.1:1 --project-secret x --data-dir " + t.TempDir(), exitError},
	} {
		var errs strings.Builder
		if got := Main(context.Background(), strings.Fields(tc.args), nil, io.Discard, &errs); got != tc.want {
			t.Errorf("parley %s: got exit status %d, want %d: %s", tc.args, got, tc.want, errs.String())
		}
	}
}

// TestServe_StopDuringStart tests the status by which a service manager tells a stop from a start that failed.
func TestServe_StopDuringStart(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var errs testkit.Buffer
	status := Main(ctx, []string{"serve", "--no-supervise", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0",
		"--rtc-udp-port", fmt.Sprint(testkit.FreeUDPPort(t))}, nil, io.Discard, &errs)
	got, want := errs.String(), "parley: stopped during the start\n"
	if status != exitOK || !strings.HasSuffix(got, want) || strings.Count(got, "parley: ") != 1 {
		t.Errorf("got the exit status %d and %q, want 0 and %q", status, got, want)
	}
}

// A start without the address of --listen ends at once with the reason, before it announces a URL.
func TestServe_ListenInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var out, errs testkit.Buffer
	status := Main(t.Context(), []string{"serve", "--no-supervise", "--data-dir", t.TempDir(), "--listen",
		l.Addr().String(), "--rtc-udp-port", fmt.Sprint(testkit.FreeUDPPort(t))}, nil, &out, &errs)
	want := fmt.Sprintf("parley: --listen: the address %s is already in use by another Parley or another program\n", l.Addr())
	if status != exitError || out.String() != "" || !strings.HasSuffix(errs.String(), want) {
		t.Errorf("got the exit status %d, the output %q and the errors %q, want 1, none and %q", status, out.String(),
			errs.String(), want)
	}
}

func TestAddProjectID_Bodies(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"name":"A"}`:         `{"project_id":"P","name":"A"}`,
		"{\n  \"name\":\"A\"}": "{\"project_id\":\"P\",\n  \"name\":\"A\"}",
		`{}`:                   `{"project_id":"P"}`,
		`{"project_id":"Q"}`:   `{"project_id":"Q"}`,
		`[1]`:                  `[1]`,
		`null`:                 `null`,
		``:                     ``,
		`{"name":`:             `{"name":`,
	} {
		if got := string(addProjectID([]byte(body), "P")); got != want {
			t.Errorf("add the project id to %q: got %q, want %q", body, got, want)
		}
	}
}
