-- +goose Up
-- Calls of version 5 in blocks: a row for each cost more than answering the
-- call. A call's number is its moment in nanoseconds, made unique; n is that
-- of the last in the block. What was noted before is given up: it was kept for
-- days only.
DROP TABLE calls;
CREATE TABLE calls (
    project_id TEXT NOT NULL,
    n          BIGINT NOT NULL,
    first_n    BIGINT NOT NULL,
    size       BIGINT NOT NULL,
    calls      TEXT NOT NULL, -- JSON
    PRIMARY KEY (project_id, n)
);
