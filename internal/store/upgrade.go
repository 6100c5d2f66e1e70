package store

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"parley/internal/db"
)

// nodeVersionMigration is the migration that adds the schema version to the nodes.
const nodeVersionMigration = 18

// aliveTimeout is the time after its last heartbeat in which CheckOlderNodes considers a
// node alive. It is longer than a heartbeat, because the clocks of nodes may differ.
const aliveTimeout = 10 * time.Second

// schemaVersion returns the version of the newest migration of this program.
var schemaVersion = sync.OnceValues(func() (int64, error) { return db.NewestVersion(migrations()) })

// CheckOlderNodes returns an error if Open would apply a migration that contracts the
// schema while a node of an earlier release is alive. Call it before Open if several nodes
// share the PostgreSQL database at url. It does not change the database.
func CheckOlderNodes(ctx context.Context, url string, now time.Time) error {
	return checkOlderNodes(ctx, url, now, migrations())
}

func checkOlderNodes(ctx context.Context, url string, now time.Time, dir fs.FS) error {
	contractions, err := db.Contractions(dir)
	if err != nil || len(contractions) == 0 {
		return err
	}
	last := contractions[len(contractions)-1]
	var current int64
	if err := query(ctx, url, "", `SELECT max(version_id) FROM goose_db_version`, &current); err != nil {
		return fmt.Errorf("read the version of the database: %w", err)
	}
	if current == 0 || current >= last {
		return nil
	}
	older := ""
	if current >= nodeVersionMigration {
		older = fmt.Sprintf("AND schema_version < %d", last)
	}
	node := ""
	err = query(ctx, url, "", fmt.Sprintf(`SELECT id FROM nodes WHERE last_alive > %d %s ORDER BY id LIMIT 1`,
		now.Add(-aliveTimeout).UnixMilli(), older), &node)
	if err != nil {
		return fmt.Errorf("read the nodes of the database: %w", err)
	}
	if node != "" {
		return fmt.Errorf("node %s runs an earlier Parley, which cannot use the database after migration %d: stop "+
			"all nodes of the earlier version, then start this one. A node that was killed counts as running for %s",
			node, last, aliveTimeout)
	}
	return nil
}
