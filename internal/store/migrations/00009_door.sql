-- +goose Up
-- The waiting room: visitors who wait, and those whom a host denied recently. A row is deleted
-- when it has expired.
CREATE TABLE knocks (
    id          TEXT PRIMARY KEY, -- becomes the ID of the visitor's seat
    room_id     TEXT NOT NULL REFERENCES rooms (id),
    key_hash    TEXT NOT NULL,    -- of the seat key, which identifies the browser
    name        TEXT NOT NULL,
    turned_away BOOLEAN NOT NULL,
    created_at  BIGINT NOT NULL,
    kept_until  BIGINT NOT NULL,
    UNIQUE (room_id, key_hash)
);
CREATE INDEX knocks_kept_until ON knocks (kept_until);

-- The seat of the host or co-host who created the link in the room; '' for links of the API.
ALTER TABLE links ADD COLUMN made_by TEXT NOT NULL DEFAULT '';
