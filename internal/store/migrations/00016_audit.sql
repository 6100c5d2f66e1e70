-- parley: expand
-- +goose Up
-- Changes of the installation by operators and by the service itself. The rows form a
-- hash chain (see package audit).
CREATE TABLE audit (
    n          BIGINT PRIMARY KEY, -- from 1, without gaps
    at         BIGINT NOT NULL,
    actor_kind TEXT   NOT NULL CHECK (actor_kind IN ('token', 'local', 'service')),
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
CREATE INDEX audit_at ON audit (at, n);
CREATE INDEX audit_project ON audit (project_id, n);

-- The ends of the chain, in one row: its last entry, and the last entry that was
-- pruned. A transaction locks the row before it adds an entry.
CREATE TABLE audit_chain (
    id          TEXT   PRIMARY KEY CHECK (id = 'chain'),
    n           BIGINT NOT NULL,
    hash        TEXT   NOT NULL,
    pruned_n    BIGINT NOT NULL,
    pruned_hash TEXT   NOT NULL
);
INSERT INTO audit_chain (id, n, hash, pruned_n, pruned_hash) VALUES ('chain', 0, '', 0, '');
