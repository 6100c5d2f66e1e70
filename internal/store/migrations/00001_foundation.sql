-- +goose Up
-- One script for SQLite and PostgreSQL: IDs are TEXT (UUIDv7, in the order of time),
-- times are BIGINT Unix milliseconds, sealed secrets are TEXT, and settings are JSON in TEXT.
-- CHECK constraints use x = 'a' OR x = 'b', because SQLite builds a table at every insert for
-- a longer IN.

CREATE TABLE organizations (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    billing    TEXT NOT NULL CHECK (billing = 'plan' OR billing = 'payg'),
    created_at BIGINT NOT NULL
);

CREATE TABLE projects (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    name            TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status = 'active' OR status = 'inactive'),
    suspended_at    BIGINT,
    settings        TEXT NOT NULL,
    created_at      BIGINT NOT NULL
);

-- A project has one current API key and, during a rotation, one overlap key.
CREATE TABLE api_keys (
    id                    TEXT PRIMARY KEY,
    project_id            TEXT NOT NULL REFERENCES projects (id),
    slot                  TEXT NOT NULL CHECK (slot = 'current' OR slot = 'overlap' OR slot = 'retired'),
    key_hash              TEXT NOT NULL UNIQUE,
    sealed_key            TEXT NOT NULL,
    sealed_gateway_secret TEXT NOT NULL,
    created_at            BIGINT NOT NULL,
    retiring_since        BIGINT,
    overlap_ends_at       BIGINT,
    retired_at            BIGINT
);
CREATE UNIQUE INDEX api_keys_one_current ON api_keys (project_id) WHERE slot = 'current';
CREATE UNIQUE INDEX api_keys_one_overlap ON api_keys (project_id) WHERE slot = 'overlap';

CREATE TABLE project_secrets (
    id              TEXT PRIMARY KEY,
    project_id      TEXT NOT NULL REFERENCES projects (id),
    slot            TEXT NOT NULL CHECK (slot = 'current' OR slot = 'overlap' OR slot = 'retired'),
    sealed_secret   TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    retiring_since  BIGINT,
    overlap_ends_at BIGINT,
    retired_at      BIGINT
);
CREATE UNIQUE INDEX project_secrets_one_current ON project_secrets (project_id) WHERE slot = 'current';
CREATE UNIQUE INDEX project_secrets_one_overlap ON project_secrets (project_id) WHERE slot = 'overlap';

-- Management tokens, as hashes.
CREATE TABLE management_tokens (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    token_hash TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE TABLE rooms (
    id                 TEXT PRIMARY KEY,
    project_id         TEXT NOT NULL REFERENCES projects (id),
    client_room_id     TEXT,
    type               TEXT NOT NULL CHECK (type = 'video' OR type = 'audio'),
    state              TEXT NOT NULL CHECK (state = 'scheduled' OR state = 'open' OR state = 'active' OR state = 'ended' OR state = 'cancelled' OR state = 'expired'),
    end_reason         TEXT NOT NULL,
    title              TEXT NOT NULL,
    welcome_message    TEXT NOT NULL,
    creator_name       TEXT NOT NULL,
    max_participants   BIGINT NOT NULL CHECK (max_participants > 0),
    empty_timeout      BIGINT NOT NULL, -- seconds
    duration           BIGINT NOT NULL, -- seconds from the first join
    creator_link_hash  TEXT NOT NULL,
    creator_link_claim TEXT NOT NULL,   -- hash of the seat key that used it first; '' until then
    session            BIGINT NOT NULL, -- number of the latest session; 0 before the first
    session_live       BOOLEAN NOT NULL,
    event_sequence     BIGINT NOT NULL,
    created_at         BIGINT NOT NULL,
    opened_at          BIGINT,
    started_at         BIGINT,          -- first join
    empty_since        BIGINT,          -- last leave, while nobody is in the room
    ended_at           BIGINT,
    due_at             BIGINT           -- when the next change of the state is due
);
CREATE UNIQUE INDEX rooms_client_room_id ON rooms (project_id, client_room_id) WHERE client_room_id IS NOT NULL;
CREATE INDEX rooms_due ON rooms (due_at) WHERE due_at IS NOT NULL;

-- The sessions of a room in the media engine, whose names there are <room_id>.<n>.
CREATE TABLE sessions (
    room_id    TEXT NOT NULL REFERENCES rooms (id),
    n          BIGINT NOT NULL,
    state      TEXT NOT NULL CHECK (state = 'live' OR state = 'closing' OR state = 'closed'),
    started_at BIGINT NOT NULL,
    ended_at   BIGINT,
    PRIMARY KEY (room_id, n)
);
CREATE INDEX sessions_unclosed ON sessions (state) WHERE state <> 'closed';

-- The right of one participant to be in a room. The ID is the identity of the participant.
-- The seat key, whose hash is key_hash, identifies a browser that returns.
CREATE TABLE seats (
    id         TEXT PRIMARY KEY,
    room_id    TEXT NOT NULL REFERENCES rooms (id),
    key_hash   TEXT NOT NULL,
    name       TEXT NOT NULL,
    role       TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state = 'reserved' OR state = 'joined' OR state = 'free'),
    connection TEXT NOT NULL, -- the media engine's id of the latest connection
    held_until BIGINT,        -- while reserved: when the reservation expires
    created_at BIGINT NOT NULL,
    UNIQUE (room_id, key_hash)
);
CREATE INDEX seats_taken ON seats (room_id) WHERE state <> 'free';

-- The connections of participants, with their times.
CREATE TABLE attendance (
    id         TEXT PRIMARY KEY,
    room_id    TEXT NOT NULL REFERENCES rooms (id),
    session    BIGINT NOT NULL,
    seat_id    TEXT NOT NULL REFERENCES seats (id),
    connection TEXT NOT NULL,
    joined_at  BIGINT NOT NULL,
    left_at    BIGINT,
    reason     TEXT NOT NULL,
    UNIQUE (seat_id, connection)
);
CREATE INDEX attendance_present ON attendance (room_id) WHERE left_at IS NULL;

-- The events of rooms, numbered without gaps within their room.
CREATE TABLE events (
    id         TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    room_id    TEXT NOT NULL REFERENCES rooms (id),
    sequence   BIGINT NOT NULL,
    type       TEXT NOT NULL,
    at         BIGINT NOT NULL,
    data       TEXT NOT NULL,
    UNIQUE (room_id, sequence)
);

-- Values of this installation by their name: the sealed secret of media tokens, and when the
-- service was last alive.
CREATE TABLE facts (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
