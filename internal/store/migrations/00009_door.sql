-- +goose Up
-- The waiting room. Who knocks and waits, or was turned away a moment ago; a
-- row is forgotten when its time is over.
CREATE TABLE knocks (
    id          TEXT PRIMARY KEY, -- becomes the id of their seat
    room_id     TEXT NOT NULL REFERENCES rooms (id),
    key_hash    TEXT NOT NULL,    -- recognises who asks again
    name        TEXT NOT NULL,
    turned_away BOOLEAN NOT NULL,
    created_at  BIGINT NOT NULL,
    kept_until  BIGINT NOT NULL,
    UNIQUE (room_id, key_hash)
);
CREATE INDEX knocks_kept_until ON knocks (kept_until);

-- The seat of the host or co-host who made the link in the room, '' for those
-- that came from elsewhere.
ALTER TABLE links ADD COLUMN made_by TEXT NOT NULL DEFAULT '';
