-- parley: expand
-- +goose Up
-- Earlier releases did not record a leave as late, so that a rollup that had run before it
-- went on to count the connection. Such an hour has more connections at its end than the
-- attendance says. It is rolled up again, unless that could lose the usage of rooms that
-- retention has deleted: those were created, and their sessions began, at the latest in the
-- last hour with a room or a session that is missing now. A meeting lasts a day at most.
WITH moves AS (
    SELECT project_id, joined_at - joined_at % 3600000 AS hour, 1 AS step FROM attendance
        WHERE NOT hidden AND (left_at > joined_at OR left_at IS NULL)
    UNION ALL SELECT project_id, left_at - left_at % 3600000, -1 FROM attendance
        WHERE NOT hidden AND left_at > joined_at
), changes AS (
    SELECT project_id, hour, sum(step) AS change FROM moves GROUP BY project_id, hour
), deleted AS (
    SELECT organization_id, max(hour) AS hour FROM usage_hours AS h
        WHERE project_id = '' AND (rooms > (SELECT count(*) FROM rooms
                WHERE project_id IN (SELECT id FROM projects WHERE organization_id = h.organization_id)
                    AND created_at >= h.hour AND created_at < h.hour + 3600000)
            OR sessions > (SELECT count(*) FROM sessions
                WHERE project_id IN (SELECT id FROM projects WHERE organization_id = h.organization_id)
                    AND started_at >= h.hour AND started_at < h.hour + 3600000 AND breakout = 0))
        GROUP BY organization_id
)
INSERT INTO usage_late_reports (id, organization_id, hour)
SELECT DISTINCT p.organization_id || '/' || c.hour, p.organization_id, c.hour
    FROM changes AS c
    JOIN projects AS p ON p.id = c.project_id
    JOIN usage_progress AS u ON u.organization_id = p.organization_id AND u.rolled_up_until > c.hour
    LEFT JOIN usage_hours AS h ON h.organization_id = p.organization_id AND h.project_id = p.id AND h.hour = c.hour
    LEFT JOIN deleted AS d ON d.organization_id = p.organization_id
    WHERE coalesce(h.audio_change + h.video_change, 0) > c.change
        AND (d.hour IS NULL OR c.hour > d.hour + 172800000);
