-- +goose Up
-- PostgreSQL checks a reference row by row and locks what it names: each room
-- its project, which all rooms of all nodes share, and each event its room. The
-- statements that add them look both up themselves, and nothing ever deletes
-- either.
ALTER TABLE rooms DROP CONSTRAINT rooms_project_id_fkey;
ALTER TABLE events DROP CONSTRAINT events_room_id_fkey;
