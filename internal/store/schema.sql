-- The schema of the database after all migrations, without its CHECK constraints and triggers.
-- A test compares it with a migrated SQLite database; PostgreSQL has the same tables. Migrations
-- change the database, and this file describes it.
--
-- IDs are UUIDv7, so that they are in the order of time. Times are Unix milliseconds. Secrets are
-- sealed with the master key, or stored as hashes.

-- What the client of the ACME authority stores for all nodes: certificates with their keys, accounts
-- and challenges.
CREATE TABLE acme_files (
    path TEXT, -- with slashes, as the client chooses it
    sealed_value TEXT NOT NULL,
    modified_at BIGINT NOT NULL,
    PRIMARY KEY (path)
);

-- Locks of that client, so that one node at a time obtains a certificate.
CREATE TABLE acme_locks (
    name TEXT,
    holder TEXT NOT NULL, -- a random text for each acquisition
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (name)
);

-- API keys with their Gateway secrets. A project has one current key and, during a rotation, one
-- overlap key.
CREATE TABLE api_keys (
    id TEXT,
    project_id TEXT NOT NULL,
    slot TEXT NOT NULL, -- current, overlap or retired
    key_hash TEXT NOT NULL,
    sealed_key TEXT NOT NULL,
    sealed_gateway_secret TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    retiring_since BIGINT,
    overlap_ends_at BIGINT,
    retired_at BIGINT,
    notice_at BIGINT, -- when to tell the integrator that the overlap ends soon; NULL after that
    PRIMARY KEY (id),
    UNIQUE (key_hash),
    FOREIGN KEY (project_id) REFERENCES projects
);
CREATE UNIQUE INDEX api_keys_one_current ON api_keys (project_id) WHERE slot = 'current';
CREATE UNIQUE INDEX api_keys_one_overlap ON api_keys (project_id) WHERE slot = 'overlap';
CREATE INDEX api_keys_project ON api_keys (project_id);
CREATE INDEX api_keys_retired ON api_keys (retired_at) WHERE slot = 'retired';

-- The connections of participants: who was in which session, and when.
CREATE TABLE attendance (
    id TEXT,
    room_id TEXT NOT NULL,
    session BIGINT NOT NULL, -- number of the session in the room
    seat_id TEXT NOT NULL,
    connection TEXT NOT NULL, -- the media engine's ID of the connection
    joined_at BIGINT NOT NULL,
    left_at BIGINT,
    reason TEXT NOT NULL, -- why it ended; empty until then
    hidden BOOLEAN NOT NULL DEFAULT FALSE, -- does not count in usage
    node TEXT NOT NULL DEFAULT '', -- that recorded the row, because it hosts the session
    project_id TEXT NOT NULL DEFAULT '', -- that of the room, so that usage is found by project and time
    room_type TEXT NOT NULL DEFAULT '',
    connection_type TEXT NOT NULL DEFAULT '', -- udp, tcp or turn; '' if unknown
    quality TEXT NOT NULL DEFAULT '', -- at the last check: excellent, good, poor or lost; '' if unknown
    poor_millis BIGINT NOT NULL DEFAULT 0, -- for how long it was poor or lost
    PRIMARY KEY (id),
    UNIQUE (seat_id, connection),
    FOREIGN KEY (seat_id) REFERENCES seats
);
CREATE INDEX attendance_node ON attendance (node) WHERE left_at IS NULL;
CREATE INDEX attendance_present ON attendance (room_id) WHERE left_at IS NULL;
CREATE INDEX attendance_project_joined ON attendance (project_id, joined_at);
CREATE INDEX attendance_project_left ON attendance (project_id, left_at) WHERE left_at IS NOT NULL;

-- Changes of the installation by operators and by the service. The rows form a hash chain.
CREATE TABLE audit (
    n BIGINT, -- from 1, without gaps
    at BIGINT NOT NULL,
    actor_kind TEXT NOT NULL, -- token, user, link, local or service
    actor_id TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    request_id TEXT NOT NULL,
    address TEXT NOT NULL,
    node TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    project_id TEXT NOT NULL, -- empty unless the change is about a project
    before TEXT NOT NULL, -- JSON object
    after TEXT NOT NULL, -- JSON object
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (n)
);
CREATE INDEX audit_at ON audit (at, n);
CREATE INDEX audit_project ON audit (project_id, n);

-- The ends of the hash chain, in one row. A transaction locks the row before it adds an entry.
CREATE TABLE audit_chain (
    id TEXT,
    n BIGINT NOT NULL, -- of the last entry
    hash TEXT NOT NULL,
    pruned_n BIGINT NOT NULL, -- of the last entry that retention deleted
    pruned_hash TEXT NOT NULL,
    PRIMARY KEY (id)
);

-- Breakout rooms. Each has a session of its own in the room.
CREATE TABLE breakouts (
    room_id TEXT NOT NULL,
    n BIGINT NOT NULL, -- never used twice in a room
    name TEXT NOT NULL,
    session BIGINT NOT NULL, -- number of its session
    opened_at BIGINT NOT NULL,
    closed_at BIGINT,
    PRIMARY KEY (room_id, n),
    FOREIGN KEY (room_id) REFERENCES rooms
);

-- Recorded API calls by the five minutes in which they ended, for two hours. The rows without a
-- project are the sums of all projects.
CREATE TABLE call_totals (
    project_id TEXT NOT NULL,
    at BIGINT NOT NULL, -- start of the five minutes
    accepted BIGINT NOT NULL,
    rejected BIGINT NOT NULL,
    PRIMARY KEY (project_id, at)
);
CREATE INDEX call_totals_at ON call_totals (at);

-- All client_room_ids that were ever used. They stay unique after their room was deleted.
CREATE TABLE client_room_ids (
    project_id TEXT NOT NULL,
    client_room_id TEXT NOT NULL
);
CREATE UNIQUE INDEX client_room_ids_project ON client_room_ids (project_id, client_room_id);

CREATE TABLE connection_checks (
    id TEXT,
    code_hash TEXT NOT NULL,
    key_hash TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    paths TEXT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (code_hash),
    UNIQUE (key_hash)
);

-- Sessions of the console. A session has the rights of a token, of a user or of a link.
CREATE TABLE console_sessions (
    id TEXT,
    secret_hash TEXT, -- NULL before its link is opened
    code_hash TEXT, -- of the link; NULL after it was opened, or without a link
    token_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    project_ids TEXT NOT NULL, -- separated by spaces
    created_at BIGINT NOT NULL,
    open_by BIGINT, -- NULL without a link
    expires_at BIGINT NOT NULL,
    last_used_at BIGINT, -- to the minute; NULL before its link is opened
    ended_at BIGINT,
    PRIMARY KEY (id),
    UNIQUE (secret_hash),
    UNIQUE (code_hash)
);
CREATE INDEX console_sessions_expires ON console_sessions (expires_at);
CREATE INDEX console_sessions_live ON console_sessions (token_id, user_id, id) WHERE ended_at IS NULL;

-- People who may sign in to the console.
CREATE TABLE console_users (
    id TEXT,
    email TEXT NOT NULL, -- in lower case
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    project_ids TEXT NOT NULL, -- separated by spaces
    subject TEXT, -- issuer and subject of the OpenID account; NULL before the first sign-in
    created_at BIGINT NOT NULL,
    last_sign_in_at BIGINT,
    PRIMARY KEY (id),
    UNIQUE (email),
    UNIQUE (subject)
);

-- Counts that several nodes add to: the calls of an organization in a day, the calls with a key in a
-- slot, what the deletion of a project has deleted, and the rooms that sweeps have erased or deleted
-- without an entry in the audit log yet. Also the number of the last batch of counts of each process.
CREATE TABLE counts (
    subject TEXT NOT NULL,
    period TEXT NOT NULL,
    n BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (subject, period)
);

-- What a project has used of the quotas of its plan, on the last day on which it used one.
CREATE TABLE daily_quotas (
    project_id TEXT NOT NULL,
    subject TEXT NOT NULL, -- such as rooms
    day BIGINT NOT NULL, -- since 1970, in UTC
    used BIGINT NOT NULL,
    PRIMARY KEY (project_id, subject),
    FOREIGN KEY (project_id) REFERENCES projects
);

-- The events of rooms, numbered without gaps within their room.
CREATE TABLE events (
    id TEXT NOT NULL,
    project_id TEXT NOT NULL, -- empty in new rows: that of the room
    room_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    type TEXT NOT NULL,
    at BIGINT NOT NULL,
    data TEXT NOT NULL, -- JSON, without what the room and the person say (see eventdata.go)
    UNIQUE (room_id, sequence),
    FOREIGN KEY (room_id) REFERENCES rooms
);
CREATE INDEX events_over ON events (at) WHERE type IN ('room.ended', 'room.cancelled', 'room.expired');

-- What hosts and co-hosts did in a room, and who was removed through the management API.
CREATE TABLE host_actions (
    room_id TEXT NOT NULL,
    n BIGINT NOT NULL,
    sequence BIGINT NOT NULL, -- of the last event of the room before the action
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    by_seat TEXT NOT NULL, -- '' for the management API
    by_name TEXT NOT NULL,
    by_role TEXT NOT NULL,
    target_seat TEXT NOT NULL, -- '' if the action is not about one person
    target_name TEXT NOT NULL,
    target_role TEXT NOT NULL,
    details TEXT NOT NULL, -- JSON
    PRIMARY KEY (room_id, n),
    FOREIGN KEY (room_id) REFERENCES rooms ON DELETE CASCADE
);

-- Results of signed requests that take effect once. The ID is a hash of the project, the route and
-- the Idempotency-Key, or of the signature.
CREATE TABLE idempotency_records (
    id TEXT,
    body_hash TEXT NOT NULL,
    sealed_text TEXT NOT NULL, -- the result, sealed because it contains a link; '' if a repetition is refused
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at);

-- The latest caller with each credential of a project. Only earlier releases write to it.
CREATE TABLE key_callers (
    project_id TEXT NOT NULL,
    slot TEXT NOT NULL,
    at BIGINT NOT NULL,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    PRIMARY KEY (project_id, slot)
);

-- Visitors in waiting rooms: those who wait, and those whom a host denied recently.
CREATE TABLE knocks (
    id TEXT, -- becomes the ID of the visitor's seat
    room_id TEXT NOT NULL,
    key_hash TEXT NOT NULL, -- of the seat key of the browser
    name TEXT NOT NULL,
    denied BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    network TEXT NOT NULL DEFAULT '', -- address prefix, for the limit of one network
    PRIMARY KEY (id),
    UNIQUE (room_id, key_hash),
    FOREIGN KEY (room_id) REFERENCES rooms
);
CREATE INDEX knocks_expiry ON knocks (expires_at);

-- Links into rooms. The link of the creator is in the row of its room.
CREATE TABLE links (
    id TEXT,
    room_id TEXT NOT NULL,
    token_hash TEXT NOT NULL,
    role TEXT NOT NULL,
    single_use BOOLEAN NOT NULL, -- only the first browser that joins with it can use it
    name TEXT NOT NULL,
    user_id TEXT NOT NULL, -- ID of the person in the integrator's system; may be empty
    hidden BOOLEAN NOT NULL,
    redeemed_by TEXT NOT NULL, -- hash of the seat key that used it first; '' until then
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    created_by TEXT NOT NULL DEFAULT '', -- seat of the host or co-host who created it in the room; '' for the API
    PRIMARY KEY (id),
    UNIQUE (token_hash),
    FOREIGN KEY (room_id) REFERENCES rooms
);
CREATE INDEX links_created_in_room ON links (room_id, created_by) WHERE created_by <> '';
CREATE INDEX links_room ON links (room_id);
CREATE INDEX links_user ON links (user_id, room_id) WHERE user_id <> '';

-- Management tokens, as hashes.
CREATE TABLE management_tokens (
    id TEXT,
    name TEXT NOT NULL,
    token_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    role TEXT NOT NULL DEFAULT 'owner',
    project_ids TEXT NOT NULL DEFAULT '', -- separated by spaces; empty for all projects
    expires_at BIGINT, -- NULL for never
    last_used_at BIGINT, -- to the minute
    PRIMARY KEY (id),
    UNIQUE (token_hash)
);

-- Values of this installation by their name: its identity, the sealed secret of media tokens, and whether a compaction is
-- due.
CREATE TABLE metadata (
    name TEXT,
    value TEXT NOT NULL,
    PRIMARY KEY (name)
);

-- The processes that serve this database, with what they say in their heartbeats.
CREATE TABLE nodes (
    id TEXT,
    last_alive BIGINT NOT NULL,
    schema_version BIGINT NOT NULL DEFAULT 0, -- the newest migration that its program knows
    version TEXT NOT NULL DEFAULT '',
    started_at BIGINT,
    redis TEXT NOT NULL DEFAULT '', -- none, ok or unavailable
    drain_started_at BIGINT,
    drain_by BIGINT,
    relayed_people BIGINT NOT NULL DEFAULT 0,
    findings TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (id)
);

-- Customers of the operator.
CREATE TABLE organizations (
    id TEXT,
    name TEXT NOT NULL,
    billing TEXT NOT NULL, -- plan or payg
    created_at BIGINT NOT NULL,
    plan TEXT NOT NULL DEFAULT '', -- empty for the plan named default
    currency TEXT NOT NULL DEFAULT '',
    unit_price TEXT NOT NULL DEFAULT '', -- empty for none
    suspended_at BIGINT, -- its projects that it suspended have the same time
    PRIMARY KEY (id)
);

-- The events of rooms that are over, up to 200 in a row, without gaps. Those that came later are in events.
CREATE TABLE packed_events (
    room_id TEXT NOT NULL,
    first_sequence BIGINT NOT NULL,
    last_sequence BIGINT NOT NULL,
    events BYTEA NOT NULL, -- compressed, see packedevents.go
    PRIMARY KEY (room_id, last_sequence),
    FOREIGN KEY (room_id) REFERENCES rooms
);

-- The number of rooms that ended on a day is the sum of its rows. Triggers on rooms add a row for
-- each room that ends or is deleted; later they are merged into the row with an empty ID.
CREATE TABLE past_room_counts (
    project_id TEXT NOT NULL,
    day BIGINT NOT NULL, -- its start
    id TEXT NOT NULL, -- empty in the merged row
    rooms BIGINT NOT NULL, -- negative for rooms that were deleted
    PRIMARY KEY (project_id, day, id)
);
CREATE INDEX past_room_counts_merged ON past_room_counts (project_id, day, rooms) WHERE id = '';
CREATE INDEX past_room_counts_unmerged ON past_room_counts (id) WHERE id <> '';

-- The events of projects, numbered without gaps within their project.
CREATE TABLE project_events (
    id TEXT,
    project_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    type TEXT NOT NULL,
    at BIGINT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (project_id, sequence),
    FOREIGN KEY (project_id) REFERENCES projects
);

-- The logo of a project, at most one. SQLite has no type BYTEA and stores the bytes as they are.
CREATE TABLE project_logos (
    project_id TEXT,
    hash TEXT NOT NULL, -- SHA-256 of the image, in hex
    format TEXT NOT NULL, -- png, jpeg or webp
    width BIGINT NOT NULL,
    height BIGINT NOT NULL,
    image BYTEA NOT NULL,
    PRIMARY KEY (project_id),
    FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX project_logos_by_hash ON project_logos (hash);

-- Project secrets. A project has one current secret and, during a rotation, one overlap secret.
CREATE TABLE project_secrets (
    id TEXT,
    project_id TEXT NOT NULL,
    slot TEXT NOT NULL, -- current, overlap or retired
    sealed_secret TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    retiring_since BIGINT,
    overlap_ends_at BIGINT,
    retired_at BIGINT,
    notice_at BIGINT, -- when to tell the integrator that the overlap ends soon; NULL after that
    PRIMARY KEY (id),
    FOREIGN KEY (project_id) REFERENCES projects
);
CREATE UNIQUE INDEX project_secrets_one_current ON project_secrets (project_id) WHERE slot = 'current';
CREATE UNIQUE INDEX project_secrets_one_overlap ON project_secrets (project_id) WHERE slot = 'overlap';
CREATE INDEX project_secrets_project ON project_secrets (project_id);
CREATE INDEX project_secrets_retired ON project_secrets (retired_at) WHERE slot = 'retired';

-- Projects of organizations.
CREATE TABLE projects (
    id TEXT,
    organization_id TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL, -- active or inactive
    suspended_at BIGINT,
    settings TEXT NOT NULL, -- JSON
    created_at BIGINT NOT NULL,
    deleted_at BIGINT, -- set while the project is being deleted
    test BOOLEAN NOT NULL DEFAULT FALSE, -- costs nothing; not part of the usage of the organization
    PRIMARY KEY (id),
    FOREIGN KEY (organization_id) REFERENCES organizations
);
CREATE INDEX projects_of_organization ON projects (organization_id, id);

-- The recent callers with each credential of a project.
CREATE TABLE recent_key_callers (
    project_id TEXT NOT NULL,
    slot TEXT NOT NULL, -- of the credential at the time of the call
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    at BIGINT NOT NULL, -- of the latest call
    PRIMARY KEY (project_id, slot, address, user_agent)
);

-- Rejected API calls that named no project, by day, cause and address.
CREATE TABLE rejected_calls (
    day BIGINT NOT NULL, -- start in UTC
    api TEXT NOT NULL,
    cause TEXT NOT NULL,
    address TEXT NOT NULL, -- IPv4 address or IPv6 /64; '' for those beyond a limit
    calls BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (day, api, cause, address)
);
CREATE INDEX rejected_calls_last ON rejected_calls (last_at, day, api, cause, address);

-- The recorded API calls, in blocks, because a row for each call would cost more than the call. The
-- number of a call is its time in Unix nanoseconds, made unique.
CREATE TABLE request_log (
    project_id TEXT NOT NULL,
    n BIGINT NOT NULL, -- of the last call in the block
    first_n BIGINT NOT NULL,
    size BIGINT NOT NULL, -- number of calls
    calls TEXT NOT NULL, -- JSON
    api TEXT NOT NULL DEFAULT 'v5',
    accepted BOOLEAN NOT NULL DEFAULT FALSE, -- whether no call in the block was rejected
    PRIMARY KEY (project_id, n)
);
CREATE INDEX request_log_api ON request_log (project_id, api, n);
CREATE INDEX request_log_n ON request_log (n, project_id);
CREATE INDEX request_log_rejected ON request_log (project_id, accepted, n) WHERE NOT accepted;
CREATE INDEX request_log_rejected_api ON request_log (project_id, api, accepted, n) WHERE NOT accepted;

-- Rooms with their settings and their state.
CREATE TABLE rooms (
    id TEXT,
    project_id TEXT NOT NULL,
    client_room_id TEXT,
    type TEXT NOT NULL, -- video or audio
    state TEXT NOT NULL, -- scheduled, open, active, ended, cancelled or expired
    end_reason TEXT NOT NULL,
    title TEXT NOT NULL,
    welcome_message TEXT NOT NULL,
    creator_name TEXT NOT NULL,
    max_participants BIGINT NOT NULL,
    empty_timeout BIGINT NOT NULL, -- seconds
    duration BIGINT NOT NULL, -- seconds from the first join
    creator_link_hash TEXT NOT NULL,
    creator_link_redeemed_by TEXT NOT NULL, -- hash of the seat key that used it first; '' until then
    session BIGINT NOT NULL, -- number of the latest session of the room itself; 0 before the first
    session_live BOOLEAN NOT NULL,
    event_sequence BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    opened_at BIGINT,
    started_at BIGINT, -- first join
    empty_since BIGINT, -- last leave, while nobody is in the room
    ended_at BIGINT,
    due_at BIGINT, -- when the next change of the state is due
    start_at BIGINT, -- NULL for a quick room
    external_user_id TEXT NOT NULL DEFAULT '',
    logout_url TEXT NOT NULL DEFAULT '',
    webhook_url TEXT NOT NULL DEFAULT '',
    breakout_rooms BIGINT NOT NULL DEFAULT 0,
    features TEXT NOT NULL DEFAULT 'camera screen_share chat', -- names, separated by spaces
    locks TEXT NOT NULL DEFAULT '', -- names, separated by spaces
    last_session BIGINT NOT NULL DEFAULT 0, -- highest number of a session, those of breakout rooms included
    people_erased_at BIGINT, -- when the names and IDs of people were deleted
    PRIMARY KEY (id),
    FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX rooms_client_room_id ON rooms (client_room_id) WHERE client_room_id IS NOT NULL;
CREATE INDEX rooms_created ON rooms (project_id, created_at);
CREATE INDEX rooms_due ON rooms (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX rooms_external_user ON rooms (project_id, external_user_id, id) WHERE external_user_id <> '';
CREATE INDEX rooms_over ON rooms (project_id, ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX rooms_over_project_state ON rooms (project_id, state, created_at) WHERE ended_at IS NOT NULL;
CREATE INDEX rooms_over_state ON rooms (state, id) WHERE ended_at IS NOT NULL;
CREATE INDEX rooms_with_people ON rooms (project_id, ended_at) WHERE ended_at IS NOT NULL AND people_erased_at IS NULL;

-- The migrations that have contracted the schema, so that an earlier program knows that it cannot
-- use the database.
CREATE TABLE schema_contractions (
    version BIGINT,
    PRIMARY KEY (version)
);

-- The right of one participant to be in a room. The ID is the identity of the participant.
CREATE TABLE seats (
    id TEXT,
    room_id TEXT NOT NULL,
    key_hash TEXT NOT NULL, -- of the seat key of the browser
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    state TEXT NOT NULL, -- reserved, joined or free
    connection TEXT NOT NULL, -- the media engine's ID of the latest connection
    held_until BIGINT, -- until when it is held for a connection
    created_at BIGINT NOT NULL,
    user_id TEXT NOT NULL DEFAULT '', -- ID of the person in the integrator's system; may be empty
    hidden BOOLEAN NOT NULL DEFAULT FALSE,
    breakout BIGINT NOT NULL DEFAULT 0, -- breakout room that the participant is assigned to; 0 for the room itself
    removed_at BIGINT, -- when a host removed the participant
    demoted BOOLEAN NOT NULL DEFAULT FALSE, -- no link makes the participant a co-host again
    hand_order BIGINT NOT NULL DEFAULT 0, -- position among the raised hands; 0 while the hand is down
    invited BOOLEAN NOT NULL DEFAULT FALSE, -- a host let the participant in, or the link is for one person
    rating TEXT NOT NULL DEFAULT '', -- of the meeting: good or bad; '' before that
    network TEXT NOT NULL DEFAULT '', -- address prefix that reserved the seat of an anonymous guest, until its first connection
    promoted_by TEXT NOT NULL DEFAULT '', -- seat of the co-host who gave the co-host role
    PRIMARY KEY (id),
    UNIQUE (room_id, key_hash),
    FOREIGN KEY (room_id) REFERENCES rooms
);
CREATE INDEX seats_hand ON seats (room_id, hand_order) WHERE hand_order > 0;
CREATE INDEX seats_promoted ON seats (room_id, promoted_by) WHERE promoted_by <> '';
CREATE INDEX seats_taken ON seats (room_id) WHERE state <> 'free';
CREATE UNIQUE INDEX seats_user ON seats (user_id, room_id) WHERE user_id <> '';

-- The periods in which a room, or one of its breakout rooms, is live in the media engine. The name
-- of a session there is <room_id>.<n>.
CREATE TABLE sessions (
    room_id TEXT NOT NULL,
    n BIGINT NOT NULL,
    state TEXT NOT NULL, -- live, closing or closed
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    breakout BIGINT NOT NULL DEFAULT 0, -- number of the breakout room; 0 for the room itself
    project_id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (room_id, n),
    FOREIGN KEY (room_id) REFERENCES rooms
);
CREATE INDEX sessions_project ON sessions (project_id, started_at);
CREATE INDEX sessions_unclosed ON sessions (state) WHERE state <> 'closed';

-- The hours of a day, folded into one row. The columns are those of usage_hours.
CREATE TABLE usage_days (
    organization_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    day BIGINT NOT NULL, -- its start
    audio_change BIGINT NOT NULL,
    video_change BIGINT NOT NULL,
    audio_millis BIGINT NOT NULL,
    video_millis BIGINT NOT NULL,
    rise BIGINT NOT NULL,
    rooms BIGINT NOT NULL,
    sessions BIGINT NOT NULL,
    PRIMARY KEY (organization_id, project_id, day)
);

-- The usage of one hour. The rows without a project are those of the whole organization. Times are
-- relative to the connections at the start of the hour (see package usage).
CREATE TABLE usage_hours (
    organization_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    hour BIGINT NOT NULL, -- its start
    audio_base BIGINT NOT NULL,
    video_base BIGINT NOT NULL,
    audio_change BIGINT NOT NULL,
    video_change BIGINT NOT NULL,
    audio_millis BIGINT NOT NULL,
    video_millis BIGINT NOT NULL,
    rise BIGINT NOT NULL,
    rooms BIGINT NOT NULL,
    sessions BIGINT NOT NULL,
    PRIMARY KEY (organization_id, project_id, hour)
);

-- Hours whose attendance changed after they may have been rolled up. Rows are never shared, so that
-- a report that arrives during a rollup stays for the next one.
CREATE TABLE usage_late_reports (
    id TEXT,
    organization_id TEXT NOT NULL,
    hour BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX usage_late_reports_organization ON usage_late_reports (organization_id, hour);

-- How far the usage of an organization is rolled up.
CREATE TABLE usage_progress (
    organization_id TEXT,
    rolled_up_until BIGINT NOT NULL,
    version BIGINT NOT NULL, -- of the rollups; grows by one with each
    days_until BIGINT, -- earlier days are folded into usage_days
    days_version BIGINT NOT NULL DEFAULT 0, -- the version for which usage_days is valid
    PRIMARY KEY (organization_id)
);

-- Attempts to deliver an event.
CREATE TABLE webhook_attempts (
    delivery_id TEXT NOT NULL,
    n BIGINT NOT NULL,
    at BIGINT NOT NULL,
    duration BIGINT NOT NULL, -- milliseconds
    status BIGINT NOT NULL, -- 0 without a response
    error TEXT NOT NULL,
    response_body TEXT NOT NULL, -- its first kilobyte
    PRIMARY KEY (delivery_id, n),
    FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries ON DELETE CASCADE
);

-- Events on their way to a URL, and those that were delivered or failed.
CREATE TABLE webhook_deliveries (
    id TEXT,
    stream_id TEXT NOT NULL,
    position BIGINT NOT NULL, -- in its stream
    event_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    room_id TEXT NOT NULL,
    url TEXT NOT NULL,
    type TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    previous BIGINT NOT NULL,
    body TEXT NOT NULL,
    replay BOOLEAN NOT NULL,
    state TEXT NOT NULL, -- pending, delivered, failed or gone
    attempts BIGINT NOT NULL, -- made so far
    step BIGINT NOT NULL, -- in the schedule of retries; probes of a paused target do not count
    created_at BIGINT NOT NULL,
    done_at BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (stream_id, position) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_project ON webhook_deliveries (project_id, id);
CREATE INDEX webhook_deliveries_project_state ON webhook_deliveries (project_id, state, id) WHERE state <> 'pending';
CREATE INDEX webhook_deliveries_room ON webhook_deliveries (room_id, id);
CREATE INDEX webhook_deliveries_state ON webhook_deliveries (state, id) WHERE state <> 'pending';

-- The deliveries of one room, or of the project itself, to one URL, which go out one after another.
-- A node leases a stream and not a delivery.
CREATE TABLE webhook_streams (
    id TEXT,
    project_id TEXT NOT NULL,
    room_id TEXT NOT NULL, -- '' for the project itself
    url TEXT NOT NULL,
    replay TEXT NOT NULL, -- ID of the replay; '' for new events
    bucket TEXT NOT NULL, -- project and host, which share a limit
    enqueued BIGINT NOT NULL, -- number of deliveries that there ever were
    last_sequence BIGINT NOT NULL, -- of the last event for the URL
    due_at BIGINT, -- when its first delivery is due, or when the lease ends; NULL with nothing to deliver
    lease_id TEXT NOT NULL, -- of the node that delivers; '' for none
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (project_id, room_id, url, replay),
    FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX webhook_streams_due ON webhook_streams (bucket, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_streams_updated ON webhook_streams (updated_at);

-- URLs whose deliveries fail, or that an operator paused. A URL that works has no row.
CREATE TABLE webhook_targets (
    project_id TEXT NOT NULL,
    url TEXT NOT NULL,
    failures BIGINT NOT NULL, -- in a row
    failing_since BIGINT NOT NULL,
    paused_at BIGINT,
    probe_at BIGINT, -- when a paused target is tried again; NULL if only an operator resumes it
    notice TEXT NOT NULL, -- why it is paused
    PRIMARY KEY (project_id, url),
    FOREIGN KEY (project_id) REFERENCES projects
);
