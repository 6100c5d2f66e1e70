package supervise

import (
	"slices"
	"strings"
)

// crashCause is the cause of a Go program's crash, without text that may be secret.
type crashCause struct {
	message  string // first line of the panic, or a hint to standard error
	function string // that crashed; empty if unknown
}

// runtimePanics are the beginnings of panics whose text comes from the Go runtime and
// contains only numbers and names of types. Any other text may contain secrets, such as a
// URL with a password, and is only written to standard error.
var runtimePanics = []string{"runtime error: ", "interface conversion: ", "send on closed channel",
	"close of closed channel", "close of nil channel", "assignment to entry in nil map"}

// parseCrashOutput returns the cause of a crash from the output of the Go runtime.
func parseCrashOutput(output string) (c crashCause) {
	lines := strings.Split(output, "\n")
	first := slices.IndexFunc(lines, func(line string) bool {
		return hasAnyPrefix(line, "panic: ", "fatal error: ", "SIG")
	})
	if first < 0 {
		return c
	}
	c.message = strings.TrimPrefix(lines[first], "panic: ")
	if c.message != lines[first] && !hasAnyPrefix(c.message, runtimePanics...) {
		c.message = "see standard error"
	}
	goroutine := slices.IndexFunc(lines[first:], func(line string) bool {
		return strings.HasPrefix(line, "goroutine ")
	})
	if goroutine < 0 {
		return c
	}
	for _, line := range lines[first+goroutine+1:] {
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

// hasAnyPrefix reports whether a line starts with one of the prefixes.
func hasAnyPrefix(line string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(line, prefix) })
}

// functionName returns the name in a line such as "pkg.(*Type).method(0x1, …)".
func functionName(line string) (string, bool) {
	end := strings.LastIndexByte(line, '(')
	if strings.HasPrefix(line, "\t") || end <= 0 {
		return "", false
	}
	return line[:end], true
}
