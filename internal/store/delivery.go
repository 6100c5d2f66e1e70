package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

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
	insertDelivery = newInsertStmt(deliveryTable, bulkOptions{tableOrder: 4})
	updateDelivery = deliveryTable.newUpdateStmt("state", "attempts", "step", "done_at")
)

func (db *DB) InsertDelivery(ctx context.Context, d webhook.Delivery) error {
	return db.insert(ctx, insertDelivery, deliveryTable.values(&d)...)
}

var errDeliveryNotFound = fault.New(fault.NotFound, "delivery_not_found", "there is no such delivery")

func (db *DB) Delivery(ctx context.Context, id string) (webhook.Delivery, error) {
	d, err := queryOne(ctx, db, deliveryTable, errDeliveryNotFound, selectDelivery, id)
	if err != nil {
		return webhook.Delivery{}, err
	}
	return *d, nil
}

func (db *DB) Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, error) {
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
	return queryAll(ctx, db, deliveryTable, q, args...)
}

// attemptRow is an attempt with the delivery that it belongs to.
type attemptRow struct {
	webhook.Attempt
	deliveryID string
}

var attemptTable = newTable("webhook_attempts",
	text("delivery_id", func(a *attemptRow) *string { return &a.deliveryID }).notRead(),
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

func (db *DB) RecordAttempt(ctx context.Context, d webhook.Delivery, a webhook.Attempt) error {
	if err := db.exec(ctx, insertAttempt, attemptTable.values(&attemptRow{a, d.ID})...); err != nil {
		return err
	}
	return db.exec(ctx, updateDelivery.query, updateDelivery.values(&d)...)
}

func (db *DB) Attempts(ctx context.Context, deliveryID string) ([]webhook.Attempt, error) {
	var all []webhook.Attempt
	err := db.query(ctx, selectAttempts, []any{deliveryID}, func(scan func(...any) error) error {
		var a attemptRow
		err := scan(attemptTable.dests(&a)...)
		all = append(all, a.Attempt)
		return err
	})
	return all, err
}

// PruneDeliveries finds the oldest deliveries by their ids, which are in time
// order, so that it needs no index on created_at. The attempts are deleted by ON
// DELETE CASCADE.
func (db *DB) PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	if _, ok := txFrom(ctx); !ok {
		return 0, errNoTx
	}
	n := 0
	err := db.query(ctx, `DELETE FROM webhook_deliveries
			WHERE id IN (SELECT id FROM webhook_deliveries ORDER BY id LIMIT $2) AND created_at < $1 RETURNING id`,
		[]any{before.UnixMilli(), limit}, func(func(...any) error) error { n++; return nil })
	return n, err
}

func (db *DB) ProjectSequence(ctx context.Context, projectID string) (int64, error) {
	var n int64
	err := db.queryRow(ctx, nil, `SELECT coalesce(max(sequence), 0) FROM project_events WHERE project_id = $1`,
		[]any{projectID}, &n)
	return n, err
}

// projectEventRow is an event of a project with its data as JSON.
type projectEventRow struct {
	event.ProjectEvent
	data string
}

var projectEventTable = newTable("project_events",
	text("id", func(r *projectEventRow) *string { return &r.ID }),
	text("project_id", func(r *projectEventRow) *string { return &r.ProjectID }),
	number("sequence", func(r *projectEventRow) *int64 { return &r.Sequence }),
	text("type", func(r *projectEventRow) *event.Type { return &r.Type }),
	timestamp("at", func(r *projectEventRow) *time.Time { return &r.At }),
	text("data", func(r *projectEventRow) *string { return &r.data }),
)

var (
	selectProjectEvents = projectEventTable.selectFrom + "WHERE project_id = $1 AND sequence > $2 ORDER BY sequence"
	insertProjectEvent  = projectEventTable.insertQuery()
)

func (db *DB) AppendProjectEvent(ctx context.Context, e event.ProjectEvent) error {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return fmt.Errorf("event %s: %w", e.Type, err)
	}
	return db.exec(ctx, insertProjectEvent, projectEventTable.values(&projectEventRow{e, string(data)})...)
}

// ProjectEvents returns the events of a project itself after a sequence number,
// ordered by sequence number.
func (db *DB) ProjectEvents(ctx context.Context, projectID string, after int64) ([]event.ProjectEvent, error) {
	var events []event.ProjectEvent
	err := db.query(ctx, selectProjectEvents, []any{projectID, after}, func(scan func(...any) error) error {
		var row projectEventRow
		if err := scan(projectEventTable.dests(&row)...); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(row.data), &row.Data); err != nil {
			return fmt.Errorf("event %s: %w", row.ID, err)
		}
		events = append(events, row.ProjectEvent)
		return nil
	})
	return events, err
}
