-- parley: expand
-- +goose Up
-- A co-host whose role is taken back takes along those who got it through their links.
CREATE INDEX links_made_in_room ON links (room_id, made_by) WHERE made_by <> '';
