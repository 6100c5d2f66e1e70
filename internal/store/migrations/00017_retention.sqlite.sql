-- parley: contract
-- +goose Up
-- Retention and erasure: rooms and people can be deleted, each at the cost of what is
-- deleted.

-- The check of this reference read all attendance for each room that was deleted.
CREATE TABLE attendance_of_seats (
    id         TEXT PRIMARY KEY,
    room_id    TEXT NOT NULL,
    session    BIGINT NOT NULL,
    seat_id    TEXT NOT NULL REFERENCES seats (id),
    connection TEXT NOT NULL,
    joined_at  BIGINT NOT NULL,
    left_at    BIGINT,
    reason     TEXT NOT NULL,
    hidden     BOOLEAN NOT NULL DEFAULT FALSE,
    node       TEXT NOT NULL DEFAULT '',
    project_id TEXT NOT NULL DEFAULT '',
    room_type  TEXT NOT NULL DEFAULT '',
    UNIQUE (seat_id, connection)
);
INSERT INTO attendance_of_seats (id, room_id, session, seat_id, connection, joined_at, left_at, reason, hidden, node,
        project_id, room_type)
    SELECT id, room_id, session, seat_id, connection, joined_at, left_at, reason, hidden, node, project_id, room_type
    FROM attendance;
DROP TABLE attendance;
ALTER TABLE attendance_of_seats RENAME TO attendance;
CREATE INDEX attendance_present ON attendance (room_id) WHERE left_at IS NULL;
CREATE INDEX attendance_node ON attendance (node) WHERE left_at IS NULL;
CREATE INDEX attendance_project_joined ON attendance (project_id, joined_at);
CREATE INDEX attendance_project_left ON attendance (project_id, left_at) WHERE left_at IS NOT NULL;

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
