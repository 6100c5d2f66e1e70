-- parley: expand
-- +goose Up
-- A node that is draining gives its sessions to other nodes, all by a time. NULL for a node that is not.
ALTER TABLE nodes ADD COLUMN drain_started_at BIGINT;
ALTER TABLE nodes ADD COLUMN drain_by BIGINT;
