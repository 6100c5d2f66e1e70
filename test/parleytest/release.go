package parleytest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	repository = "../.." // from the directory of a test in a directory of test
	// Migrations is the directory of the migration files in the repository.
	Migrations = "internal/store/migrations"
)

// Release is a program that was built from a commit.
type Release struct {
	Revision string
	Sources  string // directory
	Binary   string
}

// LatestTag returns the newest tag of a release before this commit whose program has a migration. Without such a
// release it returns an empty string.
func LatestTag(t testing.TB, migration int64) string {
	t.Helper()
	tags := git(t, "tag", "--list", "v*", "--merged", "HEAD", "--no-contains", "HEAD", "--sort=-version:refname")
	for tag := range strings.FieldsSeq(tags) {
		if strings.Contains(git(t, "ls-tree", "--name-only", tag, Migrations+"/"), migrationPrefix(migration)) {
			return tag
		}
	}
	return ""
}

// AddedBy returns the commit that added a migration, or an empty string if it is not committed yet. In a shallow clone
// it may be the oldest commit of the clone.
func AddedBy(t testing.TB, migration int64) string {
	t.Helper()
	// The first parents, because a commit of a branch may lack migrations with lower numbers.
	return strings.TrimSpace(git(t, "log", "--first-parent", "-m", "--diff-filter=A", "--format=%H", "-1", "--",
		migrationPrefix(migration)+"*"))
}

// Earlier returns the newest commit that changed migrations, has the migration oldest, lacks the migration newest, and
// has no migration that HEAD lacks. It returns an empty string if the history has no such commit.
func Earlier(t testing.TB, oldest, newest int64) string {
	t.Helper()
	names := func(revision string) []string {
		return strings.Fields(git(t, "ls-tree", "--name-only", revision, Migrations+"/"))
	}
	known := names("HEAD")
	for revision := range strings.FieldsSeq(git(t, "log", "--first-parent", "--format=%H", "--", Migrations)) {
		found := names(revision)
		isKnown := !slices.ContainsFunc(found, func(name string) bool { return !slices.Contains(known, name) })
		has := func(migration int64) bool {
			return slices.ContainsFunc(found, func(name string) bool {
				return strings.HasPrefix(name, migrationPrefix(migration))
			})
		}
		if isKnown && has(oldest) && !has(newest) {
			return revision
		}
	}
	return ""
}

func migrationPrefix(migration int64) string { return fmt.Sprintf("%s/%05d_", Migrations, migration) }

// HasRevision reports whether the repository has a commit. A shallow clone lacks the older ones.
func HasRevision(revision string) bool {
	cmd := exec.Command("git", "rev-parse", "--quiet", "--verify", revision+"^{commit}")
	cmd.Dir = repository
	return cmd.Run() == nil
}

// BuildRelease builds the program of a revision.
func BuildRelease(t testing.TB, revision string) Release {
	t.Helper()
	r := Release{Revision: revision, Sources: t.TempDir(), Binary: filepath.Join(t.TempDir(), "parley")}
	archive := exec.Command("tar", "-x", "-C", r.Sources)
	archive.Stdin = strings.NewReader(git(t, "archive", revision))
	run(t, archive)
	// The page is not in Git, and a server does not start without one.
	if err := os.CopyFS(filepath.Join(r.Sources, "web/dist/app"), os.DirFS(repository+"/web/dist/app")); err != nil {
		t.Fatalf("copy the room page, which make build creates: %v", err)
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-o", r.Binary, "./cmd/parley")
	build.Dir = r.Sources
	run(t, build)
	return r
}

func git(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = repository
	return run(t, cmd)
}

// run returns the standard output of a command that must succeed.
func run(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	return string(out)
}
