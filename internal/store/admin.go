package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/room"
)

func (s *Store) Organizations(ctx context.Context) ([]project.Organization, error) {
	return db.QueryAll(ctx, s.DB, organizationTable, selectOrganizations)
}

func (s *Store) Projects(ctx context.Context, organizationID string) ([]project.Project, error) {
	rows, err := db.QueryAll(ctx, s.DB, projectTable, selectProjects, organizationID)
	if err != nil {
		return nil, err
	}
	var all []project.Project
	for i := range rows {
		p, err := rows[i].project()
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

var errTokenNotFound = fault.New(fault.NotFound, "token_not_found", "there is no such token")

func (s *Store) Token(ctx context.Context, id string) (operator.Token, error) {
	return s.queryToken(ctx, selectToken, id)
}

func (s *Store) Tokens(ctx context.Context) ([]operator.Token, error) {
	return db.QueryAll(ctx, s.DB, tokenTable, selectTokens)
}

func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) error {
	return s.ExecOne(ctx, errTokenNotFound, `UPDATE management_tokens SET revoked_at = $2 WHERE id = $1`,
		id, db.NullMillis(at))
}

var summaryTable = db.NewTable("rooms",
	db.Text("id", func(r *room.Summary) *string { return &r.ID }),
	db.Text("project_id", func(r *room.Summary) *string { return &r.ProjectID }),
	db.OptionalText("client_room_id", func(r *room.Summary) *string { return &r.ClientRoomID }),
	db.Text("type", func(r *room.Summary) *room.Type { return &r.Type }),
	db.Text("state", func(r *room.Summary) *room.State { return &r.State }),
	db.Text("end_reason", func(r *room.Summary) *room.EndReason { return &r.EndReason }),
	db.Text("title", func(r *room.Summary) *string { return &r.Title }),
	db.Number("max_participants", func(r *room.Summary) *int { return &r.MaxParticipants }),
	db.Timestamp("created_at", func(r *room.Summary) *time.Time { return &r.CreatedAt }),
	db.Timestamp("start_at", func(r *room.Summary) *time.Time { return &r.StartAt }),
	db.Timestamp("opened_at", func(r *room.Summary) *time.Time { return &r.OpenedAt }),
	db.Timestamp("started_at", func(r *room.Summary) *time.Time { return &r.StartedAt }),
	db.Timestamp("ended_at", func(r *room.Summary) *time.Time { return &r.EndedAt }),
)

func (s *Store) List(ctx context.Context, q room.ListQuery) ([]room.Summary, error) {
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
	list := `SELECT ` + summaryTable.List + `, (SELECT count(*) FROM seats
			WHERE seats.room_id = rooms.id AND seats.state = 'joined' AND NOT seats.hidden)
		FROM rooms` + condition + fmt.Sprintf(` ORDER BY id DESC LIMIT $%d`, len(args))
	var all []room.Summary
	err := s.Query(ctx, list, args, func(scan func(...any) error) error {
		var r room.Summary
		err := scan(summaryTable.Dests(&r, &r.Participants)...)
		all = append(all, r)
		return err
	})
	return all, err
}

func isUnfinished(s room.State) bool {
	return s == room.Scheduled || s == room.Open || s == room.Active
}
