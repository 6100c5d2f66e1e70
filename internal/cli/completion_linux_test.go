package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/internal/testkit"
)

// TestCompletion_Bash presses Tab in an interactive bash that has sourced the script.
func TestCompletion_Bash(t *testing.T) {
	terminal, other := openTerminal(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "backup-of-monday.tar"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-i")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=dumb", "PS1=> ", "HISTFILE=", "INPUTRC=/dev/null")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	var screen testkit.Buffer
	go func() {
		part := make([]byte, 4096)
		for {
			n, err := other.Read(part)
			if _, _ = screen.Write(part[:n]); err != nil {
				return
			}
		}
	}()
	// shows types a text and waits until the terminal shows another one after what it showed before.
	shows := func(typed, want string) {
		t.Helper()
		before := len(screen.String())
		if _, err := other.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "bash shows "+want+" after "+typed, func() bool {
			return strings.Contains(screen.String()[before:], want)
		})
	}
	shows("eval \"$(parley completion bash)\" && echo is''ready\n", "isready")
	for typed, want := range map[string]string{
		"parley webho\t":                "parley webhook ",
		"parley webhook re\t\t":         "replay  resume  retry",
		"parley room list --client-\t":  "parley room list --client-room-id ",
		"parley room list --state ac\t": "parley room list --state active ",
		"parley room list --state=ac\t": "parley room list --state=active ",
		"parley room list --state=\t\t": "scheduled",
		"parley completion f\t":         "parley completion fish ",
		"parley restore back\t":         "parley restore backup-of-monday.tar ",
	} {
		shows(typed, want)
		shows("\x03", "> ") // a new line
	}
}

// TestCompletion_BashWithWholeWord calls the function as a Bash does that does not split the words at "=".
func TestCompletion_BashWithWholeWord(t *testing.T) {
	for name, c := range map[string]struct{ replaced, want string }{
		"version 3.2":             {"ac", "active"},
		"no = in COMP_WORDBREAKS": {"--state=ac", "--state=active"},
	} {
		t.Run(name, func(t *testing.T) {
			const complete = `eval "$(parley completion bash)"
				COMP_WORDS=(parley room list --state=ac) COMP_CWORD=3
				_parley parley "$1" list
				echo "${COMPREPLY[@]}"`
			got, err := exec.Command("bash", "-c", complete, "bash", c.replaced).Output()
			if err != nil || strings.TrimSpace(string(got)) != c.want {
				t.Errorf("completion of --state=ac, of which bash replaces %s: got %q, %v, want %s", c.replaced, got, err, c.want)
			}
		})
	}
}
