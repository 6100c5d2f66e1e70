package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/internal/room"
)

var summaryTable = newTable("rooms",
	text("id", func(r *room.Summary) *string { return &r.ID }),
	text("project_id", func(r *room.Summary) *string { return &r.ProjectID }),
	optionalText("client_room_id", func(r *room.Summary) *string { return &r.ClientRoomID }),
	text("type", func(r *room.Summary) *room.Type { return &r.Type }),
	text("state", func(r *room.Summary) *room.State { return &r.State }),
	text("end_reason", func(r *room.Summary) *room.EndReason { return &r.EndReason }),
	text("title", func(r *room.Summary) *string { return &r.Title }),
	number("max_participants", func(r *room.Summary) *int { return &r.MaxParticipants }),
	timestamp("created_at", func(r *room.Summary) *time.Time { return &r.CreatedAt }),
	timestamp("start_at", func(r *room.Summary) *time.Time { return &r.StartAt }),
	timestamp("opened_at", func(r *room.Summary) *time.Time { return &r.OpenedAt }),
	timestamp("started_at", func(r *room.Summary) *time.Time { return &r.StartedAt }),
	timestamp("ended_at", func(r *room.Summary) *time.Time { return &r.EndedAt }),
)

func (s *DB) List(ctx context.Context, q room.ListQuery) ([]room.Summary, error) {
	var where []string
	var args []any
	only := func(condition string, value string) {
		if value != "" {
			args = append(args, value)
			where = append(where, fmt.Sprintf(condition, len(args)))
		}
	}
	only(`id = $%d`, q.ID)
	only(`project_id = $%d`, q.ProjectID)
	only(`state = $%d`, string(q.State))
	only(`id < $%d`, q.Before)
	if isUnfinished(q.State) {
		// Every room that is not over has a due_at. Its index finds these few
		// rooms, while the order of the list would make the engine read all
		// rooms.
		where = append(where, `id IN (SELECT id FROM rooms WHERE due_at IS NOT NULL)`)
	}
	condition := ``
	if len(where) > 0 {
		condition = ` WHERE ` + strings.Join(where, ` AND `)
	}
	args = append(args, q.Limit)
	list := `SELECT ` + summaryTable.selectList + `, (SELECT count(*) FROM seats
			WHERE seats.room_id = rooms.id AND seats.state = 'joined' AND NOT seats.hidden)
		FROM rooms` + condition + fmt.Sprintf(` ORDER BY id DESC LIMIT $%d`, len(args))
	more := func(r *room.Summary) []any { return []any{&r.Participants} }
	return queryAllMore(ctx, s, summaryTable, more, list, args...)
}

func isUnfinished(s room.State) bool {
	return s == room.Scheduled || s == room.Open || s == room.Active
}
