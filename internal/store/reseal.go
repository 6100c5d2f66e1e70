package store

import (
	"context"
	"fmt"
	"time"

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
		`SELECT name, value FROM facts WHERE name = '` + metadataMediaSecret + `'`,
		`UPDATE facts SET value = $2 WHERE name = $1`, columnMetadata,
	},
	{
		`SELECT id, sealed_text FROM answers WHERE sealed_text <> ''`,
		`UPDATE answers SET sealed_text = $2 WHERE id = $1`, columnIdempotencyRecord,
	},
}

// Reseal seals every secret with the master key of box, all in one transaction,
// and returns the number of secrets. The server must not be running.
func (db *DB) Reseal(ctx context.Context, box *seal.Box) (int, error) {
	count := 0
	err := db.Write(WithWriteTimeout(ctx, 10*time.Minute), func(ctx context.Context) error {
		count = 0
		for _, s := range sealedColumns {
			type row struct{ id, value string }
			var rows []row
			err := db.query(ctx, s.list, nil, func(scan func(...any) error) error {
				var r row
				err := scan(&r.id, &r.value)
				rows = append(rows, r)
				return err
			})
			if err != nil {
				return err
			}
			for _, r := range rows {
				clear, err := db.box.Open(r.id+s.column, r.value)
				if err != nil {
					return fmt.Errorf("open %s: %w", r.id+s.column, err)
				}
				if err := db.exec(ctx, s.update, r.id, box.Seal(r.id+s.column, clear)); err != nil {
					return err
				}
				count++
			}
		}
		return nil
	})
	return count, err
}
