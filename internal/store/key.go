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
// be moved to another row or column.
const (
	columnAPIKey            = "/api_keys.sealed_key"
	columnGatewaySecret     = "/api_keys.sealed_gateway_secret"
	columnProjectSecret     = "/project_secrets.sealed_secret"
	columnMetadata          = "/facts.value"
	columnIdempotencyRecord = "/answers.sealed_text"
)

func (s *Store) sealSecret(rowID string, secret seal.Secret) string {
	return s.box.Seal(rowID, []byte(secret.Reveal()))
}

func (s *Store) openSecret(rowID, sealed string) (seal.Secret, error) {
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

var apiKeyTable = db.NewTable("api_keys",
	db.Text("id", func(r *apiKeyRow) *string { return &r.ID }),
	db.Text("project_id", func(r *apiKeyRow) *string { return &r.ProjectID }),
	db.Text("slot", func(r *apiKeyRow) *key.Slot { return &r.Slot }),
	db.Text("key_hash", func(r *apiKeyRow) *string { return &r.hash }).NotRead(),
	db.Text("sealed_key", func(r *apiKeyRow) *string { return &r.sealedKey }),
	db.Text("sealed_gateway_secret", func(r *apiKeyRow) *string { return &r.sealedGatewaySecret }),
	db.Timestamp("created_at", func(r *apiKeyRow) *time.Time { return &r.CreatedAt }),
	db.Timestamp("retiring_since", func(r *apiKeyRow) *time.Time { return &r.RetiringSince }),
	db.Timestamp("overlap_ends_at", func(r *apiKeyRow) *time.Time { return &r.OverlapEndsAt }),
	db.Timestamp("retired_at", func(r *apiKeyRow) *time.Time { return &r.retiredAt }).InsertedAs("NULL").NotRead(),
	db.Timestamp("notice_at", func(r *apiKeyRow) *time.Time { return &r.noticeAt }).InsertedAs("NULL").NotRead(),
)

// projectSecretRow is a project secret as it is stored.
type projectSecretRow struct {
	key.ProjectSecret
	sealed              string
	retiredAt, noticeAt time.Time
}

var projectSecretTable = db.NewTable("project_secrets",
	db.Text("id", func(r *projectSecretRow) *string { return &r.ID }),
	db.Text("project_id", func(r *projectSecretRow) *string { return &r.ProjectID }),
	db.Text("slot", func(r *projectSecretRow) *key.Slot { return &r.Slot }),
	db.Text("sealed_secret", func(r *projectSecretRow) *string { return &r.sealed }),
	db.Timestamp("created_at", func(r *projectSecretRow) *time.Time { return &r.CreatedAt }),
	db.Timestamp("retiring_since", func(r *projectSecretRow) *time.Time { return &r.RetiringSince }),
	db.Timestamp("overlap_ends_at", func(r *projectSecretRow) *time.Time { return &r.OverlapEndsAt }),
	db.Timestamp("retired_at", func(r *projectSecretRow) *time.Time { return &r.retiredAt }).InsertedAs("NULL").NotRead(),
	db.Timestamp("notice_at", func(r *projectSecretRow) *time.Time { return &r.noticeAt }).InsertedAs("NULL").NotRead(),
)

var (
	selectAPIKeys       = apiKeyTable.SelectFrom + "WHERE project_id = $1 AND slot <> 'retired' ORDER BY slot"
	selectAPIKeyByHash  = apiKeyTable.SelectFrom + "WHERE key_hash = $1"
	insertAPIKey        = apiKeyTable.InsertQuery()
	updateAPIKey        = apiKeyTable.NewUpdateStmt(rotationColumns...)
	selectSecrets       = projectSecretTable.SelectFrom + "WHERE project_id = $1 AND slot <> 'retired' ORDER BY slot"
	insertProjectSecret = projectSecretTable.InsertQuery()
	updateProjectSecret = projectSecretTable.NewUpdateStmt(rotationColumns...)
)

// rotationColumns are the columns that a rotation changes.
var rotationColumns = []string{"slot", "retiring_since", "overlap_ends_at", "retired_at", "notice_at"}

func (s *Store) InsertAPIKey(ctx context.Context, k key.APIKey) error {
	row := apiKeyRow{
		APIKey: k, hash: seal.Hash(k.Key.Reveal()),
		sealedKey:           s.sealSecret(k.ID+columnAPIKey, k.Key),
		sealedGatewaySecret: s.sealSecret(k.ID+columnGatewaySecret, k.GatewaySecret),
	}
	return s.Exec(ctx, insertAPIKey, apiKeyTable.Values(&row)...)
}

func (s *Store) InsertProjectSecret(ctx context.Context, secret key.ProjectSecret) error {
	row := projectSecretRow{ProjectSecret: secret, sealed: s.sealSecret(secret.ID+columnProjectSecret, secret.Secret)}
	return s.Exec(ctx, insertProjectSecret, projectSecretTable.Values(&row)...)
}

func (s *Store) APIKeys(ctx context.Context, projectID string) ([]key.APIKey, error) {
	var keys []key.APIKey
	err := s.Query(ctx, selectAPIKeys, []any{projectID}, func(scan func(...any) error) error {
		k, err := s.scanAPIKey(scan)
		keys = append(keys, k)
		return err
	})
	return keys, err
}

// scanAPIKey scans an API key and opens its secrets.
func (s *Store) scanAPIKey(scan func(...any) error) (key.APIKey, error) {
	var row apiKeyRow
	err := scan(apiKeyTable.Dests(&row)...)
	if err != nil {
		return key.APIKey{}, err
	}
	if row.Key, err = s.openSecret(row.ID+columnAPIKey, row.sealedKey); err != nil {
		return key.APIKey{}, err
	}
	row.GatewaySecret, err = s.openSecret(row.ID+columnGatewaySecret, row.sealedGatewaySecret)
	return row.APIKey, err
}

func (s *Store) ProjectSecrets(ctx context.Context, projectID string) ([]key.ProjectSecret, error) {
	var secrets []key.ProjectSecret
	err := s.Query(ctx, selectSecrets, []any{projectID}, func(scan func(...any) error) error {
		var row projectSecretRow
		err := scan(projectSecretTable.Dests(&row)...)
		if err != nil {
			return err
		}
		row.Secret, err = s.openSecret(row.ID+columnProjectSecret, row.sealed)
		secrets = append(secrets, row.ProjectSecret)
		return err
	})
	return secrets, err
}
