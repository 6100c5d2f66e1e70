-- parley: expand
-- +goose Up
-- Accepted and rejected calls are in blocks of their own, so that rejected calls are kept for longer. Blocks of
-- earlier releases have both and count as rejected. The indexes have the column accepted, so that SQLite prefers them
-- to those of all blocks.
ALTER TABLE request_log ADD COLUMN accepted BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX request_log_rejected ON request_log (project_id, accepted, n) WHERE NOT accepted;
CREATE INDEX request_log_rejected_api ON request_log (project_id, api, accepted, n) WHERE NOT accepted;
