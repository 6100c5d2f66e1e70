package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/room"
)

// InsertIdempotencyRecord reports whether it stored the record. It waits for the commit
// of a concurrent insert with the same id, so that only one of them stores a record.
func (s *DB) InsertIdempotencyRecord(ctx context.Context, r room.IdempotencyRecord, now time.Time) (bool, error) {
	text := ""
	if r.SavedResult != "" {
		text = s.sealSecret(r.ID+columnIdempotencyRecord, r.SavedResult)
	}
	fresh := false
	err := s.ExecReturning(ctx, `INSERT INTO idempotency_records (id, body_hash, sealed_text, expires_at)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET body_hash = excluded.body_hash, sealed_text = excluded.sealed_text,
			expires_at = excluded.expires_at
		WHERE idempotency_records.expires_at <= $5 RETURNING id`,
		[]any{r.ID, r.BodyHash, text, db.NullMillis(r.ExpiresAt), now.UnixMilli()},
		func(db.Row) error { fresh = true; return nil })
	return fresh, err
}

var errIdempotencyRecordNotFound = fault.New(fault.NotFound, "idempotency_record_not_found",
	"there is no such idempotency record")

func (s *DB) IdempotencyRecord(ctx context.Context, id string, now time.Time) (room.IdempotencyRecord, error) {
	r := room.IdempotencyRecord{ID: id}
	var text string
	err := s.QueryRow(ctx, errIdempotencyRecordNotFound,
		`SELECT body_hash, sealed_text, expires_at FROM idempotency_records WHERE id = $1 AND expires_at > $2`,
		[]any{id, now.UnixMilli()}, &r.BodyHash, &text, db.ScanTime(&r.ExpiresAt))
	if err == nil && text != "" {
		r.SavedResult, err = s.openSecret(id+columnIdempotencyRecord, text)
	}
	return r, err
}

func (s *DB) DeleteExpiredIdempotencyRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	return s.execCounting(ctx, `DELETE FROM idempotency_records WHERE id IN (
		SELECT id FROM idempotency_records WHERE expires_at <= $1 ORDER BY expires_at LIMIT CAST($2 AS BIGINT))
		RETURNING id`, now.UnixMilli(), limit)
}
