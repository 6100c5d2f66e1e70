package supervise

import (
	"slices"
	"strings"
)

// crashCause is why a Go program crashed, without anything that may be secret.
type crashCause struct {
	message  string // first line of the panic, or what may be said of it
	function string // in which it happened; empty if unknown
}

// runtimePanics are the beginnings of panics whose text is the Go runtime's
// own: numbers and names of types. All other texts may hold anything, such as
// a URL with a password, and stay on standard error.
var runtimePanics = []string{"runtime error: ", "interface conversion: ", "send on closed channel",
	"close of closed channel", "close of nil channel", "assignment to entry in nil map"}

// parseCrashOutput reads what the Go runtime printed when a program crashed.
func parseCrashOutput(output string) (c crashCause) {
	lines := strings.Split(output, "\n")
	at := slices.IndexFunc(lines, func(line string) bool {
		return hasAnyPrefix(line, "panic: ", "fatal error: ", "SIG")
	})
	if at < 0 {
		return c
	}
	c.message = strings.TrimPrefix(lines[at], "panic: ")
	if c.message != lines[at] && !hasAnyPrefix(c.message, runtimePanics...) {
		c.message = "see standard error"
	}
	goroutine := slices.IndexFunc(lines[at:], func(line string) bool { return strings.HasPrefix(line, "goroutine ") })
	if goroutine < 0 {
		return c
	}
	for _, line := range lines[at+goroutine+1:] {
		if line == "" {
			break
		}
		name, ok := functionName(line)
		if ok && name != "panic" && !strings.HasPrefix(name, "runtime.") {
			c.function = name
			break
		}
	}
	return c
}

// hasAnyPrefix reports whether a line starts with one of several texts.
func hasAnyPrefix(line string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(line, start) })
}

// functionName returns the name in a line such as "pkg.(*Type).method(0x1, …)".
func functionName(line string) (string, bool) {
	end := strings.LastIndexByte(line, '(')
	if strings.HasPrefix(line, "\t") || end <= 0 {
		return "", false
	}
	return line[:end], true
}
