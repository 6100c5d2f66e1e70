-- parley: contract
-- +goose Up
-- The schema stays as it is, but from here on new events have an empty project_id, which their
-- room has, and compact data (see package store). A program that does not know this would read
-- them without their room, their session and the person.
SELECT 1;
