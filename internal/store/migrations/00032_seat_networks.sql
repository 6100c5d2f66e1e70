-- parley: expand
-- +goose Up
-- The address prefix that reserved a seat, until its first connection. In a full room, seats that
-- one network reserved and does not use give way to visitors from others.
ALTER TABLE seats ADD COLUMN network TEXT NOT NULL DEFAULT '';
