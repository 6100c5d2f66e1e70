package store

import (
	"context"

	"parley/internal/db"
	"parley/internal/seal"
)

// sealedColumns lists every column that holds sealed values. TestReseal fails if
// one is missing.
var sealedColumns = []struct{ list, update, column string }{
	{
		`SELECT id, sealed_key FROM api_keys`,
		`UPDATE api_keys SET sealed_key = $2 WHERE id = $1`, columnAPIKey,
	},
	{
		`SELECT id, sealed_gateway_secret FROM api_keys`,
		`UPDATE api_keys SET sealed_gateway_secret = $2 WHERE id = $1`, columnGatewaySecret,
	},
	{
		`SELECT id, sealed_secret FROM project_secrets`,
		`UPDATE project_secrets SET sealed_secret = $2 WHERE id = $1`, columnProjectSecret,
	},
	{
		`SELECT name, value FROM metadata WHERE name = '` + metadataMediaSecret + `'`,
		`UPDATE metadata SET value = $2 WHERE name = $1`, columnMetadata,
	},
	{
		`SELECT id, sealed_text FROM idempotency_records WHERE sealed_text <> ''`,
		`UPDATE idempotency_records SET sealed_text = $2 WHERE id = $1`, columnIdempotencyRecord,
	},
	{
		`SELECT path, sealed_value FROM acme_files`,
		`UPDATE acme_files SET sealed_value = $2 WHERE path = $1`, columnACMEFile,
	},
}

// Reseal seals every secret with the master key of box, all in one transaction,
// and returns the number of secrets. The server must not be running. The write timeout
// of ctx must be long enough for every secret.
func (s *DB) Reseal(ctx context.Context, box *seal.Box) (int, error) {
	count := 0
	err := s.Write(ctx, func(ctx context.Context) error {
		count = 0
		for _, c := range sealedColumns {
			type sealedValue struct{ rowID, sealed string }
			var values []sealedValue
			err := s.Query(ctx, c.list, nil, func(row db.Row) error {
				var v sealedValue
				err := row.Scan(&v.rowID, &v.sealed)
				values = append(values, v)
				return err
			})
			if err != nil {
				return err
			}
			for _, v := range values {
				clear, err := s.openColumn(v.rowID+c.column, v.sealed)
				if err != nil {
					return err
				}
				if err := s.Exec(ctx, c.update, v.rowID, box.Seal(v.rowID+c.column, clear)); err != nil {
					return err
				}
				count++
			}
		}
		return nil
	})
	return count, err
}
