package cli

import "testing"

func TestParseAssignments_Booleans(t *testing.T) {
	t.Parallel()
	type change struct {
		Chat *bool `json:"chat,omitempty"`
	}
	for text, want := range map[string]bool{
		"true": true, "True": true, "1": true, "YES": true, "false": false, "FALSE": false, "0": false, "no": false,
	} {
		if got, err := parseAssignments[change]([]string{"chat=" + text}); err != nil || got["chat"] != want {
			t.Errorf("chat=%s: got %v, %v, want %t", text, got, err, want)
		}
	}
	if _, err := parseAssignments[change]([]string{"chat=on"}); err == nil ||
		err.Error() != `chat must be true or false, not "on"` {
		t.Errorf("chat=on: got %v", err)
	}
}
