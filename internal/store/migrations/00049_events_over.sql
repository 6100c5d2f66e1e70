-- parley: expand
-- +goose Up
-- The rooms that are over and whose events are not packed yet. It is a migration of its own, so that nothing else is
-- locked while PostgreSQL reads all events.
CREATE INDEX events_over ON events (at) WHERE type IN ('room.ended', 'room.cancelled', 'room.expired');
