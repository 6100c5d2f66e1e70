-- +goose Up
-- Events are only ever read room by room, and the room has its project: they
-- need no key but that of room and number, and no second check of the project,
-- which took PostgreSQL as long as to write the event.
ALTER TABLE events DROP CONSTRAINT events_pkey;
ALTER TABLE events DROP CONSTRAINT events_project_id_fkey;
