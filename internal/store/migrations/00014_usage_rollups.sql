-- +goose Up
-- Usage is rolled up by hour, so that its cost does not grow with history. The
-- attendance and the sessions carry their project, so that the rest is found by
-- project and time.
ALTER TABLE attendance ADD COLUMN project_id TEXT NOT NULL DEFAULT '';
ALTER TABLE attendance ADD COLUMN room_type  TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions   ADD COLUMN project_id TEXT NOT NULL DEFAULT '';
UPDATE attendance SET project_id = (SELECT project_id FROM rooms WHERE id = room_id),
    room_type = (SELECT type FROM rooms WHERE id = room_id);
UPDATE sessions SET project_id = (SELECT project_id FROM rooms WHERE id = room_id);
DROP INDEX attendance_left;
DROP INDEX sessions_started;
CREATE INDEX attendance_project_joined ON attendance (project_id, joined_at);
CREATE INDEX attendance_project_left ON attendance (project_id, left_at) WHERE left_at IS NOT NULL;
CREATE INDEX sessions_project ON sessions (project_id, started_at);

-- The moves of one hour. project_id is empty for the whole organization. Times are
-- relative to the connections at the start of the hour (see package usage).
CREATE TABLE usage_hours (
    organization_id TEXT   NOT NULL,
    project_id      TEXT   NOT NULL,
    hour            BIGINT NOT NULL, -- its start
    audio_base      BIGINT NOT NULL,
    video_base      BIGINT NOT NULL,
    audio_change    BIGINT NOT NULL,
    video_change    BIGINT NOT NULL,
    audio_millis    BIGINT NOT NULL,
    video_millis    BIGINT NOT NULL,
    rise            BIGINT NOT NULL,
    rooms           BIGINT NOT NULL,
    sessions        BIGINT NOT NULL,
    PRIMARY KEY (organization_id, project_id, hour)
);

CREATE TABLE usage_progress (
    organization_id TEXT PRIMARY KEY,
    rolled_up_until BIGINT NOT NULL,
    version         BIGINT NOT NULL -- of the rollups; grows by one with each
);

-- Hours whose attendance changed after they may have been rolled up. Rows are never
-- shared: a report that arrives during a rollup stays for the next one.
CREATE TABLE usage_late_reports (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL,
    hour            BIGINT NOT NULL
);
CREATE INDEX usage_late_reports_organization ON usage_late_reports (organization_id, hour);
