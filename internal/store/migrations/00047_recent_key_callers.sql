-- parley: expand
-- +goose Up
-- The recent callers with each credential of a project, several of each. An earlier release uses key_callers, which
-- has one of each. Nothing writes it any more, and the retention period empties it.
CREATE TABLE recent_key_callers (
    project_id TEXT   NOT NULL,
    slot       TEXT   NOT NULL, -- of the credential at the time of the call
    address    TEXT   NOT NULL,
    user_agent TEXT   NOT NULL,
    at         BIGINT NOT NULL,
    PRIMARY KEY (project_id, slot, address, user_agent)
);
INSERT INTO recent_key_callers (project_id, slot, address, user_agent, at)
    SELECT project_id, slot, address, user_agent, at FROM key_callers;
