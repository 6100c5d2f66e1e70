package doctor

import (
	"strings"
	"testing"
	"time"
)

// Two clocks that differ are found, and the offset is in the sentence.
func TestAddClock(t *testing.T) {
	t.Parallel()
	for offset, want := range map[time.Duration]string{
		-3 * time.Second: "by -3.0 s", 3 * time.Second: "by 3.0 s", 2 * time.Second: "", 0: "",
	} {
		var result Result
		result.addClock("redis_clock", "Redis", offset)
		text := ""
		if len(result.Findings) > 0 {
			text = result.Findings[0].Text
		}
		if (text != "") != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s: got the findings %v, want %q in one", offset, result.Findings, want)
		}
	}
}
