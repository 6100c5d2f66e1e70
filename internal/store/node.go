package store

import (
	"context"
	"time"

	"parley/internal/room"
)

func (db *DB) RecordHeartbeat(ctx context.Context, node string, at time.Time) error {
	return db.exec(ctx, `INSERT INTO nodes (id, last_alive) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET last_alive = excluded.last_alive`, node, nullMillis(at))
}

func (db *DB) Nodes(ctx context.Context) ([]room.Node, error) {
	var nodes []room.Node
	err := db.query(ctx, `SELECT id, last_alive FROM nodes`, nil, func(scan func(...any) error) error {
		var n room.Node
		err := scan(&n.ID, nullTime{&n.LastAlive})
		nodes = append(nodes, n)
		return err
	})
	return nodes, err
}

func (db *DB) RemoveNode(ctx context.Context, node string) error {
	return db.exec(ctx, `DELETE FROM nodes WHERE id = $1
		AND NOT EXISTS (SELECT 1 FROM attendance WHERE node = $1 AND left_at IS NULL)`, node)
}
