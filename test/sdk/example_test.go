package sdk

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// example is a copy of a directory of examples.
type example struct {
	service
	parley         *client.Client
	dir            string
	url            string
	environment    []string
	install, start string // the commands of the README
	browser        *http.Client
	stop           func()
}

// newExample copies an example, and puts the command parley where its README expects it.
func newExample(t *testing.T, s service, name string) *example {
	t.Helper()
	root := t.TempDir()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", ".")
	list.Dir = absolute(t, "examples")
	files, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		if dir := filepath.Dir(file); dir == name || dir == "." {
			copyFile(t, absolute(t, "examples/"+file), filepath.Join(root, "examples", file))
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(root, "bin/parley")); err != nil {
		t.Fatal(err)
	}
	parley, err := client.New(s.url, client.Credentials{ProjectID: s.project.ProjectID, APIKey: s.project.APIKey,
		ProjectSecret: s.project.ProjectSecret, GatewaySecret: s.project.GatewaySecret}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &example{
		service:     s,
		parley:      parley,
		dir:         filepath.Join(root, "examples", name),
		environment: append(parleytest.Command(nil).Env, "PARLEY_DATA_DIR="+s.dataDir),
		browser:     newBrowser(t),
	}
	return e.onPort(testkit.FreeTCPPort(t))
}

// onPort returns a copy that uses another port.
func (e *example) onPort(port int) *example {
	other := *e
	other.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	other.environment = append(slices.Clip(other.environment), fmt.Sprintf("PORT=%d", port))
	return &other
}

// newBrowser returns a client that keeps cookies.
func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: time.Minute}
}

// readCommands reads the README: its first block ends with the start of the program, and all other commands come
// before it.
func (e *example) readCommands(t *testing.T, port string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(e.dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, block := range codeBlock.FindAllStringSubmatch(string(readme), -1) {
		if block[1] == "sh" {
			blocks = append(blocks, strings.ReplaceAll(block[3], "127.0.0.1:"+port, strings.TrimPrefix(e.url, "http://")))
		}
	}
	if len(blocks) == 0 {
		t.Fatal("README.md has no commands")
	}
	lines := strings.Split(strings.TrimSpace(blocks[0]), "\n")
	last := len(lines) - 1
	e.start = lines[0] + "\nexec " + lines[last]
	e.install = strings.Join(append(lines[:last:last], blocks[1:]...), "\n")
}

// run starts the program and returns when it responds. It runs until the test ends or stop is called.
func (e *example) run(t *testing.T) {
	t.Helper()
	cmd := exec.Command("bash", "-e", "-c", e.start)
	cmd.Dir, cmd.Env = e.dir, append(os.Environ(), e.environment...)
	output := &testkit.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go run starts another process
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	e.stop = sync.OnceFunc(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		e.checkSecrets(t, "the output", output.String())
	})
	t.Cleanup(func() {
		e.stop()
		if t.Failed() {
			t.Logf("output of the example:\n%s", output)
		}
	})
	testkit.EventuallyWithin(t, 2*time.Minute, "the example responds", func() bool {
		select {
		case <-ended:
			t.Fatalf("the example ended:\n%s", output)
		default:
		}
		response, err := http.Get(e.url)
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil
	})
}

// checkSecrets fails the test if a text contains a secret of the project.
func (e *example) checkSecrets(t *testing.T, name, text string) {
	t.Helper()
	for _, secret := range []string{e.project.APIKey, e.project.GatewaySecret, e.project.ProjectSecret} {
		if strings.Contains(text, secret) || strings.Contains(text, secret[8:]) {
			t.Errorf("%s contains a secret:\n%s", name, text)
		}
	}
}
