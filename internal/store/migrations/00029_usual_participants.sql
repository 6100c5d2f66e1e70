-- parley: contract
-- +goose Up
-- The schema stays as it is, but from here on the data of new events leaves out the usual role
-- and session of a participant (see package store). A program that does not know this would read
-- them without a role and a session.
SELECT 1;
