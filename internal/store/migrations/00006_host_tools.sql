-- +goose Up
-- Decisions of hosts about participants.

ALTER TABLE seats ADD COLUMN removed_at BIGINT;                       -- when a host removed the participant; NULL if they may join
ALTER TABLE seats ADD COLUMN demoted BOOLEAN NOT NULL DEFAULT FALSE;  -- a host removed the co-host role, and no link grants it again
