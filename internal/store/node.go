package store

import (
	"context"

	"parley/internal/db"
	"parley/internal/room"
)

func (s *DB) RecordHeartbeat(ctx context.Context, n room.Node) error {
	schema, err := schemaVersion()
	if err != nil {
		return err
	}
	var findings string
	err = s.ExecReturning(ctx, `INSERT INTO nodes (id, last_alive, schema_version, version, started_at, redis,
			relayed_people)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE SET last_alive = excluded.last_alive, schema_version = excluded.schema_version,
			version = excluded.version, started_at = excluded.started_at, redis = excluded.redis,
			relayed_people = excluded.relayed_people
		RETURNING findings`,
		[]any{n.ID, db.NullMillis(n.LastAlive), schema, n.Version, db.NullMillis(n.StartedAt), n.Redis, n.RelayedPeople},
		func(row db.Row) error { return row.Scan(&findings) })
	if err != nil || findings == n.Findings {
		return err
	}
	return s.Exec(ctx, `UPDATE nodes SET findings = $2 WHERE id = $1`, n.ID, n.Findings)
}

// drainMigration is the migration that added the drain of a node. A program that does not know it ignores a drain.
const drainMigration = 39

func (s *DB) Nodes(ctx context.Context) ([]room.Node, error) {
	var nodes []room.Node
	const q = `SELECT id, version, started_at, last_alive, redis, relayed_people, drain_started_at, drain_by,
		findings, schema_version FROM nodes`
	err := s.Query(ctx, q, nil, func(row db.Row) error {
		var n room.Node
		var schema int64
		err := row.Scan(&n.ID, &n.Version, db.ScanTime(&n.StartedAt), db.ScanTime(&n.LastAlive), &n.Redis,
			&n.RelayedPeople, db.ScanTime(&n.Drain.StartedAt), db.ScanTime(&n.Drain.By), &n.Findings, &schema)
		n.KnowsDrain = schema >= drainMigration
		nodes = append(nodes, n)
		return err
	})
	return nodes, err
}

func (s *DB) SetDrain(ctx context.Context, node string, d room.Drain) (before room.Drain, found bool, err error) {
	err = s.Query(ctx, `SELECT drain_started_at, drain_by FROM nodes WHERE id = $1`, []any{node}, func(row db.Row) error {
		found = true
		return row.Scan(db.ScanTime(&before.StartedAt), db.ScanTime(&before.By))
	})
	if err != nil || !found {
		return before, found, err
	}
	return before, true, s.Exec(ctx, `UPDATE nodes SET drain_started_at = $2, drain_by = $3 WHERE id = $1`, node,
		db.NullMillis(d.StartedAt), db.NullMillis(d.By))
}

func (s *DB) NodeLoads(ctx context.Context) (map[string]room.NodeLoad, error) {
	loads := map[string]room.NodeLoad{}
	err := s.Query(ctx, `SELECT node, count(*), CAST(sum(people) AS BIGINT) FROM (
			SELECT node, count(*) AS people FROM attendance WHERE left_at IS NULL GROUP BY node, room_id, session
		) AS present GROUP BY node`, nil, func(row db.Row) error {
		var node string
		var l room.NodeLoad
		err := row.Scan(&node, &l.Sessions, &l.People)
		loads[node] = l
		return err
	})
	return loads, err
}

func (s *DB) RemoveNode(ctx context.Context, node string) (removed bool, err error) {
	err = s.ExecReturning(ctx, `DELETE FROM nodes WHERE id = $1
		AND NOT EXISTS (SELECT 1 FROM attendance WHERE node = $1 AND left_at IS NULL) RETURNING id`, []any{node},
		func(row db.Row) error {
			removed = true
			return row.Scan(&node)
		})
	return removed, err
}
