-- +goose Up
-- The logo of a project, at most one. The hash is the SHA-256 of the image, in hex.
-- SQLite has no type BYTEA, and stores the bytes as they are.
CREATE TABLE project_logos (
    project_id TEXT PRIMARY KEY REFERENCES projects (id),
    hash       TEXT NOT NULL,
    format     TEXT NOT NULL CHECK (format = 'png' OR format = 'jpeg' OR format = 'webp'),
    width      BIGINT NOT NULL,
    height     BIGINT NOT NULL,
    image      BYTEA NOT NULL
);
CREATE INDEX project_logos_by_hash ON project_logos (hash);
