-- parley: expand
-- +goose Up
-- How many people in sessions of other nodes a node relays by TURN. A node that is draining ends that, too.
ALTER TABLE nodes ADD COLUMN relayed_people BIGINT NOT NULL DEFAULT 0;
