package store

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
)

// KeepAnswer implements room.Store. Whoever comes second waits for the first
// one's commit, so one of them writes.
func (db *DB) KeepAnswer(ctx context.Context, a room.Answer, now time.Time) (bool, error) {
	text := ""
	if a.Text != "" {
		text = db.seal(a.ID+columnAnswer, a.Text)
	}
	if _, ok := txFrom(ctx); !ok {
		return false, errNoTx
	}
	fresh := false
	err := db.each(ctx, `INSERT INTO answers (id, body_hash, sealed_text, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET body_hash = excluded.body_hash, sealed_text = excluded.sealed_text, expires_at = excluded.expires_at
		WHERE answers.expires_at <= $5 RETURNING id`,
		[]any{a.ID, a.BodyHash, text, millis(a.ExpiresAt), now.UnixMilli()},
		func(func(...any) error) error { fresh = true; return nil })
	return fresh, err
}

var noAnswer = fault.New(fault.NotFound, "answer_not_found", "this request was not met before")

// Answer implements room.Store.
func (db *DB) Answer(ctx context.Context, id string, now time.Time) (room.Answer, error) {
	a := room.Answer{ID: id}
	var text string
	err := db.one(ctx, noAnswer, `SELECT body_hash, sealed_text, expires_at FROM answers WHERE id = $1 AND expires_at > $2`,
		[]any{id, now.UnixMilli()}, &a.BodyHash, &text, moment{&a.ExpiresAt})
	if err == nil && text != "" {
		a.Text, err = db.open(id+columnAnswer, text)
	}
	return a, err
}

// PurgeAnswers implements room.Store.
func (db *DB) PurgeAnswers(ctx context.Context, now time.Time) error {
	return db.must(ctx, `DELETE FROM answers WHERE expires_at <= $1`, now.UnixMilli())
}
