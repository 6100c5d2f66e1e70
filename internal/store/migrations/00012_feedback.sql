-- +goose Up
-- How the participant of a seat rated the meeting: good, bad, or empty before that.
ALTER TABLE seats ADD COLUMN rating TEXT NOT NULL DEFAULT '';
