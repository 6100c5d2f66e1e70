-- +goose Up
-- Events are only read for one room, and the room has its project, so that they need no key
-- other than room and number, and no second check of the project, which took PostgreSQL as long
-- as the insertion of the event.
ALTER TABLE events DROP CONSTRAINT events_pkey;
ALTER TABLE events DROP CONSTRAINT events_project_id_fkey;
