package store

import (
	"context"
	"encoding/json"
	"time"

	"parley/internal/db"
	"parley/internal/retention"
	"parley/internal/room"
)

var hostActionTable = newTable("host_actions",
	text("room_id", func(a *room.HostAction) *string { return &a.RoomID }),
	number("sequence", func(a *room.HostAction) *int64 { return &a.Sequence }),
	timestamp("at", func(a *room.HostAction) *time.Time { return &a.At }),
	text("kind", func(a *room.HostAction) *room.HostActionKind { return &a.Kind }),
	text("by_seat", func(a *room.HostAction) *string { return &a.By.SeatID }),
	text("by_name", func(a *room.HostAction) *string { return &a.By.Name }),
	text("by_role", func(a *room.HostAction) *room.Role { return &a.By.Role }),
	text("target_seat", func(a *room.HostAction) *string { return &a.Target.SeatID }),
	text("target_name", func(a *room.HostAction) *string { return &a.Target.Name }),
	text("target_role", func(a *room.HostAction) *room.Role { return &a.Target.Role }),
	column[room.HostAction]{
		name: "details", sqlType: "text",
		value: func(a *room.HostAction) any { return hostActionDetails(a.Details) },
		dest:  func(a *room.HostAction) any { return db.ScanJSON(&a.Details) },
	},
	column[room.HostAction]{
		name: "n", constant: "(SELECT coalesce(max(n), 0) + 1 FROM host_actions WHERE room_id = $1)",
		dest: func(a *room.HostAction) any { return &a.N },
	},
)

// hostActionDetails encodes details, which always can be encoded.
func hostActionDetails(d room.HostActionDetails) string {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return string(text)
}

var (
	insertHostAction  = hostActionTable.insertQuery()
	selectHostActions = hostActionTable.selectFrom + "WHERE room_id = $1 AND n > $2 ORDER BY n LIMIT $3"
)

func (s *DB) AppendHostAction(ctx context.Context, a room.HostAction, keep int) error {
	if err := s.Exec(ctx, insertHostAction, hostActionTable.values(&a)...); err != nil {
		return err
	}
	return s.Exec(ctx, `DELETE FROM host_actions WHERE room_id = $1
		AND n <= (SELECT max(n) FROM host_actions WHERE room_id = $1) - $2`, a.RoomID, keep)
}

func (s *DB) HostActions(ctx context.Context, roomID string, after int64, limit int) ([]room.HostAction, error) {
	return queryAll(ctx, s, hostActionTable, selectHostActions, roomID, after, limit)
}

var personHostActionTable = newTable("host_actions",
	number("n", func(a *retention.HostAction) *int64 { return &a.N }),
	timestamp("at", func(a *retention.HostAction) *time.Time { return &a.At }),
	text("kind", func(a *retention.HostAction) *string { return &a.Kind }),
	text("by_seat", func(a *retention.HostAction) *string { return &a.By.SeatID }),
	text("by_name", func(a *retention.HostAction) *string { return &a.By.Name }),
	text("target_seat", func(a *retention.HostAction) *string { return &a.Target.SeatID }),
	text("target_name", func(a *retention.HostAction) *string { return &a.Target.Name }),
)

var selectPersonHostActions = personHostActionTable.selectFrom + "WHERE room_id = $1 ORDER BY n"

func (s *DB) HostActionsOfRoom(ctx context.Context, roomID string) ([]retention.HostAction, error) {
	return queryAll(ctx, s, personHostActionTable, selectPersonHostActions, roomID)
}

func (s *DB) RenameHostAction(ctx context.Context, roomID string, a retention.HostAction) error {
	return s.Exec(ctx, `UPDATE host_actions SET by_name = $3, target_name = $4 WHERE room_id = $1 AND n = $2`,
		roomID, a.N, a.By.Name, a.Target.Name)
}
