-- +goose Up
-- Rooms with a start time, with the fields of version 4, and the results of requests, which a
-- repeated request gets again.

ALTER TABLE rooms ADD COLUMN start_at BIGINT; -- NULL for a quick room
ALTER TABLE rooms ADD COLUMN external_user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE rooms ADD COLUMN logout_url TEXT NOT NULL DEFAULT '';
ALTER TABLE rooms ADD COLUMN webhook_url TEXT NOT NULL DEFAULT '';
ALTER TABLE rooms ADD COLUMN breakout_rooms BIGINT NOT NULL DEFAULT 0;

-- The ID is a hash of the request. The result is sealed because it may contain a link.
CREATE TABLE answers (
    id          TEXT PRIMARY KEY,
    body_hash   TEXT NOT NULL,
    sealed_text TEXT NOT NULL, -- '' if a repeated request is refused
    expires_at  BIGINT NOT NULL
);
CREATE INDEX answers_expiry ON answers (expires_at);
