package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/room"
)

func (db *DB) Organizations(ctx context.Context) ([]project.Organization, error) {
	var all []project.Organization
	err := db.query(ctx, `SELECT id, name, billing, created_at, plan, currency, unit_price FROM organizations ORDER BY id`, nil, func(scan func(...any) error) error {
		var o project.Organization
		err := scan(&o.ID, &o.Name, &o.Billing, nullTime{&o.CreatedAt}, &o.Plan, &o.Currency, &o.UnitPrice)
		all = append(all, o)
		return err
	})
	return all, err
}

func (db *DB) Projects(ctx context.Context, organizationID string) ([]project.Project, error) {
	var all []project.Project
	err := db.query(ctx, `SELECT id, organization_id, name, status, suspended_at, settings, created_at FROM projects
		WHERE organization_id = $1 OR $1 = '' ORDER BY id`, []any{organizationID}, func(scan func(...any) error) error {
		var p project.Project
		var settings string
		if err := scan(&p.ID, &p.OrganizationID, &p.Name, &p.Status, nullTime{&p.SuspendedAt}, &settings, nullTime{&p.CreatedAt}); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(settings), &p.Settings); err != nil {
			return fmt.Errorf("settings of project %s: %w", p.ID, err)
		}
		all = append(all, p)
		return nil
	})
	return all, err
}

func (db *DB) Token(ctx context.Context, id string) (operator.Token, error) {
	t := operator.Token{ID: id}
	err := db.queryRow(ctx, errTokenNotFound, `SELECT name, token_hash, created_at, revoked_at FROM management_tokens WHERE id = $1`, []any{id},
		&t.Name, &t.Hash, nullTime{&t.CreatedAt}, nullTime{&t.RevokedAt})
	return t, err
}

var errTokenNotFound = fault.New(fault.NotFound, "token_not_found", "there is no such token")

func (db *DB) Tokens(ctx context.Context) ([]operator.Token, error) {
	var all []operator.Token
	err := db.query(ctx, `SELECT id, name, token_hash, created_at, revoked_at FROM management_tokens ORDER BY id`, nil, func(scan func(...any) error) error {
		var t operator.Token
		err := scan(&t.ID, &t.Name, &t.Hash, nullTime{&t.CreatedAt}, nullTime{&t.RevokedAt})
		all = append(all, t)
		return err
	})
	return all, err
}

func (db *DB) RevokeToken(ctx context.Context, id string, at time.Time) error {
	return db.execOne(ctx, errTokenNotFound, `UPDATE management_tokens SET revoked_at = $2 WHERE id = $1`, id, nullMillis(at))
}

func (db *DB) List(ctx context.Context, q room.ListQuery) ([]room.Summary, error) {
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
	var all []room.Summary
	err := db.query(ctx, `SELECT id, project_id, coalesce(client_room_id, ''), type, state, end_reason, title,
		(SELECT count(*) FROM seats WHERE seats.room_id = rooms.id AND seats.state = 'joined' AND NOT seats.hidden),
		max_participants, created_at, start_at, opened_at, started_at, ended_at
		FROM rooms`+condition+fmt.Sprintf(` ORDER BY id DESC LIMIT $%d`, len(args)), args, func(scan func(...any) error) error {
		var r room.Summary
		err := scan(&r.ID, &r.ProjectID, &r.ClientRoomID, &r.Type, &r.State, &r.EndReason, &r.Title,
			&r.Participants, &r.MaxParticipants, nullTime{&r.CreatedAt}, nullTime{&r.StartAt}, nullTime{&r.OpenedAt}, nullTime{&r.StartedAt}, nullTime{&r.EndedAt})
		all = append(all, r)
		return err
	})
	return all, err
}

func isUnfinished(s room.State) bool {
	return s == room.Scheduled || s == room.Open || s == room.Active
}
