-- parley: expand
-- +goose Up
-- Users of the console, and people with a link, are actors too. SQLite cannot change a check.
CREATE TABLE audit_of_all_actors (
    n          BIGINT PRIMARY KEY, -- from 1, without gaps
    at         BIGINT NOT NULL,
    actor_kind TEXT   NOT NULL CHECK (actor_kind IN ('token', 'user', 'link', 'local', 'service')),
    actor_id   TEXT   NOT NULL,
    actor_name TEXT   NOT NULL,
    request_id TEXT   NOT NULL,
    address    TEXT   NOT NULL,
    node       TEXT   NOT NULL,
    action     TEXT   NOT NULL,
    subject    TEXT   NOT NULL,
    project_id TEXT   NOT NULL, -- empty unless the change is about a project
    before     TEXT   NOT NULL, -- JSON objects
    after      TEXT   NOT NULL,
    prev_hash  TEXT   NOT NULL,
    hash       TEXT   NOT NULL
);
INSERT INTO audit_of_all_actors (n, at, actor_kind, actor_id, actor_name, request_id, address, node, action, subject,
        project_id, before, after, prev_hash, hash)
    SELECT n, at, actor_kind, actor_id, actor_name, request_id, address, node, action, subject, project_id, before, after,
        prev_hash, hash FROM audit;
DROP TABLE audit;
ALTER TABLE audit_of_all_actors RENAME TO audit;
CREATE INDEX audit_at ON audit (at, n);
CREATE INDEX audit_project ON audit (project_id, n);
