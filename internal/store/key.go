package store

import (
	"context"
	"fmt"
	"time"

	"parley/internal/db"
	"parley/internal/key"
	"parley/internal/seal"
)

// A sealed value is bound to its row and one of these columns, so that it cannot
// be moved to another row or column. The texts never change, because stored values were sealed
// with them: two have the names that their tables had before migration 34.
const (
	columnAPIKey            = "/api_keys.sealed_key"
	columnGatewaySecret     = "/api_keys.sealed_gateway_secret"
	columnProjectSecret     = "/project_secrets.sealed_secret"
	columnMetadata          = "/facts.value"
	columnIdempotencyRecord = "/answers.sealed_text"
	columnACMEFile          = "/acme_files.sealed_value"
)

func (s *DB) sealSecret(rowID string, secret seal.Secret) string {
	return s.box.Seal(rowID, []byte(secret.Reveal()))
}

func (s *DB) openSecret(rowID, sealed string) (seal.Secret, error) {
	clear, err := s.box.Open(rowID, sealed)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", rowID, err)
	}
	return seal.Secret(clear), nil
}

// apiKeyRow is an API key as it is stored.
type apiKeyRow struct {
	key.APIKey
	hash, sealedKey, sealedGatewaySecret string
	retiredAt, noticeAt                  time.Time
}

var apiKeyTable = newTable("api_keys",
	text("id", func(r *apiKeyRow) *string { return &r.ID }),
	text("project_id", func(r *apiKeyRow) *string { return &r.ProjectID }),
	text("slot", func(r *apiKeyRow) *key.Slot { return &r.Slot }),
	text("key_hash", func(r *apiKeyRow) *string { return &r.hash }).asWriteOnly(),
	text("sealed_key", func(r *apiKeyRow) *string { return &r.sealedKey }),
	text("sealed_gateway_secret", func(r *apiKeyRow) *string { return &r.sealedGatewaySecret }),
	timestamp("created_at", func(r *apiKeyRow) *time.Time { return &r.CreatedAt }),
	timestamp("retiring_since", func(r *apiKeyRow) *time.Time { return &r.RetiringSince }),
	timestamp("overlap_ends_at", func(r *apiKeyRow) *time.Time { return &r.OverlapEndsAt }),
	timestamp("retired_at", func(r *apiKeyRow) *time.Time { return &r.retiredAt }).withConstant("NULL").asWriteOnly(),
	timestamp("notice_at", func(r *apiKeyRow) *time.Time { return &r.noticeAt }).withConstant("NULL").asWriteOnly(),
)

// projectSecretRow is a project secret as it is stored.
type projectSecretRow struct {
	key.ProjectSecret
	sealed              string
	retiredAt, noticeAt time.Time
}

var projectSecretTable = newTable("project_secrets",
	text("id", func(r *projectSecretRow) *string { return &r.ID }),
	text("project_id", func(r *projectSecretRow) *string { return &r.ProjectID }),
	text("slot", func(r *projectSecretRow) *key.Slot { return &r.Slot }),
	text("sealed_secret", func(r *projectSecretRow) *string { return &r.sealed }),
	timestamp("created_at", func(r *projectSecretRow) *time.Time { return &r.CreatedAt }),
	timestamp("retiring_since", func(r *projectSecretRow) *time.Time { return &r.RetiringSince }),
	timestamp("overlap_ends_at", func(r *projectSecretRow) *time.Time { return &r.OverlapEndsAt }),
	timestamp("retired_at", func(r *projectSecretRow) *time.Time { return &r.retiredAt }).
		withConstant("NULL").asWriteOnly(),
	timestamp("notice_at", func(r *projectSecretRow) *time.Time { return &r.noticeAt }).
		withConstant("NULL").asWriteOnly(),
)

var (
	selectAPIKeys       = apiKeyTable.selectFrom + "WHERE project_id = $1 AND slot <> 'retired' ORDER BY slot"
	selectAPIKeyByHash  = apiKeyTable.selectFrom + "WHERE key_hash = $1"
	insertAPIKey        = apiKeyTable.insertQuery()
	updateAPIKey        = apiKeyTable.newUpdateStmt(rotationColumns...)
	selectSecrets       = projectSecretTable.selectFrom + "WHERE project_id = $1 AND slot <> 'retired' ORDER BY slot"
	insertProjectSecret = projectSecretTable.insertQuery()
	updateProjectSecret = projectSecretTable.newUpdateStmt(rotationColumns...)
)

// rotationColumns are the columns that a rotation changes.
var rotationColumns = []string{"slot", "retiring_since", "overlap_ends_at", "retired_at", "notice_at"}

func (s *DB) InsertAPIKey(ctx context.Context, k key.APIKey) error {
	row := apiKeyRow{
		APIKey: k, hash: seal.Hash(k.Key.Reveal()),
		sealedKey:           s.sealSecret(k.ID+columnAPIKey, k.Key),
		sealedGatewaySecret: s.sealSecret(k.ID+columnGatewaySecret, k.GatewaySecret),
	}
	return s.Exec(ctx, insertAPIKey, apiKeyTable.values(&row)...)
}

func (s *DB) InsertProjectSecret(ctx context.Context, secret key.ProjectSecret) error {
	row := projectSecretRow{ProjectSecret: secret, sealed: s.sealSecret(secret.ID+columnProjectSecret, secret.Secret)}
	return s.Exec(ctx, insertProjectSecret, projectSecretTable.values(&row)...)
}

func (s *DB) APIKeys(ctx context.Context, projectID string) ([]key.APIKey, error) {
	rows, err := queryAll(ctx, s, apiKeyTable, selectAPIKeys, projectID)
	if err != nil {
		return nil, err
	}
	var keys []key.APIKey
	for i := range rows {
		k, err := s.openAPIKey(&rows[i])
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// openAPIKey returns the API key of a row and opens its secrets.
func (s *DB) openAPIKey(row *apiKeyRow) (_ key.APIKey, err error) {
	if row.Key, err = s.openSecret(row.ID+columnAPIKey, row.sealedKey); err != nil {
		return key.APIKey{}, err
	}
	row.GatewaySecret, err = s.openSecret(row.ID+columnGatewaySecret, row.sealedGatewaySecret)
	return row.APIKey, err
}

func (s *DB) ProjectSecrets(ctx context.Context, projectID string) ([]key.ProjectSecret, error) {
	rows, err := queryAll(ctx, s, projectSecretTable, selectSecrets, projectID)
	if err != nil {
		return nil, err
	}
	var secrets []key.ProjectSecret
	for i := range rows {
		row := &rows[i]
		if row.Secret, err = s.openSecret(row.ID+columnProjectSecret, row.sealed); err != nil {
			return nil, err
		}
		secrets = append(secrets, row.ProjectSecret)
	}
	return secrets, nil
}

func (s *DB) APIKeyHashes(ctx context.Context, projectID string, each func(hash, projectID string)) error {
	q, args := `SELECT key_hash, project_id FROM api_keys`, []any(nil)
	if projectID != "" {
		q, args = q+` WHERE project_id = $1`, []any{projectID}
	}
	return s.Query(ctx, q, args, func(row db.Row) error {
		var hash, owner string
		if err := row.Scan(&hash, &owner); err != nil {
			return err
		}
		each(hash, owner)
		return nil
	})
}
