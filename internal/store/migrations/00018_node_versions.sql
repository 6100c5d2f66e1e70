-- parley: expand
-- +goose Up
-- The newest migration that the program of a node knows. A program of a release without
-- this column leaves it 0.
ALTER TABLE nodes ADD COLUMN schema_version BIGINT NOT NULL DEFAULT 0;
