package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
)

// LockProject prevents other transactions from rotating the credentials of the
// project or changing it until the transaction of ctx ends.
func (s *DB) LockProject(ctx context.Context, id string) error {
	return s.lockRow(ctx, project.ErrNotFound, "projects", id)
}

func (s *DB) UpdateAPIKey(ctx context.Context, k key.APIKey, now time.Time) error {
	row := apiKeyRow{APIKey: k, retiredAt: retiredAt(k.Slot, now), noticeAt: k.NoticeAt()}
	return s.Exec(ctx, updateAPIKey.query, updateAPIKey.values(&row)...)
}

func (s *DB) UpdateProjectSecret(ctx context.Context, secret key.ProjectSecret, now time.Time) error {
	row := projectSecretRow{ProjectSecret: secret, retiredAt: retiredAt(secret.Slot, now), noticeAt: secret.NoticeAt()}
	return s.Exec(ctx, updateProjectSecret.query, updateProjectSecret.values(&row)...)
}

// retiredAt returns now for a retired slot and the zero time for any other.
func retiredAt(slot key.Slot, now time.Time) time.Time {
	if slot != key.Retired {
		return time.Time{}
	}
	return now
}

var errAPIKeyNotFound = fault.New(fault.NotFound, "api_key_not_found", "there is no such API key")

func (s *DB) APIKeyByHash(ctx context.Context, hash string) (key.APIKey, error) {
	row, err := queryOne(ctx, s, apiKeyTable, errAPIKeyNotFound, selectAPIKeyByHash, hash)
	if err != nil {
		return key.APIKey{}, err
	}
	return s.openAPIKey(row)
}

func (s *DB) PurgeRetired(ctx context.Context, before, now time.Time) ([]string, error) {
	var projects []string
	for _, table := range []string{"api_keys", "project_secrets"} {
		retired, err := s.queryStrings(ctx, `UPDATE `+table+` SET slot = 'retired', retired_at = overlap_ends_at
			WHERE slot = 'overlap' AND overlap_ends_at <= $1 RETURNING project_id`, now.UnixMilli())
		if err != nil {
			return nil, err
		}
		projects = append(projects, retired...)
		err = s.Exec(ctx, `DELETE FROM `+table+` WHERE slot = 'retired' AND retired_at < $1`, before.UnixMilli())
		if err != nil {
			return nil, err
		}
	}
	return projects, nil
}

func (s *DB) ProjectsWithDueNotices(ctx context.Context, now time.Time) ([]string, error) {
	const due = `WHERE slot = 'overlap' AND notice_at <= $1 AND overlap_ends_at > $1`
	return s.queryStrings(ctx, `SELECT project_id FROM api_keys `+due+`
		UNION SELECT project_id FROM project_secrets `+due, now.UnixMilli())
}

func (s *DB) ConsumeNotices(ctx context.Context, projectID string, now time.Time) ([]key.Notice, error) {
	var notices []key.Notice
	for _, of := range [][2]string{
		{"api_keys", event.CredentialKey}, {"project_secrets", event.CredentialSecret},
	} {
		err := s.ExecReturning(ctx, `UPDATE `+of[0]+` SET notice_at = NULL
			WHERE project_id = $1 AND slot = 'overlap' AND notice_at <= $2 AND overlap_ends_at > $2 RETURNING overlap_ends_at`,
			[]any{projectID, now.UnixMilli()}, func(row db.Row) error {
				n := key.Notice{Credential: of[1]}
				err := row.Scan(db.ScanTime(&n.EndsAt))
				notices = append(notices, n)
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return notices, nil
}

func (s *DB) EndingOverlaps(
	ctx context.Context, projectID string, after, until time.Time, limit int,
) ([]key.EndingOverlap, error) {
	const where = ` WHERE slot = 'overlap' AND overlap_ends_at > $1 AND overlap_ends_at <= $2
		AND ($3 = '' OR project_id = $3)`
	var overlaps []key.EndingOverlap
	err := s.Query(ctx, `SELECT project_id, '`+event.CredentialKey+`', overlap_ends_at FROM api_keys`+where+`
		UNION ALL SELECT project_id, '`+event.CredentialSecret+`', overlap_ends_at FROM project_secrets`+where+`
		ORDER BY 3, 1, 2 LIMIT $4`, []any{after.UnixMilli(), until.UnixMilli(), projectID, limit}, func(row db.Row) error {
		var o key.EndingOverlap
		err := row.Scan(&o.ProjectID, &o.Credential, db.ScanTime(&o.EndsAt))
		overlaps = append(overlaps, o)
		return err
	})
	return overlaps, err
}
