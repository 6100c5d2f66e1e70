package supervise

import "testing"

func TestParseCrashOutput(t *testing.T) {
	t.Parallel()
	const trace = "\n\ngoroutine 51 [running]:\npanic({0x1, 0x2})\n\truntime/panic.go:783 +0x132\n" +
		"runtime.goPanicIndex(0x1)\n\truntime/panic.go:115 +0x74\n" +
		"example.org/sfu/buffer.(*Layers).Presence(0xc000, {0x0, 0x1})\n\texample.org/sfu/buffer/layers.go:57 +0x1d\n" +
		"main.main()\n\tmain.go:1 +0x1d\n\ngoroutine 1 [select]:\nother.function()\n"
	const function = "example.org/sfu/buffer.(*Layers).Presence"
	for name, c := range map[string]struct {
		output string
		want   crashCause
	}{
		"nothing, as after SIGKILL": {"", crashCause{}},
		"runtime error":             {"panic: runtime error: index out of range [-1]" + trace, crashCause{"runtime error: index out of range [-1]", function}},
		"type assertion":            {"panic: interface conversion: any is string, not int" + trace, crashCause{"interface conversion: any is string, not int", function}},
		"text of a program":         {"panic: dial redis://:password@cache" + trace, crashCause{"see standard error", function}},
		"fatal error":               {"fatal error: concurrent map writes" + trace, crashCause{"fatal error: concurrent map writes", function}},
		"stack overflow":            {"runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n", crashCause{"fatal error: stack overflow", ""}},
		"signal":                    {"SIGABRT: abort\nPC=0x47 m=0 sigcode=0\n", crashCause{"SIGABRT: abort", ""}},
		"no trace":                  {"panic: send on closed channel", crashCause{"send on closed channel", ""}},
		"cut off":                   {"panic: runtime error: x\n\ngoroutine 1 [running]:\npan", crashCause{"runtime error: x", ""}},
	} {
		if got := parseCrashOutput(c.output); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
