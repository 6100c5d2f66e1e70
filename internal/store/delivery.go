package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/webhook"
)

var deliveryTable = db.NewTable("webhook_deliveries",
	db.Text("id", func(d *webhook.Delivery) *string { return &d.ID }),
	db.Text("stream_id", func(d *webhook.Delivery) *string { return &d.StreamID }),
	db.Number("position", func(d *webhook.Delivery) *int64 { return &d.Position }),
	db.Text("event_id", func(d *webhook.Delivery) *string { return &d.EventID }),
	db.Text("project_id", func(d *webhook.Delivery) *string { return &d.ProjectID }),
	db.Text("room_id", func(d *webhook.Delivery) *string { return &d.RoomID }),
	db.Text("url", func(d *webhook.Delivery) *string { return &d.URL }),
	db.Text("type", func(d *webhook.Delivery) *event.Type { return &d.Type }),
	db.Number("sequence", func(d *webhook.Delivery) *int64 { return &d.Sequence }),
	db.Number("previous", func(d *webhook.Delivery) *int64 { return &d.Previous }),
	db.Text("body", func(d *webhook.Delivery) *string { return &d.Body }),
	db.Boolean("replay", func(d *webhook.Delivery) *bool { return &d.Replay }),
	db.Text("state", func(d *webhook.Delivery) *webhook.State { return &d.State }),
	db.Number("attempts", func(d *webhook.Delivery) *int { return &d.Attempts }),
	db.Number("step", func(d *webhook.Delivery) *int { return &d.Step }),
	db.Timestamp("created_at", func(d *webhook.Delivery) *time.Time { return &d.CreatedAt }),
	db.Timestamp("done_at", func(d *webhook.Delivery) *time.Time { return &d.DoneAt }),
)

var (
	selectDelivery = deliveryTable.SelectFrom + "WHERE id = $1"
	insertDelivery = db.NewInsertStmt(deliveryTable, db.BulkOptions{TableOrder: 4})
	updateDelivery = deliveryTable.NewUpdateStmt("state", "attempts", "step", "done_at")
)

func (s *Store) InsertDelivery(ctx context.Context, d webhook.Delivery) error {
	return s.Insert(ctx, insertDelivery, deliveryTable.Values(&d)...)
}

var errDeliveryNotFound = fault.New(fault.NotFound, "delivery_not_found", "there is no such delivery")

func (s *Store) Delivery(ctx context.Context, id string) (webhook.Delivery, error) {
	d, err := db.QueryOne(ctx, s.DB, deliveryTable, errDeliveryNotFound, selectDelivery, id)
	if err != nil {
		return webhook.Delivery{}, err
	}
	return *d, nil
}

func (s *Store) Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, error) {
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
	q := deliveryTable.SelectFrom + fmt.Sprintf("%s ORDER BY id %s LIMIT $%d", which, order, len(args))
	return db.QueryAll(ctx, s.DB, deliveryTable, q, args...)
}

// attemptRow is an attempt with the delivery that it belongs to.
type attemptRow struct {
	webhook.Attempt
	deliveryID string
}

var attemptTable = db.NewTable("webhook_attempts",
	db.Text("delivery_id", func(a *attemptRow) *string { return &a.deliveryID }).NotRead(),
	db.Number("n", func(a *attemptRow) *int { return &a.N }),
	db.Timestamp("at", func(a *attemptRow) *time.Time { return &a.At }),
	db.Duration("duration", time.Millisecond, func(a *attemptRow) *time.Duration { return &a.Duration }),
	db.Number("status", func(a *attemptRow) *int { return &a.Status }),
	db.Text("error", func(a *attemptRow) *string { return &a.Error }),
	db.Text("answer", func(a *attemptRow) *string { return &a.ResponseBody }),
)

var (
	selectAttempts = attemptTable.SelectFrom + "WHERE delivery_id = $1 ORDER BY n"
	insertAttempt  = attemptTable.InsertQuery()
)

func (s *Store) RecordAttempt(ctx context.Context, d webhook.Delivery, a webhook.Attempt) error {
	if err := s.Exec(ctx, insertAttempt, attemptTable.Values(&attemptRow{a, d.ID})...); err != nil {
		return err
	}
	return s.Exec(ctx, updateDelivery.Query, updateDelivery.Values(&d)...)
}

func (s *Store) Attempts(ctx context.Context, deliveryID string) ([]webhook.Attempt, error) {
	var all []webhook.Attempt
	err := s.Query(ctx, selectAttempts, []any{deliveryID}, func(scan func(...any) error) error {
		var a attemptRow
		err := scan(attemptTable.Dests(&a)...)
		all = append(all, a.Attempt)
		return err
	})
	return all, err
}

// PruneDeliveries finds the oldest deliveries by their ids, which are in time
// order, so that it needs no index on created_at. The attempts are deleted by ON
// DELETE CASCADE.
func (s *Store) PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	if err := db.RequireTx(ctx); err != nil {
		return 0, err
	}
	n := 0
	err := s.Query(ctx, `DELETE FROM webhook_deliveries
			WHERE id IN (SELECT id FROM webhook_deliveries ORDER BY id LIMIT $2) AND created_at < $1 RETURNING id`,
		[]any{before.UnixMilli(), limit}, func(func(...any) error) error { n++; return nil })
	return n, err
}

func (s *Store) ProjectSequence(ctx context.Context, projectID string) (int64, error) {
	var n int64
	err := s.QueryRow(ctx, nil, `SELECT coalesce(max(sequence), 0) FROM project_events WHERE project_id = $1`,
		[]any{projectID}, &n)
	return n, err
}

// projectEventRow is an event of a project with its data as JSON.
type projectEventRow struct {
	event.ProjectEvent
	data string
}

var projectEventTable = db.NewTable("project_events",
	db.Text("id", func(r *projectEventRow) *string { return &r.ID }),
	db.Text("project_id", func(r *projectEventRow) *string { return &r.ProjectID }),
	db.Number("sequence", func(r *projectEventRow) *int64 { return &r.Sequence }),
	db.Text("type", func(r *projectEventRow) *event.Type { return &r.Type }),
	db.Timestamp("at", func(r *projectEventRow) *time.Time { return &r.At }),
	db.Text("data", func(r *projectEventRow) *string { return &r.data }),
)

var (
	selectProjectEvents = projectEventTable.SelectFrom + "WHERE project_id = $1 AND sequence > $2 ORDER BY sequence"
	insertProjectEvent  = projectEventTable.InsertQuery()
)

func (s *Store) AppendProjectEvent(ctx context.Context, e event.ProjectEvent) error {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return fmt.Errorf("event %s: %w", e.Type, err)
	}
	return s.Exec(ctx, insertProjectEvent, projectEventTable.Values(&projectEventRow{e, string(data)})...)
}

// ProjectEvents returns the events of a project itself after a sequence number,
// ordered by sequence number.
func (s *Store) ProjectEvents(ctx context.Context, projectID string, after int64) ([]event.ProjectEvent, error) {
	var events []event.ProjectEvent
	err := s.Query(ctx, selectProjectEvents, []any{projectID, after}, func(scan func(...any) error) error {
		var row projectEventRow
		if err := scan(projectEventTable.Dests(&row)...); err != nil {
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
