package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"parley/internal/counter"
	"parley/internal/db"
)

func (s *DB) LoadCount(ctx context.Context, c counter.Key) (counter.Count, error) {
	var count counter.Count
	err := s.Query(ctx, `SELECT n, last_at FROM counts WHERE subject = $1 AND period = $2`, []any{c.Subject, c.Period},
		func(row db.Row) error { return row.Scan(&count.N, db.ScanTime(&count.Last)) })
	return count, err
}

const (
	// batchSubject and the ID of a process are the key of the number of its last batch in the table counts. The
	// column last_at has the time of the last call in it.
	batchSubject = "batch"
	// batchMemory is how long the number is kept. A process that could not confirm a batch for longer may add it twice.
	batchMemory = 30 * 24 * time.Hour

	insertBatchNumber = `INSERT INTO counts (subject, period, n, last_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (subject, period) DO UPDATE SET n = excluded.n, last_at = excluded.last_at
			WHERE counts.n < excluded.n RETURNING n`
	addToCount = `INSERT INTO counts (subject, period, n, last_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (subject, period) DO UPDATE SET n = counts.n + excluded.n,
			last_at = CASE WHEN counts.last_at > excluded.last_at THEN counts.last_at ELSE excluded.last_at END
		RETURNING n, last_at`
)

// AddCounts locks the rows in the order of their keys, because nodes that add to
// the same counts in different orders would deadlock. The number of the batch comes first: if another transaction
// with the same batch is about to be committed, AddCounts waits for it.
func (s *DB) AddCounts(ctx context.Context, b counter.Batch) ([]counter.Count, error) {
	counts := make([]counter.Count, len(b.Keys))
	order := make([]int, len(b.Keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(b.Keys[i].Subject, b.Keys[j].Subject), cmp.Compare(b.Keys[i].Period, b.Keys[j].Period))
	})
	err := s.Write(ctx, func(ctx context.Context) error {
		added, err := s.recordBatch(ctx, b)
		if err != nil {
			return err
		}
		for _, i := range order {
			k := b.Keys[i]
			if added {
				counts[i], err = s.LoadCount(ctx, k)
			} else {
				err = s.QueryRow(ctx, nil, addToCount, []any{k.Subject, k.Period, b.Add[i].N, b.Add[i].Last.UnixMilli()},
					&counts[i].N, db.ScanTime(&counts[i].Last))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return counts, err
}

// recordBatch stores the number of a batch, and reports whether the batch was added before. The first batch of a
// process deletes the numbers of processes that ended long ago.
func (s *DB) recordBatch(ctx context.Context, b counter.Batch) (added bool, err error) {
	var last time.Time
	for _, add := range b.Add {
		if add.Last.After(last) {
			last = add.Last
		}
	}
	added = true
	err = s.ExecReturning(ctx, insertBatchNumber, []any{batchSubject, b.Process, b.Number, last.UnixMilli()},
		func(db.Row) error { added = false; return nil })
	if err != nil || added || b.Number > 1 {
		return added, err
	}
	return false, s.Exec(ctx, `DELETE FROM counts WHERE subject = $1 AND last_at < $2`,
		batchSubject, last.Add(-batchMemory).UnixMilli())
}
