-- parley: expand
-- +goose Up
-- The list of an organization's projects is read in pages, in the order of the ids.
CREATE INDEX projects_of_organization ON projects (organization_id, id);
DROP INDEX projects_organization;
