package shell

import (
	"os/exec"
	"testing"
)

func TestQuote_ShellReadsSameText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"./data":                     "./data",
		"https://example.org/hook":   "https://example.org/hook",
		"https://example.org/?a=1&b": "'https://example.org/?a=1&b'",
		"a 'b c":                     `'a '\''b c'`,
		"~/data":                     "'~/data'",
		"$(id)`id`\"\\\n":            "'$(id)`id`\"\\\n'",
		"":                           "''",
	} {
		if got := Quote(text); got != want {
			t.Errorf("quote %q: got %s, want %s", text, got, want)
		}
		if got, err := exec.Command("sh", "-c", "printf %s "+Quote(text)).Output(); err != nil || string(got) != text {
			t.Errorf("printf %s: got %q, %v, want %q", Quote(text), got, err, text)
		}
	}
}
