-- parley: contract
-- +goose Up
-- Tables and columns get the names that the code uses. A program of an earlier release does not
-- know these names.
ALTER TABLE answers RENAME TO idempotency_records;
ALTER TABLE tallies RENAME TO counts;
ALTER TABLE facts RENAME TO metadata;
ALTER TABLE calls RENAME TO request_log;

ALTER TABLE rooms RENAME COLUMN creator_link_claim TO creator_link_redeemed_by;
ALTER TABLE seats RENAME COLUMN hand TO hand_order;
ALTER TABLE links RENAME COLUMN single TO single_use;
ALTER TABLE links RENAME COLUMN claim TO redeemed_by;
ALTER TABLE links RENAME COLUMN made_by TO created_by;
ALTER TABLE knocks RENAME COLUMN turned_away TO denied;
ALTER TABLE knocks RENAME COLUMN kept_until TO expires_at;
ALTER TABLE webhook_streams RENAME COLUMN lane TO bucket;
ALTER TABLE webhook_streams RENAME COLUMN claim TO lease_id;
ALTER TABLE webhook_attempts RENAME COLUMN answer TO response_body;

-- SQLite cannot rename an index.
DROP INDEX answers_expiry;
CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at);
DROP INDEX calls_api;
CREATE INDEX request_log_api ON request_log (project_id, api, n);
DROP INDEX knocks_kept_until;
CREATE INDEX knocks_expiry ON knocks (expires_at);
DROP INDEX links_made_in_room;
CREATE INDEX links_created_in_room ON links (room_id, created_by) WHERE created_by <> '';
