-- parley: contract
-- +goose Up
-- What the bearer of a management token may do. A program that does not know these columns
-- would let every token do everything, as tokens of earlier releases may.
ALTER TABLE management_tokens ADD COLUMN role         TEXT NOT NULL DEFAULT 'owner';
ALTER TABLE management_tokens ADD COLUMN project_ids  TEXT NOT NULL DEFAULT ''; -- separated by spaces
ALTER TABLE management_tokens ADD COLUMN expires_at   BIGINT; -- NULL for never
ALTER TABLE management_tokens ADD COLUMN last_used_at BIGINT; -- to the minute
