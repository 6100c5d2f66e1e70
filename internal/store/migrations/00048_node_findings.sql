-- parley: expand
-- +goose Up
-- What is wrong with a node, as it found itself. The other nodes show it, because the operator asks any of them.
ALTER TABLE nodes ADD COLUMN findings TEXT NOT NULL DEFAULT '';
