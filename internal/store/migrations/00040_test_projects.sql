-- parley: expand
-- +goose Up
-- A test project costs nothing, and its usage is not part of that of its organization.
ALTER TABLE projects ADD COLUMN test BOOLEAN NOT NULL DEFAULT FALSE;
