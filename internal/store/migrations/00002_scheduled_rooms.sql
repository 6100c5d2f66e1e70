-- +goose Up
-- Rooms with a start time and what version 4 says of them, and the answers
-- that are told again when a request comes again.

ALTER TABLE rooms ADD COLUMN start_at BIGINT; -- NULL for a quick room
ALTER TABLE rooms ADD COLUMN external_user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE rooms ADD COLUMN logout_url TEXT NOT NULL DEFAULT '';
ALTER TABLE rooms ADD COLUMN webhook_url TEXT NOT NULL DEFAULT '';
ALTER TABLE rooms ADD COLUMN breakout_rooms BIGINT NOT NULL DEFAULT 0;

-- The id is a hash of who asked what; an answer may hold a link, so it is sealed.
CREATE TABLE answers (
    id          TEXT PRIMARY KEY,
    body_hash   TEXT NOT NULL,
    sealed_text TEXT NOT NULL, -- '' where it is enough that the request was met
    expires_at  BIGINT NOT NULL
);
CREATE INDEX answers_expiry ON answers (expires_at);
