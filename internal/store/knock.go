package store

import (
	"context"
	"time"

	"parley/internal/room"
)

var knockTable = newTable("knocks",
	text("id", func(k *room.Knock) *string { return &k.ID }),
	text("room_id", func(k *room.Knock) *string { return &k.RoomID }),
	text("key_hash", func(k *room.Knock) *string { return &k.KeyHash }),
	text("name", func(k *room.Knock) *string { return &k.Name }),
	text("network", func(k *room.Knock) *string { return &k.Network }),
	boolean("denied", func(k *room.Knock) *bool { return &k.Denied }),
	timestamp("created_at", func(k *room.Knock) *time.Time { return &k.CreatedAt }),
	timestamp("expires_at", func(k *room.Knock) *time.Time { return &k.ExpiresAt }),
)

var (
	selectKnocks = knockTable.selectFrom + "WHERE room_id = $1 ORDER BY created_at, id"
	upsertKnock  = knockTable.insertQuery() + ` ON CONFLICT (id) DO UPDATE SET name = excluded.name,
		network = excluded.network, denied = excluded.denied,
		created_at = excluded.created_at, expires_at = excluded.expires_at`
)

func (s *DB) UpsertKnock(ctx context.Context, k room.Knock) error {
	return s.Exec(ctx, upsertKnock, knockTable.values(&k)...)
}

func (s *DB) DeleteKnock(ctx context.Context, id string) error {
	return s.Exec(ctx, `DELETE FROM knocks WHERE id = $1`, id)
}

func (s *DB) Knocks(ctx context.Context, roomID string) ([]room.Knock, error) {
	return queryAll(ctx, s, knockTable, selectKnocks, roomID)
}

func (s *DB) RoomsWithStaleKnocks(ctx context.Context, now time.Time) ([]string, error) {
	return s.queryStrings(ctx, `SELECT DISTINCT room_id FROM knocks WHERE expires_at <= $1`, now.UnixMilli())
}
