package store

import (
	"cmp"
	"context"
	"slices"

	"parley/internal/counter"
	"parley/internal/db"
)

func (s *DB) LoadCount(ctx context.Context, c counter.Key) (counter.Count, error) {
	var count counter.Count
	err := s.Query(ctx, `SELECT n, last_at FROM counts WHERE subject = $1 AND period = $2`, []any{c.Subject, c.Period},
		func(row db.Row) error { return row.Scan(&count.N, db.ScanTime(&count.Last)) })
	return count, err
}

// AddCounts locks the rows in the order of their keys, because nodes that add to
// the same counts in different orders would deadlock.
func (s *DB) AddCounts(ctx context.Context, counted []counter.Key, add []counter.Count) ([]counter.Count, error) {
	counts := make([]counter.Count, len(counted))
	order := make([]int, len(counted))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(counted[a].Subject, counted[b].Subject), cmp.Compare(counted[a].Period, counted[b].Period))
	})
	err := s.Write(ctx, func(ctx context.Context) error {
		for _, i := range order {
			c := counted[i]
			err := s.QueryRow(ctx, nil, `INSERT INTO counts (subject, period, n, last_at) VALUES ($1, $2, $3, $4)
				ON CONFLICT (subject, period) DO UPDATE SET n = counts.n + excluded.n,
					last_at = CASE WHEN counts.last_at > excluded.last_at THEN counts.last_at ELSE excluded.last_at END
				RETURNING n, last_at`,
				[]any{c.Subject, c.Period, add[i].N, add[i].Last.UnixMilli()}, &counts[i].N, db.ScanTime(&counts[i].Last))
			if err != nil {
				return err
			}
		}
		return nil
	})
	return counts, err
}
