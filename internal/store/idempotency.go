package store

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
)

// InsertIdempotencyRecord implements room.Store. Whoever comes second waits for the first
// one's commit, so one of them writes.
func (db *DB) InsertIdempotencyRecord(ctx context.Context, a room.IdempotencyRecord, now time.Time) (bool, error) {
	text := ""
	if a.SavedResult != "" {
		text = db.sealSecret(a.ID+columnIdempotencyRecord, a.SavedResult)
	}
	if _, ok := txFrom(ctx); !ok {
		return false, errNoTx
	}
	fresh := false
	err := db.query(ctx, `INSERT INTO answers (id, body_hash, sealed_text, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET body_hash = excluded.body_hash, sealed_text = excluded.sealed_text, expires_at = excluded.expires_at
		WHERE answers.expires_at <= $5 RETURNING id`,
		[]any{a.ID, a.BodyHash, text, nullMillis(a.ExpiresAt), now.UnixMilli()},
		func(func(...any) error) error { fresh = true; return nil })
	return fresh, err
}

var errIdempotencyRecordNotFound = fault.New(fault.NotFound, "answer_not_found", "this request was not met before")

// IdempotencyRecord implements room.Store.
func (db *DB) IdempotencyRecord(ctx context.Context, id string, now time.Time) (room.IdempotencyRecord, error) {
	a := room.IdempotencyRecord{ID: id}
	var text string
	err := db.queryRow(ctx, errIdempotencyRecordNotFound, `SELECT body_hash, sealed_text, expires_at FROM answers WHERE id = $1 AND expires_at > $2`,
		[]any{id, now.UnixMilli()}, &a.BodyHash, &text, nullTime{&a.ExpiresAt})
	if err == nil && text != "" {
		a.SavedResult, err = db.openSecret(id+columnIdempotencyRecord, text)
	}
	return a, err
}

// DeleteExpiredIdempotencyRecords implements room.Store.
func (db *DB) DeleteExpiredIdempotencyRecords(ctx context.Context, now time.Time) error {
	return db.exec(ctx, `DELETE FROM answers WHERE expires_at <= $1`, now.UnixMilli())
}
