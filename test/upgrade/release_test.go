package upgrade

import (
	"testing"

	"parley/test/parleytest"
)

const (
	repository = "../.."
	migrations = parleytest.Migrations
)

// buildPreviousRelease builds the newest release before this commit whose program works on the
// schema of this commit, which migration lastContraction has contracted. Without such a
// release, a tag, it builds the oldest commit whose program does: the one that added that
// migration. Each program from there on must work on a schema that is expanded later. In a
// shallow clone that is the oldest commit of the clone.
func buildPreviousRelease(t *testing.T, lastContraction int64) parleytest.Release {
	t.Helper()
	revision := parleytest.LatestTag(t, lastContraction)
	if revision == "" {
		revision = parleytest.AddedBy(t, lastContraction)
	}
	if revision == "" {
		t.Skipf("no commit has migration %d yet, so no program of a commit works on its schema", lastContraction)
	}
	return parleytest.BuildRelease(t, revision)
}
