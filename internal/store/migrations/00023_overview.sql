-- parley: expand
-- +goose Up
-- What a node says about itself with each heartbeat. A program of a release without these
-- columns leaves them empty.
ALTER TABLE nodes ADD COLUMN version    TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN started_at BIGINT;
ALTER TABLE nodes ADD COLUMN redis      TEXT NOT NULL DEFAULT ''; -- none, ok or unavailable

-- How the media of a connection reached the server: udp, tcp or turn; '' if unknown.
ALTER TABLE attendance ADD COLUMN connection_type TEXT NOT NULL DEFAULT '';

-- Recorded API calls by the five minutes in which they ended, for two hours. The rows
-- without a project are the sums of all projects.
CREATE TABLE call_totals (
    project_id TEXT   NOT NULL,
    at         BIGINT NOT NULL, -- start of the five minutes
    accepted   BIGINT NOT NULL,
    rejected   BIGINT NOT NULL,
    PRIMARY KEY (project_id, at)
);
CREATE INDEX call_totals_at ON call_totals (at);
