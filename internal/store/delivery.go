package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/webhook"
)

var deliveryTable = newTable("webhook_deliveries",
	text("id", func(d *webhook.Delivery) *string { return &d.ID }),
	text("stream_id", func(d *webhook.Delivery) *string { return &d.StreamID }),
	number("position", func(d *webhook.Delivery) *int64 { return &d.Position }),
	text("event_id", func(d *webhook.Delivery) *string { return &d.EventID }),
	text("project_id", func(d *webhook.Delivery) *string { return &d.ProjectID }),
	text("room_id", func(d *webhook.Delivery) *string { return &d.RoomID }),
	text("url", func(d *webhook.Delivery) *string { return &d.URL }),
	text("type", func(d *webhook.Delivery) *event.Type { return &d.Type }),
	number("sequence", func(d *webhook.Delivery) *int64 { return &d.Sequence }),
	number("previous", func(d *webhook.Delivery) *int64 { return &d.Previous }),
	text("body", func(d *webhook.Delivery) *string { return &d.Body }),
	boolean("replay", func(d *webhook.Delivery) *bool { return &d.Replay }),
	text("state", func(d *webhook.Delivery) *webhook.State { return &d.State }),
	number("attempts", func(d *webhook.Delivery) *int { return &d.Attempts }),
	number("step", func(d *webhook.Delivery) *int { return &d.Step }),
	timestamp("created_at", func(d *webhook.Delivery) *time.Time { return &d.CreatedAt }),
	timestamp("done_at", func(d *webhook.Delivery) *time.Time { return &d.DoneAt }),
)

var (
	selectDelivery = deliveryTable.selectFrom + "WHERE id = $1"
	insertDelivery = deliveryTable.newInsertStmt(4)
	updateDelivery = deliveryTable.newUpdateStmt("state", "attempts", "step", "done_at")

	selectNextDelivery = "SELECT " + deliveryTable.selectList + `,
			coalesce(failures, 0), failing_since, paused_at, probe_at, coalesce(notice, '')
		FROM webhook_deliveries LEFT JOIN webhook_targets USING (project_id, url)
		WHERE stream_id = $1 AND state = 'pending' ORDER BY position LIMIT 1`
)

func (s *DB) InsertDelivery(ctx context.Context, d webhook.Delivery) error {
	return s.Insert(ctx, insertDelivery, deliveryTable.values(&d)...)
}

var errDeliveryNotFound = fault.New(fault.NotFound, "delivery_not_found", "there is no such delivery")

func (s *DB) Delivery(ctx context.Context, id string) (webhook.Delivery, error) {
	d, err := queryOne(ctx, s, deliveryTable, errDeliveryNotFound, selectDelivery, id)
	if err != nil {
		return webhook.Delivery{}, err
	}
	return *d, nil
}

// NextDelivery uses one query for the delivery and its target.
func (s *DB) NextDelivery(
	ctx context.Context, streamID string,
) (d webhook.Delivery, t webhook.Target, err error) {
	err = s.QueryRow(ctx, errDeliveryNotFound, selectNextDelivery, []any{streamID}, deliveryTable.dests(&d,
		&t.Failures, db.ScanTime(&t.FailingSince), db.ScanTime(&t.PausedAt), db.ScanTime(&t.ProbeAt), &t.Notice)...)
	if t.Failures > 0 {
		t.ProjectID, t.URL = d.ProjectID, d.URL
	}
	return d, t, err
}

func (s *DB) Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, error) {
	var where []string
	var args []any
	only := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	for _, is := range [][2]string{{"project_id", f.ProjectID}, {"room_id", f.RoomID}, {"event_id", f.EventID},
		{"url", f.URL}, {"type", string(f.Type)}, {"state", string(f.State)}} {
		if is[1] != "" {
			only(is[0]+" = $%d", is[1])
		}
	}
	if !f.Since.IsZero() {
		only("created_at >= $%d", f.Since.UnixMilli())
	}
	if !f.Before.IsZero() {
		only("created_at < $%d", f.Before.UnixMilli())
	}
	if f.Sent {
		where = append(where, "state <> 'pending' AND NOT replay")
	}
	order, after := "DESC", "id < $%d"
	if f.OldestFirst {
		order, after = "ASC", "id > $%d"
	}
	if f.Cursor != "" {
		only(after, f.Cursor)
	}
	which := ""
	if len(where) > 0 {
		which = "WHERE " + strings.Join(where, " AND ")
	}
	args = append(args, f.Limit)
	q := deliveryTable.selectFrom + fmt.Sprintf("%s ORDER BY id %s LIMIT $%d", which, order, len(args))
	return queryAll(ctx, s, deliveryTable, q, args...)
}

// attemptRow is an attempt with the delivery that it belongs to.
type attemptRow struct {
	webhook.Attempt
	deliveryID string
}

var attemptTable = newTable("webhook_attempts",
	text("delivery_id", func(a *attemptRow) *string { return &a.deliveryID }).asWriteOnly(),
	number("n", func(a *attemptRow) *int { return &a.N }),
	timestamp("at", func(a *attemptRow) *time.Time { return &a.At }),
	duration("duration", time.Millisecond, func(a *attemptRow) *time.Duration { return &a.Duration }),
	number("status", func(a *attemptRow) *int { return &a.Status }),
	text("error", func(a *attemptRow) *string { return &a.Error }),
	text("answer", func(a *attemptRow) *string { return &a.ResponseBody }),
)

var (
	selectAttempts = attemptTable.selectFrom + "WHERE delivery_id = $1 ORDER BY n"
	insertAttempt  = attemptTable.insertQuery()
)

func (s *DB) RecordAttempt(ctx context.Context, d webhook.Delivery, a webhook.Attempt) error {
	if err := s.Exec(ctx, insertAttempt, attemptTable.values(&attemptRow{a, d.ID})...); err != nil {
		return err
	}
	return s.Exec(ctx, updateDelivery.query, updateDelivery.values(&d)...)
}

func (s *DB) Attempts(ctx context.Context, deliveryID string) ([]webhook.Attempt, error) {
	var all []webhook.Attempt
	err := s.Query(ctx, selectAttempts, []any{deliveryID}, func(row db.Row) error {
		var a attemptRow
		err := row.Scan(attemptTable.dests(&a)...)
		all = append(all, a.Attempt)
		return err
	})
	return all, err
}

// PruneDeliveries finds the oldest deliveries by their ids, which are in time
// order, so that it needs no index on created_at. The attempts are deleted by ON
// DELETE CASCADE.
func (s *DB) PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	n := 0
	err := s.ExecReturning(ctx, `DELETE FROM webhook_deliveries
			WHERE id IN (SELECT id FROM webhook_deliveries ORDER BY id LIMIT $2) AND created_at < $1 RETURNING id`,
		[]any{before.UnixMilli(), limit}, func(db.Row) error { n++; return nil })
	return n, err
}
