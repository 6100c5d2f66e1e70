-- parley: expand
-- +goose Up
-- The events of rooms that are over, up to 200 in each row (see packedevents.go). A program that does not know this table
-- would miss them. So the first row is written later, when no such program runs, and then this migration counts as
-- contracting.
CREATE TABLE packed_events (
    room_id TEXT NOT NULL REFERENCES rooms (id),
    first_sequence BIGINT NOT NULL,
    last_sequence BIGINT NOT NULL,
    events BYTEA NOT NULL,
    PRIMARY KEY (room_id, last_sequence)
);
