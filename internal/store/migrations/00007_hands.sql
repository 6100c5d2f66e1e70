-- +goose Up
-- Raised hands, in order: each that goes up takes the next number; 0 is down.
ALTER TABLE seats ADD COLUMN hand BIGINT NOT NULL DEFAULT 0;
CREATE INDEX seats_hand ON seats (room_id, hand) WHERE hand > 0;
