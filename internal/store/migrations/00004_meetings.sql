-- +goose Up
-- Features and locks of rooms, links, breakout rooms, and the nodes that record attendance.

-- Lists of names, separated by spaces.
ALTER TABLE rooms ADD COLUMN features TEXT NOT NULL DEFAULT 'camera screen_share chat';
ALTER TABLE rooms ADD COLUMN locks    TEXT NOT NULL DEFAULT '';
-- The highest number of a session, including those of breakout rooms.
ALTER TABLE rooms ADD COLUMN last_session BIGINT NOT NULL DEFAULT 0;
UPDATE rooms SET last_session = session;
CREATE INDEX rooms_over ON rooms (project_id, ended_at) WHERE ended_at IS NOT NULL;

-- Links into rooms. The link of the creator is in the row of its room.
CREATE TABLE links (
    id         TEXT PRIMARY KEY,
    room_id    TEXT NOT NULL REFERENCES rooms (id),
    token_hash TEXT NOT NULL UNIQUE,
    role       TEXT NOT NULL CHECK (role = 'host' OR role = 'cohost' OR role = 'guest'),
    single     BOOLEAN NOT NULL, -- only the first browser that joins with it can use it
    name       TEXT NOT NULL,
    user_id    TEXT NOT NULL,    -- ID of the person in the integrator's system, or ''
    hidden     BOOLEAN NOT NULL,
    claim      TEXT NOT NULL,    -- hash of the seat key that used it first; '' until then
    created_at BIGINT NOT NULL,
    expires_at BIGINT
);
CREATE INDEX links_room ON links (room_id);

-- The sessions of breakout rooms are sessions of their room.
ALTER TABLE sessions ADD COLUMN breakout BIGINT NOT NULL DEFAULT 0; -- 0 for the room itself
CREATE TABLE breakouts (
    room_id   TEXT NOT NULL REFERENCES rooms (id),
    n         BIGINT NOT NULL, -- never used twice in a room
    name      TEXT NOT NULL,
    session   BIGINT NOT NULL,
    opened_at BIGINT NOT NULL,
    closed_at BIGINT,
    PRIMARY KEY (room_id, n)
);

ALTER TABLE seats ADD COLUMN user_id  TEXT NOT NULL DEFAULT '';
ALTER TABLE seats ADD COLUMN hidden   BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE seats ADD COLUMN breakout BIGINT NOT NULL DEFAULT 0; -- the breakout room of the participant; 0 for the room itself
CREATE UNIQUE INDEX seats_user ON seats (room_id, user_id) WHERE user_id <> '';

-- The attendance of hidden participants does not count in usage.
ALTER TABLE attendance ADD COLUMN hidden BOOLEAN NOT NULL DEFAULT FALSE;
-- The node that hosts the session and recorded the row.
ALTER TABLE attendance ADD COLUMN node TEXT NOT NULL DEFAULT '';
CREATE INDEX attendance_node ON attendance (node) WHERE left_at IS NULL;

-- The processes that serve the database. Before this migration there was one process, without
-- an ID.
CREATE TABLE nodes (
    id         TEXT PRIMARY KEY,
    last_alive BIGINT NOT NULL
);
INSERT INTO nodes (id, last_alive) SELECT '', CAST(value AS BIGINT) FROM facts WHERE name = 'last_alive';
DELETE FROM facts WHERE name = 'last_alive';
