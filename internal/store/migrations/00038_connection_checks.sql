-- parley: expand
-- +goose Up
-- Checks of the connection to the media engine from other machines. A new row deletes those that expired a day ago.
CREATE TABLE connection_checks (
    id          TEXT   PRIMARY KEY,
    code_hash   TEXT   NOT NULL UNIQUE,
    key_hash    TEXT   UNIQUE, -- NULL before the start
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    started_at  BIGINT,
    finished_at BIGINT,
    paths       TEXT   NOT NULL -- JSON; empty before the end
);
