-- parley: expand
-- +goose Up
-- The merged counts without the gaps that merged rows leave in the primary key.
CREATE INDEX past_room_counts_merged ON past_room_counts (project_id, day, rooms) WHERE id = '';
