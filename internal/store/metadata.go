package store

import (
	"context"
	"errors"

	"parley/internal/fault"
	"parley/internal/seal"
)

const metadataMediaSecret = "media_signing_secret"

// Fresh reports whether nothing has been sealed in this database yet, so that
// any master key will do.
func (db *DB) Fresh(ctx context.Context) (bool, error) {
	_, err := db.metadata(ctx, metadataMediaSecret)
	if errors.Is(err, errMetadataNotFound) {
		return true, nil
	}
	return false, err
}

// Unlock makes secrets readable and writable under a master key. It fails with
// the error of seal.Box.Open when the database was sealed under another one.
// Call it once, before any secret is asked for.
func (db *DB) Unlock(ctx context.Context, box *seal.Box) error {
	db.box = box
	_, err := db.MediaSecret(ctx)
	return err
}

var errMetadataNotFound = fault.New(fault.NotFound, "fact_not_found", "nothing is known of that yet")

func (db *DB) metadata(ctx context.Context, name string) (string, error) {
	var v string
	err := db.queryRow(ctx, errMetadataNotFound, `SELECT value FROM facts WHERE name = $1`, []any{name}, &v)
	return v, err
}

func (db *DB) setMetadata(ctx context.Context, name, value string) error {
	return db.exec(ctx, `INSERT INTO facts (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
}

// MediaSecret returns the secret that signs media tokens and makes it on the
// first call. It outlives the process, so that a token issued before a restart
// still opens the door after it. Being the first thing sealed in every
// database, it also tells whether the master key is the right one.
func (db *DB) MediaSecret(ctx context.Context) (seal.Secret, error) {
	var secret seal.Secret
	err := db.Write(ctx, func(ctx context.Context) error {
		v, err := db.metadata(ctx, metadataMediaSecret)
		if errors.Is(err, errMetadataNotFound) {
			secret = seal.NewGatewaySecret()
			return db.setMetadata(ctx, metadataMediaSecret, db.sealSecret(metadataMediaSecret+columnMetadata, secret))
		}
		if err != nil {
			return err
		}
		secret, err = db.openSecret(metadataMediaSecret+columnMetadata, v)
		return err
	})
	return secret, err
}
