-- +goose Up
-- Webhooks: deliveries, their attempts, and the URLs that fail.

-- The events of projects, numbered without gaps.
CREATE TABLE project_events (
    id         TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    sequence   BIGINT NOT NULL,
    type       TEXT NOT NULL,
    at         BIGINT NOT NULL,
    data       TEXT NOT NULL,
    UNIQUE (project_id, sequence)
);

-- The deliveries of one room, or of the project itself, to one URL, which go out one after
-- another. A node leases a stream, and not a delivery: due_at is when its first delivery is due,
-- or when the lease ends.
CREATE TABLE webhook_streams (
    id            TEXT PRIMARY KEY,
    project_id    TEXT NOT NULL REFERENCES projects (id),
    room_id       TEXT NOT NULL, -- '' for the project itself
    url           TEXT NOT NULL,
    replay        TEXT NOT NULL, -- ID of the replay, which goes out beside new events; '' for new events
    lane          TEXT NOT NULL, -- project and host, which share a limit
    enqueued      BIGINT NOT NULL, -- number of deliveries that there ever were
    last_sequence BIGINT NOT NULL, -- of the last event for the URL
    due_at        BIGINT,          -- NULL with nothing to deliver
    claim         TEXT NOT NULL,   -- the lease of the node that delivers; '' for none
    updated_at    BIGINT NOT NULL,
    UNIQUE (project_id, room_id, url, replay)
);
CREATE INDEX webhook_streams_due ON webhook_streams (lane, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_streams_updated ON webhook_streams (updated_at);

CREATE TABLE webhook_deliveries (
    id         TEXT PRIMARY KEY,
    stream_id  TEXT NOT NULL,
    position   BIGINT NOT NULL, -- in its stream
    event_id   TEXT NOT NULL,
    project_id TEXT NOT NULL REFERENCES projects (id),
    room_id    TEXT NOT NULL,
    url        TEXT NOT NULL,
    type       TEXT NOT NULL,
    sequence   BIGINT NOT NULL,
    previous   BIGINT NOT NULL,
    body       TEXT NOT NULL,
    replay     BOOLEAN NOT NULL,
    state      TEXT NOT NULL CHECK (state = 'pending' OR state = 'delivered' OR state = 'failed' OR state = 'gone'),
    attempts   BIGINT NOT NULL, -- made so far
    step       BIGINT NOT NULL, -- in the schedule of retries; probes of a paused target do not count
    created_at BIGINT NOT NULL,
    done_at    BIGINT
);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (stream_id, position) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_project ON webhook_deliveries (project_id, id);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);

CREATE TABLE webhook_attempts (
    delivery_id TEXT NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    n           BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    duration    BIGINT NOT NULL, -- milliseconds
    status      BIGINT NOT NULL, -- 0 without a response
    error       TEXT NOT NULL,
    answer      TEXT NOT NULL,   -- its first kilobyte
    PRIMARY KEY (delivery_id, n)
);

-- URLs whose deliveries fail. A URL that works has no row.
CREATE TABLE webhook_targets (
    project_id    TEXT NOT NULL REFERENCES projects (id),
    url           TEXT NOT NULL,
    failures      BIGINT NOT NULL, -- in a row
    failing_since BIGINT NOT NULL,
    paused_at     BIGINT,
    probe_at      BIGINT,          -- when a paused target is tried again; NULL if only an operator resumes it
    notice        TEXT NOT NULL,
    PRIMARY KEY (project_id, url)
);

-- When to tell the integrator that an overlap ends soon; NULL after that.
ALTER TABLE api_keys        ADD COLUMN notice_at BIGINT;
ALTER TABLE project_secrets ADD COLUMN notice_at BIGINT;
