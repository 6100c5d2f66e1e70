package requestlog

import (
	"strings"
	"testing"
)

func TestSanitize(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200)
	for agent, want := range map[string]string{
		"": "", "curl/8": "curl/8", "a\xffb": "a\uFFFDb", "a\x00b": "a\uFFFDb", long: long[:254],
		"pk_0123": "[secret]", "x gs_abc": "[secret]", "x_pk_1": "[secret]",
		"javascript_sdk/1": "javascript_sdk/1", "whsec_x": "[secret]",
	} {
		if got := Sanitize(agent); got != want {
			t.Errorf("Sanitize(%q) = %q, want %q", agent, got, want)
		}
	}
}
