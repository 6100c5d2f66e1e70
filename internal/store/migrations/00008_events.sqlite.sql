-- +goose Up
-- Events are only read for one room, and the room has its project, so that they need no key
-- other than room and number, and no second check of the project.
CREATE TABLE events_by_room (
    id         TEXT NOT NULL,
    project_id TEXT NOT NULL,
    room_id    TEXT NOT NULL REFERENCES rooms (id),
    sequence   BIGINT NOT NULL,
    type       TEXT NOT NULL,
    at         BIGINT NOT NULL,
    data       TEXT NOT NULL,
    UNIQUE (room_id, sequence)
);
INSERT INTO events_by_room (id, project_id, room_id, sequence, type, at, data)
    SELECT id, project_id, room_id, sequence, type, at, data FROM events ORDER BY room_id, sequence;
DROP TABLE events;
ALTER TABLE events_by_room RENAME TO events;
