-- parley: contract
-- +goose Up
-- Blocks of calls of all APIs. A program that does not know this column would list the calls
-- of other versions as those of version 5.
ALTER TABLE calls ADD COLUMN api TEXT NOT NULL DEFAULT 'v5';
CREATE INDEX calls_api ON calls (project_id, api, n);

-- Refused calls that named no project, by day, cause and address.
CREATE TABLE rejected_calls (
    day     BIGINT NOT NULL, -- start in UTC
    api     TEXT NOT NULL,
    cause   TEXT NOT NULL,
    address TEXT NOT NULL,   -- IPv4 address or IPv6 /64; '' for those beyond a limit
    calls   BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (day, api, cause, address)
);
CREATE INDEX rejected_calls_last ON rejected_calls (last_at, day, api, cause, address);
