package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/internal/db"
	"parley/internal/event"
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

func (s *DB) Delivery(ctx context.Context, id string) (webhook.Delivery, error) {
	d, err := queryOne(ctx, s, deliveryTable, webhook.ErrNotFound, selectDelivery, id)
	if err != nil {
		return webhook.Delivery{}, err
	}
	return *d, nil
}

// NextDelivery uses one query for the delivery and its target.
func (s *DB) NextDelivery(
	ctx context.Context, streamID string,
) (d webhook.Delivery, t webhook.Target, err error) {
	err = s.QueryRow(ctx, webhook.ErrNotFound, selectNextDelivery, []any{streamID}, deliveryTable.dests(&d,
		&t.Failures, db.ScanTime(&t.FailingSince), db.ScanTime(&t.PausedAt), db.ScanTime(&t.ProbeAt), &t.Notice)...)
	if t.Failures > 0 || t.Paused() {
		t.ProjectID, t.URL = d.ProjectID, d.URL
	}
	return d, t, err
}

// Deliveries repeats the conditions of partial indexes, so that the engine uses them.
func (s *DB) Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, error) {
	var where []string
	var args []any
	param := func(value any) string {
		args = append(args, value)
		return fmt.Sprintf("$%d", len(args))
	}
	only := func(condition string) { where = append(where, condition) }
	equal := func(column, value string) {
		if value != "" {
			only(column + " = " + param(value))
		}
	}
	equal("room_id", f.RoomID)
	equal("event_id", f.EventID)
	id := "id"
	var first, last string       // bounds of the IDs, if they are in the order of the list
	var columns, params []string // of an index
	inOrder := func(column, value string) { columns, params = append(columns, column), append(params, param(value)) }
	switch {
	case f.RoomID != "" || f.EventID != "": // few deliveries
		equal(unindexed("project_id"), f.ProjectID)
		equal("state", string(f.State))
	case f.State == webhook.Pending:
		equal(unindexed("project_id"), f.ProjectID)
		only("state = 'pending'")
		id = unindexed("id") // sorts the few that are pending
	default:
		if f.ProjectID != "" {
			inOrder("project_id", f.ProjectID)
		}
		if f.State != "" {
			inOrder("state", string(f.State))
			only("state <> 'pending'")
		}
		first, last = idsOfPeriod(f.Since, f.Before)
	}
	if !f.Since.IsZero() {
		only("created_at >= " + param(f.Since.UnixMilli()))
	}
	if !f.Before.IsZero() {
		only("created_at < " + param(f.Before.UnixMilli()))
	}
	start, end := f.Cursor, first
	switch {
	case f.OldestFirst:
		start, end = max(f.Cursor, first), last
	case f.Cursor == "" || last != "" && last < f.Cursor:
		start = last
	}
	for _, bound := range []*string{&start, &end} {
		if *bound != "" {
			*bound = param(*bound)
		}
	}
	inPage, order := page(columns, params, id, start, end, f.OldestFirst)
	where = append(inPage, where...)
	// PostgreSQL estimates how many rows a comparison of rows selects by its first column alone.
	if first != "" {
		only("id >= " + param(first))
	}
	if last != "" {
		only("id <= " + param(last))
	}
	which := ""
	if len(where) > 0 {
		which = "WHERE " + strings.Join(where, " AND ")
	}
	q := deliveryTable.selectFrom + which + " ORDER BY " + order + " LIMIT " + param(f.Limit)
	return queryAll(ctx, s, deliveryTable, q, args...)
}

const (
	// idsBehind is more than the time in the ID of a row is before the time at which the row says that it was
	// created, because the two are read one after another.
	idsBehind = time.Minute
	// idsAhead is how much it can be after that. While the clock is set back, a process continues with the IDs
	// of later times, so that they stay in order.
	idsAhead = 24 * time.Hour
)

// idsOfPeriod returns bounds of the IDs of what was created in a period, empty for none. IDs are UUIDv7, which
// begin with the time in milliseconds (RFC 9562, section 5.7). No ID equals a bound.
func idsOfPeriod(since, before time.Time) (first, last string) {
	lowest := func(at time.Time) string {
		millis := fmt.Sprintf("%012x", max(0, at.UnixMilli()))
		return millis[:8] + "-" + millis[8:] + "-0000-0000-000000000000"
	}
	if !since.IsZero() {
		first = lowest(since.Add(-idsBehind))
	}
	if !before.IsZero() {
		last = lowest(before.Add(idsAhead))
	}
	return first, last
}

func (s *DB) DeliveryBodies(ctx context.Context, ids []string) (map[string]string, error) {
	bodies := map[string]string{}
	if len(ids) == 0 {
		return bodies, nil
	}
	list, args := inList(nil, ids)
	err := s.Query(ctx, "SELECT id, body FROM webhook_deliveries WHERE id IN "+list, args, func(row db.Row) error {
		var id, body string
		err := row.Scan(&id, &body)
		bodies[id] = body
		return err
	})
	return bodies, err
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
	text("response_body", func(a *attemptRow) *string { return &a.ResponseBody }),
)

var selectAttempts = attemptTable.selectFrom + "WHERE delivery_id = $1 ORDER BY n"

// insertAttempt reads the row of the delivery, because it may have been deleted or erased since the attempt began.
const insertAttempt = `INSERT INTO webhook_attempts (delivery_id, n, at, duration, status, error, response_body)
	SELECT $1, $2, $3, $4, $5, $6, CASE WHEN body = $8 THEN CAST($7 AS TEXT) ELSE '' END
	FROM webhook_deliveries WHERE id = $1`

// RecordAttempt updates the delivery first, which locks its row. Otherwise, on PostgreSQL, EraseDelivery could run
// between the two statements, and would not see the attempt.
func (s *DB) RecordAttempt(ctx context.Context, d webhook.Delivery, a webhook.Attempt) error {
	if err := s.Exec(ctx, updateDelivery.query, updateDelivery.values(&d)...); err != nil {
		return err
	}
	return s.Exec(ctx, insertAttempt, append(attemptTable.values(&attemptRow{a, d.ID}), d.Body)...)
}

// LastStatuses reads two rows for each delivery by their primary keys.
func (s *DB) LastStatuses(ctx context.Context, deliveryIDs []string) (map[string]int, error) {
	statuses := map[string]int{}
	if len(deliveryIDs) == 0 {
		return statuses, nil
	}
	list, args := inList(nil, deliveryIDs)
	err := s.Query(ctx, `SELECT d.id, a.status FROM webhook_deliveries d
			JOIN webhook_attempts a ON a.delivery_id = d.id AND a.n = d.attempts WHERE d.id IN `+list, args,
		func(row db.Row) error {
			var id string
			var status int
			err := row.Scan(&id, &status)
			statuses[id] = status
			return err
		})
	return statuses, err
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
