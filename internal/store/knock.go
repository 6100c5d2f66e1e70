package store

import (
	"context"
	"time"

	"parley/internal/room"
)

func (db *DB) UpsertKnock(ctx context.Context, k room.Knock) error {
	return db.exec(ctx, `INSERT INTO knocks (id, room_id, key_hash, name, network, turned_away, created_at, kept_until) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, network = excluded.network, turned_away = excluded.turned_away, created_at = excluded.created_at, kept_until = excluded.kept_until`,
		k.ID, k.RoomID, k.KeyHash, k.Name, k.Network, k.Denied, nullMillis(k.CreatedAt), nullMillis(k.ExpiresAt))
}

func (db *DB) DeleteKnock(ctx context.Context, id string) error {
	return db.exec(ctx, `DELETE FROM knocks WHERE id = $1`, id)
}

func (db *DB) Knocks(ctx context.Context, roomID string) ([]room.Knock, error) {
	var all []room.Knock
	err := db.query(ctx, `SELECT id, room_id, key_hash, name, network, turned_away, created_at, kept_until FROM knocks WHERE room_id = $1 ORDER BY created_at, id`, []any{roomID},
		func(scan func(...any) error) error {
			var k room.Knock
			err := scan(&k.ID, &k.RoomID, &k.KeyHash, &k.Name, &k.Network, &k.Denied, nullTime{&k.CreatedAt}, nullTime{&k.ExpiresAt})
			all = append(all, k)
			return err
		})
	return all, err
}

func (db *DB) RoomsWithStaleKnocks(ctx context.Context, now time.Time) ([]string, error) {
	var rooms []string
	err := db.query(ctx, `SELECT DISTINCT room_id FROM knocks WHERE kept_until <= $1`, []any{now.UnixMilli()}, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		rooms = append(rooms, id)
		return err
	})
	return rooms, err
}
