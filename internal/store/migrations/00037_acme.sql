-- parley: expand
-- +goose Up
-- What the ACME client stores: certificates with their keys, accounts, challenges.
CREATE TABLE acme_files (
    path         TEXT   PRIMARY KEY, -- with slashes, as the client chooses it
    sealed_value TEXT   NOT NULL,
    modified_at  BIGINT NOT NULL
);

-- Locks of the ACME client, so that one node at a time obtains a certificate.
CREATE TABLE acme_locks (
    name       TEXT   PRIMARY KEY,
    holder     TEXT   NOT NULL, -- a random text for each acquisition
    expires_at BIGINT NOT NULL
);
