-- +goose Up
-- Whether somebody stands for a seat's holder: a host let them in, or their
-- link is for one person. Such a seat is not given to a host who finds the room
-- full, and its row stays although nobody has sat in it yet.
ALTER TABLE seats ADD COLUMN invited BOOLEAN NOT NULL DEFAULT FALSE;

-- From which network somebody knocks, so that one network cannot take all
-- places of a waiting room. It is deleted with the knock.
ALTER TABLE knocks ADD COLUMN network TEXT NOT NULL DEFAULT '';
