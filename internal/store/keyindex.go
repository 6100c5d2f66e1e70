package store

import "context"

func (s *Store) APIKeyHashes(ctx context.Context, projectID string, each func(hash, projectID string)) error {
	q, args := `SELECT key_hash, project_id FROM api_keys`, []any(nil)
	if projectID != "" {
		q, args = q+` WHERE project_id = $1`, []any{projectID}
	}
	return s.Query(ctx, q, args, func(scan func(...any) error) error {
		var hash, owner string
		if err := scan(&hash, &owner); err != nil {
			return err
		}
		each(hash, owner)
		return nil
	})
}
