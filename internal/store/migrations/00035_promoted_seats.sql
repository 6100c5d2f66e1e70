-- parley: expand
-- +goose Up
-- A co-host whose role is taken back, or who is removed, takes along those whom that co-host made
-- co-hosts.
ALTER TABLE seats ADD COLUMN promoted_by TEXT NOT NULL DEFAULT '';
CREATE INDEX seats_promoted ON seats (room_id, promoted_by) WHERE promoted_by <> '';
