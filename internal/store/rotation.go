package store

import (
	"context"
	"database/sql"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/key"
)

// LockProject prevents other transactions from rotating the credentials of the
// project or changing it until the transaction of ctx ends.
func (db *DB) LockProject(ctx context.Context, id string) error {
	return db.lockRow(ctx, errProjectNotFound, "projects", id)
}

func (db *DB) UpdateAPIKey(ctx context.Context, k key.APIKey, now time.Time) error {
	return db.exec(ctx, `UPDATE api_keys SET slot = $2, retiring_since = $3, overlap_ends_at = $4, retired_at = $5, notice_at = $6 WHERE id = $1`,
		k.ID, k.Slot, nullMillis(k.RetiringSince), nullMillis(k.OverlapEndsAt), retiredAt(k.Slot, now), nullMillis(k.NoticeAt()))
}

func (db *DB) UpdateProjectSecret(ctx context.Context, s key.ProjectSecret, now time.Time) error {
	return db.exec(ctx, `UPDATE project_secrets SET slot = $2, retiring_since = $3, overlap_ends_at = $4, retired_at = $5, notice_at = $6 WHERE id = $1`,
		s.ID, s.Slot, nullMillis(s.RetiringSince), nullMillis(s.OverlapEndsAt), retiredAt(s.Slot, now), nullMillis(s.NoticeAt()))
}

// retiredAt returns the value of retired_at: now for a retired slot, else NULL.
func retiredAt(slot key.Slot, now time.Time) sql.NullInt64 {
	if slot != key.Retired {
		return sql.NullInt64{}
	}
	return nullMillis(now)
}

func (db *DB) APIKeyByHash(ctx context.Context, hash string) (key.APIKey, error) {
	var k key.APIKey
	var sealedKey, sealedSecret string
	err := db.queryRow(ctx, fault.New(fault.NotFound, "api_key_not_found", "there is no such API key"),
		`SELECT id, project_id, slot, sealed_key, sealed_gateway_secret, created_at, retiring_since, overlap_ends_at
		FROM api_keys WHERE key_hash = $1`, []any{hash},
		&k.ID, &k.ProjectID, &k.Slot, &sealedKey, &sealedSecret, nullTime{&k.CreatedAt}, nullTime{&k.RetiringSince}, nullTime{&k.OverlapEndsAt})
	if err != nil {
		return key.APIKey{}, err
	}
	if k.Key, err = db.openSecret(k.ID+columnAPIKey, sealedKey); err != nil {
		return key.APIKey{}, err
	}
	k.GatewaySecret, err = db.openSecret(k.ID+columnGatewaySecret, sealedSecret)
	return k, err
}

func (db *DB) PurgeRetired(ctx context.Context, before, now time.Time) ([]string, error) {
	var projects []string
	for _, table := range []string{"api_keys", "project_secrets"} {
		err := db.query(ctx, `UPDATE `+table+` SET slot = 'retired', retired_at = overlap_ends_at
			WHERE slot = 'overlap' AND overlap_ends_at <= $1 RETURNING project_id`, []any{now.UnixMilli()},
			func(scan func(...any) error) error {
				var id string
				err := scan(&id)
				projects = append(projects, id)
				return err
			})
		if err != nil {
			return nil, err
		}
		if err := db.exec(ctx, `DELETE FROM `+table+` WHERE slot = 'retired' AND retired_at < $1`, before.UnixMilli()); err != nil {
			return nil, err
		}
	}
	return projects, nil
}

func (db *DB) ProjectsWithDueNotices(ctx context.Context, now time.Time) ([]string, error) {
	var projects []string
	err := db.query(ctx, `SELECT project_id FROM api_keys WHERE slot = 'overlap' AND notice_at <= $1 AND overlap_ends_at > $1
		UNION SELECT project_id FROM project_secrets WHERE slot = 'overlap' AND notice_at <= $1 AND overlap_ends_at > $1`, []any{now.UnixMilli()},
		func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			projects = append(projects, id)
			return err
		})
	return projects, err
}

func (db *DB) ConsumeNotices(ctx context.Context, projectID string, now time.Time) ([]key.Notice, error) {
	var notices []key.Notice
	for _, of := range [][2]string{
		{"api_keys", event.CredentialKey}, {"project_secrets", event.CredentialSecret},
	} {
		err := db.query(ctx, `UPDATE `+of[0]+` SET notice_at = NULL
			WHERE project_id = $1 AND slot = 'overlap' AND notice_at <= $2 AND overlap_ends_at > $2 RETURNING overlap_ends_at`,
			[]any{projectID, now.UnixMilli()}, func(scan func(...any) error) error {
				n := key.Notice{Credential: of[1]}
				err := scan(nullTime{&n.EndsAt})
				notices = append(notices, n)
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return notices, nil
}
