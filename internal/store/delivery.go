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

const deliveryColumns = `id, stream_id, position, event_id, project_id, room_id, url, type, sequence, previous, body, replay,
	state, attempts, step, created_at, done_at`

var insertDeliveryStmt = newInsertStmt(bulkTable{tableOrder: 4, table: "webhook_deliveries", columns: deliveryColumns,
	types: `text, text, bigint, text, text, text, text, text, bigint, bigint, text, boolean, text, bigint, bigint, bigint, bigint`})

func (db *DB) InsertDelivery(ctx context.Context, d webhook.Delivery) error {
	return db.insert(ctx, insertDeliveryStmt, d.ID, d.StreamID, d.Position, d.EventID, d.ProjectID, d.RoomID, d.URL, d.Type, d.Sequence, d.Previous,
		d.Body, d.Replay, d.State, d.Attempts, d.Step, nullMillis(d.CreatedAt), nullMillis(d.DoneAt))
}

var errDeliveryNotFound = fault.New(fault.NotFound, "delivery_not_found", "there is no such delivery")

// deliveryScanTargets returns the scan targets for deliveryColumns.
func deliveryScanTargets(d *webhook.Delivery) []any {
	return []any{&d.ID, &d.StreamID, &d.Position, &d.EventID, &d.ProjectID, &d.RoomID, &d.URL, &d.Type, &d.Sequence, &d.Previous, &d.Body, &d.Replay,
		&d.State, &d.Attempts, &d.Step, nullTime{&d.CreatedAt}, nullTime{&d.DoneAt}}
}

func (db *DB) Delivery(ctx context.Context, id string) (d webhook.Delivery, err error) {
	err = db.queryRow(ctx, errDeliveryNotFound, `SELECT `+deliveryColumns+` FROM webhook_deliveries WHERE id = $1`, []any{id}, deliveryScanTargets(&d)...)
	return d, err
}

func (db *DB) queryDeliveries(ctx context.Context, which string, args ...any) ([]webhook.Delivery, error) {
	var all []webhook.Delivery
	err := db.query(ctx, `SELECT `+deliveryColumns+` FROM webhook_deliveries `+which, args, func(scan func(...any) error) error {
		var d webhook.Delivery
		err := scan(deliveryScanTargets(&d)...)
		all = append(all, d)
		return err
	})
	return all, err
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
	return db.queryDeliveries(ctx, fmt.Sprintf("%s ORDER BY id %s LIMIT $%d", which, order, len(args)), args...)
}

func (db *DB) RecordAttempt(ctx context.Context, d webhook.Delivery, a webhook.Attempt) error {
	if err := db.exec(ctx, `INSERT INTO webhook_attempts (delivery_id, n, at, duration, status, error, answer) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		d.ID, a.N, nullMillis(a.At), a.Duration.Milliseconds(), a.Status, a.Error, a.ResponseBody); err != nil {
		return err
	}
	return db.exec(ctx, `UPDATE webhook_deliveries SET state = $2, attempts = $3, step = $4, done_at = $5 WHERE id = $1`,
		d.ID, d.State, d.Attempts, d.Step, nullMillis(d.DoneAt))
}

func (db *DB) Attempts(ctx context.Context, deliveryID string) ([]webhook.Attempt, error) {
	var all []webhook.Attempt
	err := db.query(ctx, `SELECT n, at, duration, status, error, answer FROM webhook_attempts WHERE delivery_id = $1 ORDER BY n`, []any{deliveryID},
		func(scan func(...any) error) error {
			var a webhook.Attempt
			var duration int64
			err := scan(&a.N, nullTime{&a.At}, &duration, &a.Status, &a.Error, &a.ResponseBody)
			a.Duration = time.Duration(duration) * time.Millisecond
			all = append(all, a)
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
	err := db.query(ctx, `DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries ORDER BY id LIMIT $2) AND created_at < $1 RETURNING id`,
		[]any{before.UnixMilli(), limit}, func(func(...any) error) error { n++; return nil })
	return n, err
}

func (db *DB) ProjectSequence(ctx context.Context, projectID string) (int64, error) {
	var n int64
	err := db.queryRow(ctx, nil, `SELECT coalesce(max(sequence), 0) FROM project_events WHERE project_id = $1`, []any{projectID}, &n)
	return n, err
}

func (db *DB) AppendProjectEvent(ctx context.Context, e event.ProjectEvent) error {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return fmt.Errorf("event %s: %w", e.Type, err)
	}
	return db.exec(ctx, `INSERT INTO project_events (id, project_id, sequence, type, at, data) VALUES ($1, $2, $3, $4, $5, $6)`,
		e.ID, e.ProjectID, e.Sequence, e.Type, nullMillis(e.At), string(data))
}

// ProjectEvents returns the events of a project itself after a sequence number,
// ordered by sequence number.
func (db *DB) ProjectEvents(ctx context.Context, projectID string, after int64) ([]event.ProjectEvent, error) {
	var events []event.ProjectEvent
	err := db.query(ctx, `SELECT id, sequence, type, at, data FROM project_events WHERE project_id = $1 AND sequence > $2 ORDER BY sequence`,
		[]any{projectID, after}, func(scan func(...any) error) error {
			e := event.ProjectEvent{ProjectID: projectID}
			var data string
			if err := scan(&e.ID, &e.Sequence, &e.Type, nullTime{&e.At}, &data); err != nil {
				return err
			}
			events = append(events, e)
			return json.Unmarshal([]byte(data), &events[len(events)-1].Data)
		})
	return events, err
}
