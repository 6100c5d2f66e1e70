-- parley: expand
-- +goose Up
-- Users of the console, and people with a link, are actors too.
ALTER TABLE audit DROP CONSTRAINT audit_actor_kind_check;
ALTER TABLE audit ADD CONSTRAINT audit_actor_kind_check
    CHECK (actor_kind IN ('token', 'user', 'link', 'local', 'service')) NOT VALID;
