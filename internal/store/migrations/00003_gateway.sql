-- +goose Up
-- What version 5 of the API returns: plans and prices, usage, calls.

-- An empty plan means the plan named default. An empty price means no price.
ALTER TABLE organizations ADD COLUMN plan       TEXT NOT NULL DEFAULT '';
ALTER TABLE organizations ADD COLUMN currency   TEXT NOT NULL DEFAULT '';
ALTER TABLE organizations ADD COLUMN unit_price TEXT NOT NULL DEFAULT '';

-- Counts that are kept in memory and stored in batches: the calls of an organization in a day,
-- and the calls with a key in a slot.
CREATE TABLE tallies (
    subject TEXT NOT NULL,
    period  TEXT NOT NULL,
    n       BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (subject, period)
);

-- The recorded calls of version 5, in blocks, because a row for each call would cost more than
-- the call. The number of a call is its time in nanoseconds, made unique; n is the number of the
-- last call in the block.
CREATE TABLE calls (
    project_id TEXT NOT NULL,
    n          BIGINT NOT NULL,
    first_n    BIGINT NOT NULL,
    size       BIGINT NOT NULL,
    calls      TEXT NOT NULL, -- JSON
    PRIMARY KEY (project_id, n)
);

-- Usage reads attendance and sessions by time.
CREATE INDEX attendance_left ON attendance (left_at);
CREATE INDEX sessions_started ON sessions (started_at);
CREATE INDEX rooms_created ON rooms (project_id, created_at);
CREATE INDEX projects_organization ON projects (organization_id);

-- All keys of a project, including retired ones.
CREATE INDEX api_keys_project ON api_keys (project_id);
