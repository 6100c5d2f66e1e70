-- parley: expand
-- +goose Up
-- A join reads the latest connection of its seat, because attendance of a seat never overlaps.
CREATE INDEX attendance_seat_joined ON attendance (seat_id, joined_at);
