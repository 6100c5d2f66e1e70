package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/room"
)

var knockTable = db.NewTable("knocks",
	db.Text("id", func(k *room.Knock) *string { return &k.ID }),
	db.Text("room_id", func(k *room.Knock) *string { return &k.RoomID }),
	db.Text("key_hash", func(k *room.Knock) *string { return &k.KeyHash }),
	db.Text("name", func(k *room.Knock) *string { return &k.Name }),
	db.Text("network", func(k *room.Knock) *string { return &k.Network }),
	db.Boolean("turned_away", func(k *room.Knock) *bool { return &k.Denied }),
	db.Timestamp("created_at", func(k *room.Knock) *time.Time { return &k.CreatedAt }),
	db.Timestamp("kept_until", func(k *room.Knock) *time.Time { return &k.ExpiresAt }),
)

var (
	selectKnocks = knockTable.SelectFrom + "WHERE room_id = $1 ORDER BY created_at, id"
	upsertKnock  = knockTable.InsertQuery() + ` ON CONFLICT (id) DO UPDATE SET name = excluded.name,
		network = excluded.network, turned_away = excluded.turned_away,
		created_at = excluded.created_at, kept_until = excluded.kept_until`
)

func (s *Store) UpsertKnock(ctx context.Context, k room.Knock) error {
	return s.Exec(ctx, upsertKnock, knockTable.Values(&k)...)
}

func (s *Store) DeleteKnock(ctx context.Context, id string) error {
	return s.Exec(ctx, `DELETE FROM knocks WHERE id = $1`, id)
}

func (s *Store) Knocks(ctx context.Context, roomID string) ([]room.Knock, error) {
	return db.QueryAll(ctx, s.DB, knockTable, selectKnocks, roomID)
}

func (s *Store) RoomsWithStaleKnocks(ctx context.Context, now time.Time) ([]string, error) {
	return s.QueryStrings(ctx, `SELECT DISTINCT room_id FROM knocks WHERE kept_until <= $1`, now.UnixMilli())
}
