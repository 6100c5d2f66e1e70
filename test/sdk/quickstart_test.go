package sdk

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// quickStart is what the page shows to the readers of one language: commands and programs in their order.
type quickStart struct {
	commands []string
	programs map[string]string // by the name of their file
}

// readQuickStart returns the blocks of a language. Blocks without a title are for everybody.
func readQuickStart(t *testing.T, title, fence string) quickStart {
	t.Helper()
	page, err := os.ReadFile(absolute(t, "docs/api/quickstart.md"))
	if err != nil {
		t.Fatal(err)
	}
	q := quickStart{programs: map[string]string{}}
	for _, block := range codeBlock.FindAllStringSubmatch(string(page), -1) {
		switch {
		case block[1] == "sh" && block[2] == title:
			q.commands = append(q.commands, block[3])
		case block[1] == fence:
			name := fileName.FindStringSubmatch(block[3])
			if name == nil {
				t.Fatalf("quickstart.md: got a program without a name in its first line, want one:\n%s", block[3])
			}
			q.programs[name[1]] = block[3]
		}
	}
	if len(q.commands) != 3 || len(q.programs) != 2 {
		t.Fatalf("quickstart.md for %s: got %d commands and %d programs, want 3 and 2", title, len(q.commands), len(q.programs))
	}
	return q
}

// TestQuickStart_AsPrinted does what the quick start says, in an empty directory for each language.
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
			q, dir := readQuickStart(t, l.title, l.fence), t.TempDir()
			environment := append(l.prepare(t, dir), "PARLEY_URL="+service.url, "PARLEY_PROJECT_ID="+service.project.ProjectID,
				"PARLEY_API_KEY="+service.project.APIKey, "PARLEY_PROJECT_SECRET="+service.project.ProjectSecret,
				"PARLEY_GATEWAY_SECRET="+service.project.GatewaySecret)
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
			service.checkReceiver(t, dir, fill(q.commands[2]), "http://127.0.0.1:"+port, environment)
		})
	}
}

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
	testkit.Eventually(t, "the receiver prints the event", func() bool {
		return strings.Contains(output.String(), "room.scheduled 1")
	})
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
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}
