-- parley: expand
-- +goose Up
-- A request ID has the time of its call, and no project.
CREATE INDEX request_log_n ON request_log (n, project_id);
