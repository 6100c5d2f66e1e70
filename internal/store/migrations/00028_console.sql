-- parley: expand
-- +goose Up
-- What hosts and co-hosts did in a room, and who was removed through the management API. The rows are deleted with their room,
-- also by an earlier release that does not know this table.
CREATE TABLE host_actions (
    room_id     TEXT   NOT NULL REFERENCES rooms (id) ON DELETE CASCADE,
    n           BIGINT NOT NULL,
    sequence    BIGINT NOT NULL, -- of the last event of the room before the action
    at          BIGINT NOT NULL,
    kind        TEXT   NOT NULL,
    by_seat     TEXT   NOT NULL, -- '' for the management API
    by_name     TEXT   NOT NULL,
    by_role     TEXT   NOT NULL,
    target_seat TEXT   NOT NULL, -- '' if the action is not about one person
    target_name TEXT   NOT NULL,
    target_role TEXT   NOT NULL,
    details     TEXT   NOT NULL, -- JSON
    PRIMARY KEY (room_id, n)
);

-- The quality of a connection at the last check: excellent, good, poor or lost, '' if it was
-- never known. poor_millis is for how long it was poor or lost.
ALTER TABLE attendance ADD COLUMN quality     TEXT   NOT NULL DEFAULT '';
ALTER TABLE attendance ADD COLUMN poor_millis BIGINT NOT NULL DEFAULT 0;

-- The latest caller with each credential of a project.
CREATE TABLE key_callers (
    project_id TEXT   NOT NULL,
    slot       TEXT   NOT NULL, -- of the credential at the time of the call
    at         BIGINT NOT NULL,
    address    TEXT   NOT NULL,
    user_agent TEXT   NOT NULL,
    PRIMARY KEY (project_id, slot)
);

-- The live sessions of a token or a user are counted when another one begins.
CREATE INDEX console_sessions_live ON console_sessions (token_id, user_id, id) WHERE ended_at IS NULL;
