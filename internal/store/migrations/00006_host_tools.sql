-- +goose Up
-- What hosts decide about people while a room goes on.

ALTER TABLE seats ADD COLUMN removed_at BIGINT;                       -- when a host took its holder out; NULL for who may come in
ALTER TABLE seats ADD COLUMN demoted BOOLEAN NOT NULL DEFAULT FALSE;  -- a host took back that they are a co-host: no link makes them one again
