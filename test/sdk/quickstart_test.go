package sdk

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/internal/testkit"
)

// codeBlock is a fenced block of a guide: its language, its title and its text.
var codeBlock = regexp.MustCompile("(?ms)^```(\\w+)(?: title=\"(\\w+)\")?\n(.*?)^```$")

// fileName is in the comment at the beginning of a program.
var fileName = regexp.MustCompile(`^(?://|#|<\?php //) (\S+)\n`)

// guide is what a page shows to the readers of one language: commands and programs in their order.
type guide struct {
	commands []string
	programs map[string]string // by the name of their file
}

// readGuide returns the blocks of a language, of which the page must have these numbers. Blocks without a title are
// for everybody.
func readGuide(t *testing.T, name, title, fence string, commands, programs int) guide {
	t.Helper()
	page, err := os.ReadFile(absolute(t, "docs/api/"+name))
	if err != nil {
		t.Fatal(err)
	}
	q := guide{programs: map[string]string{}}
	for _, block := range codeBlock.FindAllStringSubmatch(string(page), -1) {
		switch {
		case block[1] == "sh" && block[2] == title:
			q.commands = append(q.commands, block[3])
		case block[1] == fence:
			file := fileName.FindStringSubmatch(block[3])
			if file == nil && fence == "sh" {
				continue // a command in the text
			}
			if file == nil {
				t.Fatalf("%s: got a program without a name in its first line, want one:\n%s", name, block[3])
			}
			q.programs[file[1]] = block[3]
		}
	}
	if len(q.commands) != commands || len(q.programs) != programs {
		t.Fatalf("%s for %s: got %d commands and %d programs, want %d and %d", name, title, len(q.commands),
			len(q.programs), commands, programs)
	}
	return q
}

// TestQuickStart_AsPrinted does what the quick start says, in an empty directory for each language, and then what the
// guide about tests says.
func TestQuickStart_AsPrinted(t *testing.T) {
	service := startService(t)
	for _, l := range []struct {
		title, fence string
		prepare      func(t *testing.T, dir string) (environment []string)
	}{
		{"TypeScript", "ts", func(*testing.T, string) []string { return nil }},
		{"Python", "python", func(_ *testing.T, dir string) []string {
			return []string{"PATH=" + filepath.Join(dir, "venv/bin") + ":" + os.Getenv("PATH"), "PIP_NO_INDEX=1"}
		}},
		{"PHP", "php", func(t *testing.T, _ string) []string { return phpEnvironment(t, t.TempDir()) }},
		{"Go", "go", func(_ *testing.T, dir string) []string {
			return []string{"GOMODCACHE=" + filepath.Join(dir, "modules"), "GOFLAGS=-modcacherw"}
		}},
	} {
		t.Run(l.title, func(t *testing.T) {
			q, dir := readGuide(t, "quickstart.md", l.title, l.fence, 3, 2), t.TempDir()
			prepared := l.prepare(t, dir)
			environment := append(slices.Clone(prepared), service.environment(service.project)...)
			port := strconv.Itoa(testkit.FreeTCPPort(t))
			fill := strings.NewReplacer("{{base_url}}", service.url, "8090", port).Replace
			for name, program := range q.programs {
				writeFile(t, filepath.Join(dir, name), fill(program))
			}
			run(t, dir, environment, "bash", "-e", "-c", fill(q.commands[0]))
			printed := run(t, dir, environment, "bash", "-e", "-c", q.commands[1])
			links := regexp.MustCompile(`(?m)^(?:Amina|Bela): (\S+)$`).FindAllStringSubmatch(printed, -1)
			if len(links) != 2 {
				t.Fatalf("%s: got %q, want the links of Amina and Bela", q.commands[1], printed)
			}
			for _, link := range links {
				service.checkLink(t, link[1])
			}
			if !testing.Short() { // two more browsers for each language
				run(t, absolute(t, "test/sdk"), nil, "node", "meet.mjs", links[0][1], links[1][1])
			}
			service.checkReceiver(t, dir, fill(q.commands[2]), "http://127.0.0.1:"+port, environment)

			if !testing.Short() {
				service.checkRecipes(t, dir, l.title, l.fence, environment)
			}

			simulation := readGuide(t, "testing.md", l.title, l.fence, 1, 1)
			for name, program := range simulation.programs {
				writeFile(t, filepath.Join(dir, name), program)
			}
			ofTestProject := append(prepared, service.environment(service.testProject)...)
			got := run(t, dir, ofTestProject, "bash", "-e", "-c", simulation.commands[0])
			if !strings.HasSuffix(got, simulatedEvents) {
				t.Errorf("%s: got %q, want the events of a meeting:\n%s", simulation.commands[0], got, simulatedEvents)
			}
		})
	}
}

// checkRecipes runs the programs of recipes.md, in the directory with the SDK.
func (s service) checkRecipes(t *testing.T, dir, title, fence string, environment []string) {
	t.Helper()
	recipes := readGuide(t, "recipes.md", title, fence, 0, 7)
	for name, program := range recipes.programs {
		writeFile(t, filepath.Join(dir, name), program)
	}
	extension := map[string]string{"ts": ".mjs", "python": ".py", "php": ".php", "go": ".go"}[fence]
	command := map[string][]string{"ts": {"node"}, "python": {"python3"}, "php": {"php"}, "go": {"go", "run"}}[fence]
	runRecipe := func(name, want string, args ...string) string {
		t.Helper()
		line := strings.Join(slices.Concat(command, []string{name + extension}, args), " ")
		got := run(t, dir, environment, "bash", "-e", "-c", line)
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
		return got
	}
	id, _, _ := strings.Cut(runRecipe("schedule", `^[0-9a-f-]{36} is open for Amina: http\S+\n$`), " ")
	runRecipe("status", `^open.* \S+\n0 people:`, id)
	runRecipe("report", `^reported: [Tt]rue\n$`, id)
	runRecipe("project", `^the project is inactive\nthe project is active\n$`)
	runRecipe("breakouts", `^0 people in [0-9a-f-]{36}\n$`)
	runRecipe("rotation", `^current key: pk_\S+\nno rotation in progress\n$`)
	runRecipe("catchup", `^1 room.scheduled\n2 room.scheduled\n3 room.opened\n4 participant.reported\nnext time, continue after 4\n$`, id)
	runRecipe("catchup", `^4 participant.reported\nnext time, continue after 4\n$`, id, "3")
}

// simulatedEvents is what the program of testing.md prints.
const simulatedEvents = `1 room.opened
2 room.started
3 participant.joined
4 participant.joined
5 participant.left
6 participant.left
7 room.ended
`

// checkLink previews a link, as the room page does.
func (s service) checkLink(t *testing.T, link string) {
	t.Helper()
	if got := s.preview(t, link).Link; got != "ok" {
		t.Errorf("preview of %s: got the link %q, want ok", link, got)
	}
}

// checkReceiver starts the receiver of webhooks of the quick start, and sends it a webhook of the server, and
// the same one changed.
func (s service) checkReceiver(t *testing.T, dir, command, receiver string, environment []string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", "exec "+strings.TrimSpace(command))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	output := &testkit.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go run starts another process
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	genuine := s.newWebhook(t)
	changed := webhook{genuine.headers, genuine.body + " "}
	testkit.EventuallyWithin(t, 2*time.Minute, "the receiver accepts a webhook", func() bool {
		return sendWebhook(receiver, genuine) == http.StatusNoContent
	})
	if status := sendWebhook(receiver, changed); status != http.StatusUnauthorized {
		t.Errorf("a changed webhook: got status %d, want 401\n%s", status, output)
	}
	defer cutOff(t, receiver)()
	if status := sendWebhook(receiver, genuine); status != http.StatusNoContent {
		t.Errorf("a webhook after one that was cut off: got status %d, want 204\n%s", status, output)
	}
	testkit.Eventually(t, "the receiver prints the event", func() bool {
		return strings.Contains(output.String(), "room.scheduled 1")
	})
}

// cutOff sends a request whose body ends too early and waits until the receiver has closed the connection. Another
// connection says nothing until the returned function is called.
func cutOff(t *testing.T, receiver string) (closeIdle func()) {
	t.Helper()
	address := strings.TrimSuffix(strings.TrimPrefix(receiver, "http://"), "/")
	idle, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(testkit.Timeout))
	_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: receiver\r\nContent-Length: 100\r\n\r\n{}")
	if err := errors.Join(err, conn.(*net.TCPConn).CloseWrite()); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, conn) // also if the receiver resets the connection
	return func() { _ = idle.Close() }
}

// sendWebhook sends a webhook and returns the status of the response; 0 if there is none.
func sendWebhook(receiver string, w webhook) int {
	request, err := http.NewRequest(http.MethodPost, receiver, strings.NewReader(w.body))
	if err != nil {
		return 0
	}
	for name, value := range w.headers {
		if name != "content-length" && name != "accept-encoding" {
			request.Header.Set(name, value)
		}
	}
	response, err := (&http.Client{Timeout: testkit.Timeout}).Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// TestRecipes_WithCurl runs the programs of recipes.md and testing.md that need no SDK.
func TestRecipes_WithCurl(t *testing.T) {
	if testing.Short() {
		t.Skip("the examples of the other guides sign with curl, too: make test-all runs it")
	}
	service, dir := startService(t), t.TempDir()
	for _, g := range []guide{
		readGuide(t, "recipes.md", "curl", "sh", 0, 8), readGuide(t, "testing.md", "curl", "sh", 1, 1),
	} {
		for name, program := range g.programs {
			writeFile(t, filepath.Join(dir, name), program)
		}
	}
	call := func(project credentials, line, want string) string {
		t.Helper()
		got := run(t, dir, service.environment(project), "bash", "-e", "-c", "bash -e "+line)
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
		return got
	}
	scheduled := call(service.project, "schedule.sh", `([0-9a-f-]{36}) is open for Amina: http\S+\n$`)
	id := regexp.MustCompile(`([0-9a-f-]{36}) is open`).FindStringSubmatch(scheduled)[1]
	call(service.project, "status.sh "+id, `(?s)"status":true.*"joined_participants":"0"`)
	call(service.project, "report.sh "+id, `"joined":true`)
	call(service.project, "project.sh", `(?s)"status":"inactive".*"status":"active"`)
	call(service.project, "breakouts.sh", `"participants_info":\[\]`)
	call(service.project, "rotation.sh", `"overlap":null`)
	call(service.project, "catchup.sh "+id+" 3", `^\{"events":\[\{.*"type":"participant.reported".*\}\],"has_more":false,"next_after":4\}`)
	var events strings.Builder
	for line := range strings.Lines(simulatedEvents) {
		_, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Fprintf(&events, "\"type\":%q\n", kind)
	}
	call(service.testProject, "simulate.sh", regexp.QuoteMeta(events.String())+"$")
}
