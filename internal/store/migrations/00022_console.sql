-- parley: expand
-- +goose Up
-- People who may sign in to the console, and their sessions.
CREATE TABLE console_users (
    id              TEXT PRIMARY KEY,
    email           TEXT NOT NULL UNIQUE, -- in lower case
    name            TEXT NOT NULL,
    role            TEXT NOT NULL,
    project_ids     TEXT NOT NULL,        -- separated by spaces
    subject         TEXT UNIQUE,          -- issuer and subject of the OpenID account; NULL before the first sign-in
    created_at      BIGINT NOT NULL,
    last_sign_in_at BIGINT
);

-- A session has the rights of a token, of a user, or its own, which those of a link are.
CREATE TABLE console_sessions (
    id           TEXT PRIMARY KEY,
    secret_hash  TEXT UNIQUE, -- NULL before its link is opened
    code_hash    TEXT UNIQUE, -- of the link; NULL after it was opened, or without a link
    token_id     TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    name         TEXT NOT NULL,
    role         TEXT NOT NULL,
    project_ids  TEXT NOT NULL, -- separated by spaces
    created_at   BIGINT NOT NULL,
    open_by      BIGINT,        -- NULL without a link
    expires_at   BIGINT NOT NULL,
    last_used_at BIGINT,        -- to the minute; NULL before its link is opened
    ended_at     BIGINT
);
CREATE INDEX console_sessions_expires ON console_sessions (expires_at);
