package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/internal/room"
	"parley/internal/validate"
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

var (
	selectSummary = `SELECT ` + summaryTable.selectList + `, (SELECT count(*) FROM seats
			WHERE seats.room_id = rooms.id AND seats.state = 'joined' AND NOT seats.hidden)
		`
	selectByClientRoomID = selectSummary + `FROM rooms WHERE client_room_id = $1
		AND ($2 = '' OR project_id = $2) AND ($3 = '' OR state = $3) AND ($4 = '' OR id = $4) AND ($5 = '' OR id < $5)
		ORDER BY id DESC LIMIT $6`
)

// usualLimits are the limits that List writes into the statement for the rooms of one project, instead of a parameter:
// one more than the sizes of pages that clients usually ask for, because one room more tells whether there is another
// page. For a parameter, PostgreSQL assumes a tenth of all rows. A generic plan then looks expensive to it, so it makes
// a custom plan for each call, which takes longer than the call. Each limit makes another statement, so they are few.
var usualLimits = []int{10 + 1, 20 + 1, 25 + 1, validate.DefaultPage + 1, validate.MaxPage + 1}

// List orders the rooms of a project by created_at, like the indexes that begin with
// the project. Ids are in the order of time too, but an index on them would make each
// creation more expensive.
func (s *DB) List(ctx context.Context, q room.ListQuery) ([]room.Summary, error) {
	var where []string
	var args []any
	param := func(value any) string {
		args = append(args, value)
		return fmt.Sprintf("$%d", len(args))
	}
	if q.ID != "" {
		where = append(where, `id = `+param(q.ID))
	}
	if q.ClientRoomID != "" {
		return s.listClientRoomID(ctx, q)
	}
	var columns, params []string // of an index
	with, rooms := ``, `FROM rooms`
	switch {
	case isUnfinished(q.State):
		// Every room that is not over has a due_at. Its index finds these few
		// rooms, while the order of the list would make the engine read all
		// rooms.
		with = `WITH unfinished AS MATERIALIZED (SELECT * FROM rooms WHERE due_at IS NOT NULL) `
		rooms = `FROM unfinished AS rooms`
		where = append(where, `state = `+param(q.State))
	case q.State != "" && q.ProjectID != "":
		where = append(where, `ended_at IS NOT NULL AND state = `+param(q.State))
	case q.State != "":
		where = append(where, `ended_at IS NOT NULL`)
		columns, params = []string{"state"}, []string{param(q.State)}
	}
	before := ""
	if q.Before != "" {
		before = param(q.Before)
	}
	inPage, order := page(columns, params, `id`, before, "", false)
	if q.ProjectID != "" {
		projectID := param(q.ProjectID)
		inPage, order = []string{`project_id = ` + projectID}, `created_at DESC, id DESC`
		if before != "" {
			// A room may be deleted while a client reads the list. The time in its ID is not before its
			// created_at, so no room is left out.
			var deletedAt any
			if at, ok := room.IDTime(q.Before); ok {
				deletedAt = at.UnixMilli()
			}
			at := `coalesce((SELECT created_at FROM rooms WHERE id = ` + before + ` AND ` + unindexed("project_id") + ` = ` +
				projectID + `), ` + param(deletedAt) + `)`
			inPage = append(inPage, `created_at <= `+at, `(created_at < `+at+` OR id < `+anyValue(before, "TEXT")+`)`)
		} else if !q.CreatedUntil.IsZero() {
			inPage = append(inPage, `created_at <= `+param(q.CreatedUntil.UnixMilli()))
		}
	}
	where = append(where, inPage...)
	condition := ``
	if len(where) > 0 {
		condition = ` WHERE ` + strings.Join(where, ` AND `)
	}
	var limit string
	if q.ProjectID != "" && q.State == "" && slices.Contains(usualLimits, q.Limit) {
		limit = strconv.Itoa(q.Limit)
	} else {
		limit = param(q.Limit)
	}
	list := with + selectSummary + rooms + condition + ` ORDER BY ` + order + ` LIMIT ` + limit
	return s.querySummaries(ctx, list, args...)
}

// listClientRoomID lists rooms with a client_room_id, of which each project has at most
// one.
func (s *DB) listClientRoomID(ctx context.Context, q room.ListQuery) ([]room.Summary, error) {
	return s.querySummaries(ctx, selectByClientRoomID, q.ClientRoomID, q.ProjectID, q.State, q.ID, q.Before, q.Limit)
}

func (s *DB) querySummaries(ctx context.Context, q string, args ...any) ([]room.Summary, error) {
	more := func(r *room.Summary) []any { return []any{&r.Participants} }
	return queryAllMore(ctx, s, summaryTable, more, q, args...)
}

var seatNameTable = newTable("seats",
	text("room_id", func(n *room.SeatName) *string { return &n.RoomID }),
	text("name", func(n *room.SeatName) *string { return &n.Name }),
	text("user_id", func(n *room.SeatName) *string { return &n.UserID }),
)

func (s *DB) PeopleOfRooms(ctx context.Context, roomIDs []string) ([]room.SeatName, error) {
	list, args := inList(nil, roomIDs)
	return queryAll(ctx, s, seatNameTable, seatNameTable.selectFrom+"WHERE room_id IN "+list, args...)
}

func isUnfinished(s room.State) bool {
	return s == room.Scheduled || s == room.Open || s == room.Active
}
