-- parley: contract
-- +goose Up
-- Retention and erasure: rooms and people can be deleted, each at the cost of what is
-- deleted.

-- The check of this reference read all attendance for each room that was deleted.
ALTER TABLE attendance DROP CONSTRAINT attendance_room_id_fkey;

-- A project that is being deleted, until its row is deleted too.
ALTER TABLE projects ADD COLUMN deleted_at BIGINT;
CREATE INDEX project_secrets_project ON project_secrets (project_id);

-- When the names and IDs of people were removed from a room; NULL while they are there.
ALTER TABLE rooms ADD COLUMN people_erased_at BIGINT;
CREATE INDEX rooms_with_people ON rooms (project_id, ended_at) WHERE ended_at IS NOT NULL AND people_erased_at IS NULL;

-- A person is found by the ID in the integrator's system.
DROP INDEX seats_user;
CREATE UNIQUE INDEX seats_user ON seats (user_id, room_id) WHERE user_id <> '';
CREATE INDEX links_user ON links (user_id, room_id) WHERE user_id <> '';
CREATE INDEX rooms_external_user ON rooms (project_id, external_user_id, id) WHERE external_user_id <> '';

-- All client_room_ids that were ever used. They are unique for ever, also after their
-- room was deleted.
CREATE TABLE client_room_ids (
    project_id     TEXT NOT NULL,
    client_room_id TEXT NOT NULL
);
CREATE UNIQUE INDEX client_room_ids_project ON client_room_ids (project_id, client_room_id);
INSERT INTO client_room_ids (project_id, client_room_id)
    SELECT project_id, client_room_id FROM rooms WHERE client_room_id IS NOT NULL;
DROP INDEX rooms_client_room_id;
