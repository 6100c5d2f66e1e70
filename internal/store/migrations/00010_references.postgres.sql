-- +goose Up
-- PostgreSQL checks a reference row by row and locks the row that it names: each room locks its
-- project, which all rooms of all nodes share, and each event locks its room. The statements that
-- insert rooms and events check both themselves.
ALTER TABLE rooms DROP CONSTRAINT rooms_project_id_fkey;
ALTER TABLE events DROP CONSTRAINT events_room_id_fkey;
