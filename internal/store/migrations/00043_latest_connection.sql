-- parley: expand
-- +goose Up
-- A seat has its latest connection, so that a join finds it by the seat and the connection. An
-- earlier program reads all connections of the seat instead, by the same index.
DROP INDEX attendance_seat_joined;
