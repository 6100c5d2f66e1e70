package filltest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// LastWithoutRollups is the newest migration of the release before usage was rolled up.
const LastWithoutRollups = 13

// MeetingsWithoutRollups adds meetings to a database with the migrations until
// LastWithoutRollups, as that release stored them: a meeting in each step from a start, in the
// projects by turns. People attend each meeting for up to an hour. Every tenth meeting is in an
// audio room. In the last meeting, one person is still present. The projects must exist. Each
// call makes the same rows.
func MeetingsWithoutRollups(
	ctx context.Context, db *sql.DB, projects []string, meetings int, start time.Time, step time.Duration,
) error {
	project := "CASE i % " + fmt.Sprint(len(projects))
	for n, id := range projects {
		project += fmt.Sprintf(" WHEN %d THEN '%s'", n, id)
	}
	values := strings.NewReplacer("MEETINGS", fmt.Sprint(meetings), "PROJECT", project+" END",
		"START", fmt.Sprint(start.UnixMilli()), "STEP", fmt.Sprint(step.Milliseconds()), "PEOPLE", fmt.Sprint(People))
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, q := range meetingsWithoutRollups {
		if _, err := tx.ExecContext(ctx, values.Replace(q)); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO nodes (id, last_alive) VALUES ('old-node', $1)`,
		start.Add(time.Duration(meetings)*step).UnixMilli())
	if err != nil {
		return err
	}
	return tx.Commit()
}

// These relations have the meetings and their people. A meeting lasts from at to ended, and one
// person in 53 is hidden. The last person of the last meeting has not left.
const (
	meetingRows = `WITH RECURSIVE numbers(i) AS (
			SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM numbers WHERE i < MEETINGS - 1
		), meetings AS (
			SELECT i, '019a0000-0000-7000-8000-' || (100000000000 + i) AS room, PROJECT AS project,
				CASE WHEN i % 10 = 0 THEN 'audio' ELSE 'video' END AS type, START + i * STEP AS at,
				START + i * STEP + 3660000 AS ended, i = MEETINGS - 1 AS live
			FROM numbers
		)`
	personRows = meetingRows + `, places(p) AS (
			SELECT 0 UNION ALL SELECT p + 1 FROM places WHERE p < PEOPLE - 1
		), joins AS (
			SELECT m.*, p, 100000000000 + i * PEOPLE + p AS n, at + (i * 7919 + p * 104729) % 60000 AS joined,
				(i * 15485863 + p * 32452843) % 3600000 AS stay
			FROM meetings AS m CROSS JOIN places
		), people AS (
			SELECT j.*, '019a0001-0000-7000-8000-' || n AS seat, 'PA_' || n AS connection,
				CASE WHEN live AND p = PEOPLE - 1 THEN NULL ELSE joined + stay END AS gone
			FROM joins AS j
		)`
)

// meetingsWithoutRollups are the statements that store the meetings.
var meetingsWithoutRollups = []string{
	meetingRows + `INSERT INTO rooms (id, project_id, type, state, end_reason, title, welcome_message, creator_name,
			max_participants, empty_timeout, duration, creator_link_hash, creator_link_claim, session, session_live,
			last_session, event_sequence, created_at, opened_at, started_at, ended_at, due_at)
		SELECT room, project, type, CASE WHEN live THEN 'active' ELSE 'ended' END,
			CASE WHEN live THEN '' ELSE 'empty' END, 'Weekly planning', 'Good morning, and welcome to everybody',
			'Amina', 10, 300, 3600, room, '', 1, live, 1, 2 + 2 * PEOPLE, at, at, at,
			CASE WHEN live THEN NULL ELSE ended END, CASE WHEN live THEN ended ELSE NULL END
		FROM meetings`,
	meetingRows + `INSERT INTO sessions (room_id, n, state, started_at, ended_at)
		SELECT room, 1, CASE WHEN live THEN 'live' ELSE 'closed' END, at, CASE WHEN live THEN NULL ELSE ended END
		FROM meetings`,
	personRows + `INSERT INTO seats (id, room_id, key_hash, name, role, state, connection, created_at, hidden)
		SELECT seat, room, seat, 'Ada Lovelace', 'guest', CASE WHEN gone IS NULL THEN 'joined' ELSE 'free' END,
			connection, joined, n % 53 = 0
		FROM people`,
	personRows + `INSERT INTO attendance (id, room_id, session, seat_id, connection, joined_at, left_at, reason, hidden,
			node)
		SELECT '019a0002-0000-7000-8000-' || n, room, 1, seat, connection, joined, gone,
			CASE WHEN gone IS NULL THEN '' ELSE 'left' END, n % 53 = 0, 'old-node'
		FROM people`,
	meetingRows + `INSERT INTO events (id, project_id, room_id, sequence, type, at, data)
		SELECT '019a0003-0000-7000-8000-' || (100000000000 + i), project, room, 1, 'room.opened', at,
			'{"room_id":"' || room || '","room_type":"' || type || '"}'
		FROM meetings`,
	personRows + `INSERT INTO events (id, project_id, room_id, sequence, type, at, data)
		SELECT '019a000' || (4 + k) || '-0000-7000-8000-' || n, project, room, 2 + 2 * p + k,
			CASE k WHEN 0 THEN 'participant.joined' ELSE 'participant.left' END,
			CASE k WHEN 0 THEN joined ELSE joined + stay END,
			'{"room_id":"' || room || '","room_type":"' || type || '","participant":{"identity":"' || seat ||
			'","name":"Ada Lovelace","role":"guest","session_id":"' || room || '.1","connection_id":"' || connection ||
			'","joined_at":"2026-11-01T00:00:00.000Z"}}'
		FROM people CROSS JOIN (SELECT 0 AS k UNION ALL SELECT 1) AS kinds`,
	meetingRows + `INSERT INTO events (id, project_id, room_id, sequence, type, at, data)
		SELECT '019a0006-0000-7000-8000-' || (100000000000 + i), project, room, 2 + 2 * PEOPLE, 'room.ended', ended,
			'{"room_id":"' || room || '","room_type":"' || type || '","end_reason":"empty"}'
		FROM meetings WHERE NOT live`,
}
