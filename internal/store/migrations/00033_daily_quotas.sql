-- parley: expand
-- +goose Up
-- What a project has used of the quotas of its plan, on the last day on which it used one.
CREATE TABLE daily_quotas (
    project_id TEXT   NOT NULL REFERENCES projects (id),
    subject    TEXT   NOT NULL, -- such as rooms
    day        BIGINT NOT NULL, -- since 1970, in UTC
    used       BIGINT NOT NULL,
    PRIMARY KEY (project_id, subject)
);
