package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/internal/db"
	"parley/internal/retention"
)

const (
	// packDelay is the time between the first sweep that finds a room to pack and the first packing. Until then, the
	// operator can go back to an earlier program.
	packDelay = 24 * time.Hour
	// packPause is the time without a sweep after which packDelay begins again, because an earlier program may have run
	// meanwhile. It is longer than a night, so that packDelay ends for a server that is stopped each night.
	packPause = 48 * time.Hour
	// packSettle is the time between the moment from which no earlier program can start, and the first packing. In this
	// time the heartbeat of a node appears that had just started, or that could not write it.
	packSettle = time.Minute
	// packMigration is the migration that added packed_events. A program that does not know it misses packed events.
	packMigration = 50
	// metadataPacking is the metadata with a packPlan.
	metadataPacking = "packing"
)

// packPlan says when events are packed. It is stored as its two times in Unix milliseconds.
type packPlan struct {
	from    time.Time // when the first events are packed
	sweptAt time.Time // of the last sweep before that
}

// readPackPlan returns the stored plan, and whether there is one.
func (s *DB) readPackPlan(ctx context.Context) (plan packPlan, found bool, err error) {
	text, err := s.metadata(ctx, metadataPacking)
	if errors.Is(err, errMetadataNotFound) {
		return packPlan{}, false, nil
	}
	if err != nil {
		return packPlan{}, false, err
	}
	var from, sweptAt int64
	if _, err := fmt.Sscan(text, &from, &sweptAt); err != nil {
		return packPlan{}, false, fmt.Errorf("metadata %s: %w", metadataPacking, err)
	}
	return packPlan{time.UnixMilli(from), time.UnixMilli(sweptAt)}, true, nil
}

func (s *DB) setPackPlan(ctx context.Context, plan packPlan) error {
	return s.setMetadata(ctx, metadataPacking, fmt.Sprint(plan.from.UnixMilli(), " ", plan.sweptAt.UnixMilli()))
}

// PreparePacking plans the first packing, keeps earlier programs from starting when its time has come, and says whether
// events may be packed. It looks for nodes of earlier programs each time, because one may have been paused meanwhile.
// It does not compare their heartbeats with its own clock, which may differ: a node that was killed counts until
// another one has deleted it.
func (s *DB) PreparePacking(ctx context.Context, now, before time.Time) (retention.Packing, error) {
	plan, found, err := s.readPackPlan(ctx)
	if err != nil {
		return retention.Packing{}, err
	}
	var p retention.Packing
	err = s.QueryRow(ctx, nil, `SELECT EXISTS (SELECT 1 FROM schema_contractions WHERE version = $1)`,
		[]any{packMigration}, &p.Closed)
	if err != nil {
		return retention.Packing{}, err
	}
	if !p.Closed {
		if !found {
			var waiting bool
			err := s.QueryRow(ctx, nil, `SELECT EXISTS (SELECT 1 FROM events WHERE type IN `+typeList(overTypes)+`
				AND at < $1)`, []any{before.UnixMilli()}, &waiting)
			if err != nil || !waiting {
				return retention.Packing{}, err
			}
		}
		wait := plan.from.Sub(now) // longer only if the clock was ahead
		if !found || now.Sub(plan.sweptAt) > packPause || wait > packDelay {
			plan.from = now.Add(packDelay)
		}
		plan.sweptAt = now
		if err := s.setPackPlan(ctx, plan); err != nil {
			return retention.Packing{}, err
		}
	} else if plan.from.Sub(now) > packSettle { // as above
		plan.from = now.Add(packSettle)
		if err := s.setPackPlan(ctx, plan); err != nil {
			return retention.Packing{}, err
		}
	}
	p.From = plan.from
	if now.Before(plan.from) {
		return p, nil
	}
	err = s.Query(ctx, `SELECT id FROM nodes WHERE schema_version < $1 ORDER BY id LIMIT 1`, []any{packMigration},
		func(row db.Row) error { return row.Scan(&p.OlderNode) })
	if err != nil || p.OlderNode != "" {
		return p, err
	}
	if p.Closed {
		p.Allowed = true
		return p, nil
	}
	p.Closed, p.Closing, p.From = true, true, now.Add(packSettle)
	return p, errors.Join(s.setPackPlan(ctx, packPlan{p.From, now}),
		s.Exec(ctx, `INSERT INTO schema_contractions (version) VALUES ($1) ON CONFLICT (version) DO NOTHING`, packMigration))
}
