-- parley: expand
-- +goose Up
-- The service looks for retired credentials every minute, among those of all projects.
CREATE INDEX api_keys_retired ON api_keys (retired_at) WHERE slot = 'retired';
CREATE INDEX project_secrets_retired ON project_secrets (retired_at) WHERE slot = 'retired';
