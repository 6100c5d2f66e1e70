package upgrade

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	repository = "../.."
	migrations = "internal/store/migrations"
)

// release is a program that was built from a commit.
type release struct {
	revision string
	sources  string // directory
	binary   string
}

// buildPreviousRelease builds the newest release before this commit whose program works on the
// schema of this commit, which migration lastContraction has contracted. Without such a
// release, a tag, it builds the oldest commit whose program does: the one that added that
// migration. Each program from there on must work on a schema that is expanded later. In a
// shallow clone that is the oldest commit of the clone.
func buildPreviousRelease(t *testing.T, lastContraction int64) release {
	t.Helper()
	prefix := fmt.Sprintf("%s/%05d_", migrations, lastContraction)
	r := release{sources: t.TempDir()}
	tags := git(t, "tag", "--list", "v*", "--merged", "HEAD", "--no-contains", "HEAD", "--sort=-version:refname")
	for tag := range strings.FieldsSeq(tags) {
		if strings.Contains(git(t, "ls-tree", "--name-only", tag, migrations+"/"), prefix) {
			r.revision = tag
			break
		}
	}
	if r.revision == "" {
		// The first parents, because a commit of a branch may lack migrations with lower numbers.
		added := git(t, "log", "--first-parent", "-m", "--diff-filter=A", "--format=%H", "-1", "--", prefix+"*")
		r.revision = strings.TrimSpace(added)
	}
	if r.revision == "" {
		t.Skipf("no commit has migration %d yet, so no program of a commit works on its schema", lastContraction)
	}
	archive := exec.Command("tar", "-x", "-C", r.sources)
	archive.Stdin = strings.NewReader(git(t, "archive", r.revision))
	run(t, archive)
	// The page is not in Git, and a server does not start without one.
	if err := os.CopyFS(filepath.Join(r.sources, "web/dist/app"), os.DirFS(repository+"/web/dist/app")); err != nil {
		t.Fatalf("copy the room page, which make build creates: %v", err)
	}
	r.binary = filepath.Join(t.TempDir(), "parley")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", r.binary, "./cmd/parley")
	build.Dir = r.sources
	run(t, build)
	return r
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = repository
	return run(t, cmd)
}

// run returns the standard output of a command that must succeed.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	return string(out)
}
