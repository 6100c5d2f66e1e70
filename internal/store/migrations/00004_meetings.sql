-- +goose Up
-- What meetings need: features and locks, links, breakout rooms, and which
-- node knows who is in.

-- Lists of names, separated by spaces.
ALTER TABLE rooms ADD COLUMN features TEXT NOT NULL DEFAULT 'camera screen_share chat';
ALTER TABLE rooms ADD COLUMN locks    TEXT NOT NULL DEFAULT '';
-- The highest number of a session, those of breakout rooms included.
ALTER TABLE rooms ADD COLUMN last_session BIGINT NOT NULL DEFAULT 0;
UPDATE rooms SET last_session = session;
CREATE INDEX rooms_over ON rooms (project_id, ended_at) WHERE ended_at IS NOT NULL;

-- Links that let people in, beside the creator's, which is on its room.
CREATE TABLE links (
    id         TEXT PRIMARY KEY,
    room_id    TEXT NOT NULL REFERENCES rooms (id),
    token_hash TEXT NOT NULL UNIQUE,
    role       TEXT NOT NULL CHECK (role = 'host' OR role = 'cohost' OR role = 'guest'),
    single     BOOLEAN NOT NULL, -- the first browser that joins with it keeps it
    name       TEXT NOT NULL,
    user_id    TEXT NOT NULL,    -- the person in the client's own system, or ''
    hidden     BOOLEAN NOT NULL,
    claim      TEXT NOT NULL,    -- hash of the seat key that used it first; '' until then
    created_at BIGINT NOT NULL,
    expires_at BIGINT
);
CREATE INDEX links_room ON links (room_id);

-- The sessions of breakout rooms are sessions of their room.
ALTER TABLE sessions ADD COLUMN breakout BIGINT NOT NULL DEFAULT 0; -- 0: the room itself
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
ALTER TABLE seats ADD COLUMN breakout BIGINT NOT NULL DEFAULT 0; -- where its holder belongs; 0: the room itself
CREATE UNIQUE INDEX seats_user ON seats (room_id, user_id) WHERE user_id <> '';

-- Who is hidden counts in no usage.
ALTER TABLE attendance ADD COLUMN hidden BOOLEAN NOT NULL DEFAULT FALSE;
-- Whose word the row is: the node that hosts the session.
ALTER TABLE attendance ADD COLUMN node TEXT NOT NULL DEFAULT '';
CREATE INDEX attendance_node ON attendance (node) WHERE left_at IS NULL;

-- The processes that run, or ran when they were last heard of. Until here
-- there was one, and it had no name.
CREATE TABLE nodes (
    id         TEXT PRIMARY KEY,
    last_alive BIGINT NOT NULL
);
INSERT INTO nodes (id, last_alive) SELECT '', CAST(value AS BIGINT) FROM facts WHERE name = 'last_alive';
DELETE FROM facts WHERE name = 'last_alive';
