package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/room"
)

func (s *Store) RecordHeartbeat(ctx context.Context, node string, at time.Time) error {
	return s.Exec(ctx, `INSERT INTO nodes (id, last_alive) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET last_alive = excluded.last_alive`, node, db.NullMillis(at))
}

func (s *Store) Nodes(ctx context.Context) ([]room.Node, error) {
	var nodes []room.Node
	err := s.Query(ctx, `SELECT id, last_alive FROM nodes`, nil, func(scan func(...any) error) error {
		var n room.Node
		err := scan(&n.ID, db.NullTime{Dest: &n.LastAlive})
		nodes = append(nodes, n)
		return err
	})
	return nodes, err
}

func (s *Store) RemoveNode(ctx context.Context, node string) error {
	return s.Exec(ctx, `DELETE FROM nodes WHERE id = $1
		AND NOT EXISTS (SELECT 1 FROM attendance WHERE node = $1 AND left_at IS NULL)`, node)
}
