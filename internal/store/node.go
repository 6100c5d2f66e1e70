package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/room"
)

func (s *DB) RecordHeartbeat(ctx context.Context, node string, at time.Time) error {
	return s.Exec(ctx, `INSERT INTO nodes (id, last_alive) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET last_alive = excluded.last_alive`, node, db.NullMillis(at))
}

func (s *DB) Nodes(ctx context.Context) ([]room.Node, error) {
	var nodes []room.Node
	err := s.Query(ctx, `SELECT id, last_alive FROM nodes`, nil, func(row db.Row) error {
		var n room.Node
		err := row.Scan(&n.ID, db.ScanTime(&n.LastAlive))
		nodes = append(nodes, n)
		return err
	})
	return nodes, err
}

func (s *DB) RemoveNode(ctx context.Context, node string) error {
	return s.Exec(ctx, `DELETE FROM nodes WHERE id = $1
		AND NOT EXISTS (SELECT 1 FROM attendance WHERE node = $1 AND left_at IS NULL)`, node)
}
