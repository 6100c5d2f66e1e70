package deploy

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"parley/test/parleytest"
)

func TestMain(m *testing.M) { parleytest.Main(m) }

// maxExposure is the highest exposure level of the unit, of at most 10.
const maxExposure = 2.0

// The unit has no mistake, and is as closed as systemd can tell from the file.
func TestUnit(t *testing.T) {
	t.Parallel()
	unit, err := filepath.Abs("../../deploy/systemd/parley.service")
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		output, err := exec.CommandContext(t.Context(), "systemd-analyze", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("systemd-analyze %s: got %v, want no error: %s", strings.Join(args, " "), err, output)
		}
		return string(output)
	}
	report := run("security", "--offline=true", "--no-pager", unit)
	level := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindStringSubmatch(report)
	if level == nil {
		t.Fatalf("got the report %s, want an exposure level", report)
	}
	if exposure, err := strconv.ParseFloat(level[1], 64); err != nil || exposure > maxExposure {
		t.Errorf("got the exposure level %s, want at most %.1f: %s", level[1], maxExposure, report)
	}
	// Its program is not installed here, which is all that may be wrong.
	output, _ := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", unit).CombinedOutput()
	for line := range strings.Lines(string(output)) {
		if strings.Contains(line, "parley.service") && !strings.Contains(line, "/usr/local/bin/parley is not executable") {
			t.Errorf("verify the unit: got %s", line)
		}
	}
}
