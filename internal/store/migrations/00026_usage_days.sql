-- parley: expand
-- +goose Up
-- The hours of a day, folded into one row, so that the usage of a month reads few rows. The
-- days before days_until are folded. This is valid only if days_version is the version of
-- the rollups: an earlier release rolls up hours and folds no days. Then the hours are read,
-- and the next rollup folds all days again.
CREATE TABLE usage_days (
    organization_id TEXT   NOT NULL,
    project_id      TEXT   NOT NULL, -- empty for the whole organization
    day             BIGINT NOT NULL, -- its start
    audio_change    BIGINT NOT NULL,
    video_change    BIGINT NOT NULL,
    audio_millis    BIGINT NOT NULL,
    video_millis    BIGINT NOT NULL,
    rise            BIGINT NOT NULL,
    rooms           BIGINT NOT NULL,
    sessions        BIGINT NOT NULL,
    PRIMARY KEY (organization_id, project_id, day)
);
ALTER TABLE usage_progress ADD COLUMN days_until BIGINT;
ALTER TABLE usage_progress ADD COLUMN days_version BIGINT NOT NULL DEFAULT 0;
