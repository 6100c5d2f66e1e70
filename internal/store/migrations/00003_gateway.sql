-- +goose Up
-- What version 5 of the API tells of: plans and prices, use, calls.

-- An empty plan is the plan named default; an empty price is none.
ALTER TABLE organizations ADD COLUMN plan       TEXT NOT NULL DEFAULT '';
ALTER TABLE organizations ADD COLUMN currency   TEXT NOT NULL DEFAULT '';
ALTER TABLE organizations ADD COLUMN unit_price TEXT NOT NULL DEFAULT '';

-- Counts that are kept in memory and written now and then: of calls by an
-- organization in a day, of calls with a key in a slot.
CREATE TABLE tallies (
    subject TEXT NOT NULL,
    period  TEXT NOT NULL,
    n       BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (subject, period)
);

-- Calls of version 5 that somebody may ask about, in blocks: a row for each
-- cost more than answering the call. A call's number is its moment in
-- nanoseconds, made unique; n is that of the last in the block.
CREATE TABLE calls (
    project_id TEXT NOT NULL,
    n          BIGINT NOT NULL,
    first_n    BIGINT NOT NULL,
    size       BIGINT NOT NULL,
    calls      TEXT NOT NULL, -- JSON
    PRIMARY KEY (project_id, n)
);

-- The ledger is read by time: who was there in a month.
CREATE INDEX attendance_left ON attendance (left_at);
CREATE INDEX sessions_started ON sessions (started_at);
CREATE INDEX rooms_created ON rooms (project_id, created_at);
CREATE INDEX projects_organization ON projects (organization_id);

-- All keys of a project, retired ones too.
CREATE INDEX api_keys_project ON api_keys (project_id);
