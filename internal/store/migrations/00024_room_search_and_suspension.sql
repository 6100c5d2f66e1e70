-- parley: expand
-- +goose Up
-- Rooms are found by the ID that integrators gave them. An index that begins with the
-- project would tempt the engine to read all rooms of a project.
CREATE INDEX rooms_client_room_id ON rooms (client_room_id) WHERE client_room_id IS NOT NULL;

-- NULL unless the organization is suspended. Its projects are then suspended too, and
-- those that it suspended have the same time (see package project).
ALTER TABLE organizations ADD COLUMN suspended_at BIGINT;
