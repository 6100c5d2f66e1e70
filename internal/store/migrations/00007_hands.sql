-- +goose Up
-- The position of a raised hand: each hand that is raised gets the next number; 0 means lowered.
ALTER TABLE seats ADD COLUMN hand BIGINT NOT NULL DEFAULT 0;
CREATE INDEX seats_hand ON seats (room_id, hand) WHERE hand > 0;
