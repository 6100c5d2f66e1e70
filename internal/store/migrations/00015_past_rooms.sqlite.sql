-- parley: expand
-- +goose Up
-- Past rooms are counted by the UTC day of their end, so that neither their number nor
-- the start of a page depends on how many there are. The rooms of a day are the sum of
-- its rows. A room that ends adds a row of its own, because a row that the rooms of a
-- day share would make their ends wait for each other. Now and then these rows are
-- merged into the one with an empty id.
CREATE TABLE past_room_counts (
    project_id TEXT   NOT NULL,
    day        BIGINT NOT NULL, -- its start
    id         TEXT   NOT NULL, -- empty in the merged row
    rooms      BIGINT NOT NULL, -- negative for rooms that were deleted
    PRIMARY KEY (project_id, day, id)
);
INSERT INTO past_room_counts (project_id, day, id, rooms)
    SELECT project_id, ended_at - ended_at % 86400000, '', count(*) FROM rooms WHERE ended_at IS NOT NULL GROUP BY 1, 2;
CREATE INDEX past_room_counts_unmerged ON past_room_counts (id) WHERE id <> '';

-- Triggers count, so that no statement can forget it, also not one of an older release.
-- +goose StatementBegin
CREATE TRIGGER rooms_count_past AFTER UPDATE OF ended_at ON rooms
    WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
BEGIN
    INSERT INTO past_room_counts (project_id, day, id, rooms)
        VALUES (NEW.project_id, NEW.ended_at - NEW.ended_at % 86400000, NEW.id, 1);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER rooms_uncount_past AFTER DELETE ON rooms WHEN OLD.ended_at IS NOT NULL
BEGIN
    INSERT INTO past_room_counts (project_id, day, id, rooms)
        VALUES (OLD.project_id, OLD.ended_at - OLD.ended_at % 86400000, OLD.id || ' deleted', -1);
END;
-- +goose StatementEnd

-- Lists. New rooms and new deliveries are in none of the indexes with a condition.
DROP INDEX rooms_over;
CREATE INDEX rooms_over ON rooms (project_id, ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX rooms_over_project_state ON rooms (project_id, state, created_at) WHERE ended_at IS NOT NULL;
CREATE INDEX rooms_over_state ON rooms (state, id) WHERE ended_at IS NOT NULL;
CREATE INDEX webhook_deliveries_room ON webhook_deliveries (room_id, id);
CREATE INDEX webhook_deliveries_project_state ON webhook_deliveries (project_id, state, id) WHERE state <> 'pending';
CREATE INDEX webhook_deliveries_state ON webhook_deliveries (state, id) WHERE state <> 'pending';
