package store

import (
	"context"
	"fmt"

	"parley/internal/key"
	"parley/internal/seal"
)

// A sealed value is bound to its row and one of these columns, so that it cannot
// be moved to another row or column.
const (
	columnAPIKey            = "/api_keys.sealed_key"
	columnGatewaySecret     = "/api_keys.sealed_gateway_secret"
	columnProjectSecret     = "/project_secrets.sealed_secret"
	columnMetadata          = "/facts.value"
	columnIdempotencyRecord = "/answers.sealed_text"
)

func (db *DB) sealSecret(rowID string, s seal.Secret) string {
	return db.box.Seal(rowID, []byte(s.Reveal()))
}

func (db *DB) openSecret(rowID, sealed string) (seal.Secret, error) {
	clear, err := db.box.Open(rowID, sealed)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", rowID, err)
	}
	return seal.Secret(clear), nil
}

func (db *DB) InsertAPIKey(ctx context.Context, k key.APIKey) error {
	return db.exec(ctx, `INSERT INTO api_keys (id, project_id, slot, key_hash, sealed_key, sealed_gateway_secret, created_at, retiring_since, overlap_ends_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		k.ID, k.ProjectID, k.Slot, seal.Hash(k.Key.Reveal()), db.sealSecret(k.ID+columnAPIKey, k.Key), db.sealSecret(k.ID+columnGatewaySecret, k.GatewaySecret),
		nullMillis(k.CreatedAt), nullMillis(k.RetiringSince), nullMillis(k.OverlapEndsAt))
}

func (db *DB) InsertProjectSecret(ctx context.Context, s key.ProjectSecret) error {
	return db.exec(ctx, `INSERT INTO project_secrets (id, project_id, slot, sealed_secret, created_at, retiring_since, overlap_ends_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		s.ID, s.ProjectID, s.Slot, db.sealSecret(s.ID+columnProjectSecret, s.Secret), nullMillis(s.CreatedAt), nullMillis(s.RetiringSince), nullMillis(s.OverlapEndsAt))
}

func (db *DB) APIKeys(ctx context.Context, projectID string) ([]key.APIKey, error) {
	var keys []key.APIKey
	err := db.query(ctx, `SELECT id, slot, sealed_key, sealed_gateway_secret, created_at, retiring_since, overlap_ends_at
		FROM api_keys WHERE project_id = $1 AND slot <> 'retired' ORDER BY slot`, []any{projectID},
		func(scan func(...any) error) error {
			k := key.APIKey{ProjectID: projectID}
			var sealedKey, sealedSecret string
			err := scan(&k.ID, &k.Slot, &sealedKey, &sealedSecret, nullTime{&k.CreatedAt}, nullTime{&k.RetiringSince}, nullTime{&k.OverlapEndsAt})
			if err != nil {
				return err
			}
			if k.Key, err = db.openSecret(k.ID+columnAPIKey, sealedKey); err != nil {
				return err
			}
			if k.GatewaySecret, err = db.openSecret(k.ID+columnGatewaySecret, sealedSecret); err != nil {
				return err
			}
			keys = append(keys, k)
			return nil
		})
	return keys, err
}

func (db *DB) ProjectSecrets(ctx context.Context, projectID string) ([]key.ProjectSecret, error) {
	var secrets []key.ProjectSecret
	err := db.query(ctx, `SELECT id, slot, sealed_secret, created_at, retiring_since, overlap_ends_at
		FROM project_secrets WHERE project_id = $1 AND slot <> 'retired' ORDER BY slot`, []any{projectID},
		func(scan func(...any) error) error {
			s := key.ProjectSecret{ProjectID: projectID}
			var sealed string
			err := scan(&s.ID, &s.Slot, &sealed, nullTime{&s.CreatedAt}, nullTime{&s.RetiringSince}, nullTime{&s.OverlapEndsAt})
			if err != nil {
				return err
			}
			if s.Secret, err = db.openSecret(s.ID+columnProjectSecret, sealed); err != nil {
				return err
			}
			secrets = append(secrets, s)
			return nil
		})
	return secrets, err
}
