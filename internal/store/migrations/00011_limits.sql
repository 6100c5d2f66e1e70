-- +goose Up
-- Whether a host let the participant in, or the link is for one person. Such a seat is not given
-- to a host who finds the room full, and its row stays although nobody has connected yet.
ALTER TABLE seats ADD COLUMN invited BOOLEAN NOT NULL DEFAULT FALSE;

-- The address prefix of the visitor, so that one network cannot take all places of a waiting
-- room. It is deleted with the knock.
ALTER TABLE knocks ADD COLUMN network TEXT NOT NULL DEFAULT '';
