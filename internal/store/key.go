package store

import (
	"context"
	"fmt"
	"time"

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
	text("key_hash", func(r *apiKeyRow) *string { return &r.hash }).notRead(),
	text("sealed_key", func(r *apiKeyRow) *string { return &r.sealedKey }),
	text("sealed_gateway_secret", func(r *apiKeyRow) *string { return &r.sealedGatewaySecret }),
	timestamp("created_at", func(r *apiKeyRow) *time.Time { return &r.CreatedAt }),
	timestamp("retiring_since", func(r *apiKeyRow) *time.Time { return &r.RetiringSince }),
	timestamp("overlap_ends_at", func(r *apiKeyRow) *time.Time { return &r.OverlapEndsAt }),
	timestamp("retired_at", func(r *apiKeyRow) *time.Time { return &r.retiredAt }).insertedAs("NULL").notRead(),
	timestamp("notice_at", func(r *apiKeyRow) *time.Time { return &r.noticeAt }).insertedAs("NULL").notRead(),
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
	timestamp("retired_at", func(r *projectSecretRow) *time.Time { return &r.retiredAt }).insertedAs("NULL").notRead(),
	timestamp("notice_at", func(r *projectSecretRow) *time.Time { return &r.noticeAt }).insertedAs("NULL").notRead(),
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

func (db *DB) InsertAPIKey(ctx context.Context, k key.APIKey) error {
	row := apiKeyRow{
		APIKey: k, hash: seal.Hash(k.Key.Reveal()),
		sealedKey:           db.sealSecret(k.ID+columnAPIKey, k.Key),
		sealedGatewaySecret: db.sealSecret(k.ID+columnGatewaySecret, k.GatewaySecret),
	}
	return db.exec(ctx, insertAPIKey, apiKeyTable.values(&row)...)
}

func (db *DB) InsertProjectSecret(ctx context.Context, s key.ProjectSecret) error {
	row := projectSecretRow{ProjectSecret: s, sealed: db.sealSecret(s.ID+columnProjectSecret, s.Secret)}
	return db.exec(ctx, insertProjectSecret, projectSecretTable.values(&row)...)
}

func (db *DB) APIKeys(ctx context.Context, projectID string) ([]key.APIKey, error) {
	var keys []key.APIKey
	err := db.query(ctx, selectAPIKeys, []any{projectID}, func(scan func(...any) error) error {
		k, err := db.scanAPIKey(scan)
		keys = append(keys, k)
		return err
	})
	return keys, err
}

// scanAPIKey scans an API key and opens its secrets.
func (db *DB) scanAPIKey(scan func(...any) error) (key.APIKey, error) {
	var row apiKeyRow
	err := scan(apiKeyTable.dests(&row)...)
	if err != nil {
		return key.APIKey{}, err
	}
	if row.Key, err = db.openSecret(row.ID+columnAPIKey, row.sealedKey); err != nil {
		return key.APIKey{}, err
	}
	row.GatewaySecret, err = db.openSecret(row.ID+columnGatewaySecret, row.sealedGatewaySecret)
	return row.APIKey, err
}

func (db *DB) ProjectSecrets(ctx context.Context, projectID string) ([]key.ProjectSecret, error) {
	var secrets []key.ProjectSecret
	err := db.query(ctx, selectSecrets, []any{projectID}, func(scan func(...any) error) error {
		var row projectSecretRow
		err := scan(projectSecretTable.dests(&row)...)
		if err != nil {
			return err
		}
		row.Secret, err = db.openSecret(row.ID+columnProjectSecret, row.sealed)
		secrets = append(secrets, row.ProjectSecret)
		return err
	})
	return secrets, err
}
