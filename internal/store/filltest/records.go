package filltest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"parley/internal/audit"
	"parley/internal/db"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/store"
)

// ProjectsPerOrganization is the number of small projects in an organization.
const ProjectsPerOrganization = 10

const (
	meetingsPerProject = 2
	callsPerBlock      = 50
	blocksPerBatch     = 20
	rejectedEvery      = 10 // every tenth call was rejected
)

// SmallProjects adds projects with keys and a few meetings in a period, in organizations of
// their own.
func SmallProjects(ctx context.Context, s *store.DB, projects int, start, end time.Time) error {
	ctx = db.WithWriteTimeout(ctx, writeTimeout)
	now := func() time.Time { return start }
	id := func() string { return newID(start) }
	organizations := project.NewService(s, now, id, func(string) {})
	keys := key.NewService(s, organizations, now, id)
	organization := ""
	for n := range projects {
		if n%ProjectsPerOrganization == 0 {
			o, err := organizations.CreateOrganization(ctx, fmt.Sprintf("Customer %d", n/ProjectsPerOrganization+1),
				project.Payg)
			if err != nil {
				return err
			}
			organization = o.ID
		}
		p, _, err := keys.CreateProject(ctx, project.Draft{OrganizationID: organization,
			Name: fmt.Sprintf("Application %d", n+1)})
		if err != nil {
			return err
		}
		past := Past{
			ProjectID: p.ID,
			Meetings:  meetingsPerProject,
			Start:     start,
			End:       end,
			Seed:      uint64(n),
		}
		if err := Meetings(ctx, s, past); err != nil {
			return err
		}
	}
	return nil
}

// Calls adds records of calls of a project in a period.
func Calls(ctx context.Context, s *store.DB, projectID string, calls int, start, end time.Time) error {
	step := end.Sub(start) / time.Duration(max(1, calls))
	return inBatches(ctx, s, calls, callsPerBlock*blocksPerBatch, 1, func(ctx context.Context, first, last int) error {
		ofKind := map[bool][]requestlog.NumberedCall{} // accepted calls and rejected ones
		for n := first; n < last; n++ {
			c := callAt(n, start.Add(time.Duration(n)*step).UTC())
			ofKind[c.Cause == ""] = append(ofKind[c.Cause == ""], c)
		}
		var blocks []requestlog.Block
		for _, calls := range ofKind {
			for block := range slices.Chunk(calls, callsPerBlock) {
				blocks = append(blocks, requestlog.Block{ProjectID: projectID, API: "v4", Calls: block})
			}
		}
		return s.InsertCalls(ctx, blocks)
	})
}

func callAt(n int, at time.Time) requestlog.NumberedCall {
	c := requestlog.Call{
		RequestID:  newID(at),
		ReceivedAt: at,
		Method:     "POST",
		Path:       "/api/v4/rooms/create_quick_video_room",
		Status:     200,
		Micros:     900,
		KeySlot:    "current",
		Address:    "192.0.2.1",
		UserAgent:  "parley-go/1.0",
	}
	if n%rejectedEvery == 0 {
		c.Status, c.KeySlot, c.Cause, c.ClockSkew, c.HasTimestamp = 401, "", requestlog.CauseStaleTimestamp, -400, true
	}
	return requestlog.NumberedCall{N: at.UnixNano(), Call: c}
}

// AuditEntries adds changes of a project's settings in a period to the audit log.
func AuditEntries(ctx context.Context, s *store.DB, projectID string, entries int, start, end time.Time) error {
	ctx = audit.WithOrigin(ctx, audit.Origin{
		Kind:      audit.KindToken,
		ActorID:   newID(start),
		ActorName: "deployment",
		RequestID: newID(start),
		Address:   "192.0.2.1",
	})
	step := end.Sub(start) / time.Duration(max(1, entries))
	return inBatches(ctx, s, entries, batch, 1, func(ctx context.Context, first, last int) error {
		for n := first; n < last; n++ {
			change := audit.Change{
				Action:    audit.ProjectChanged,
				Subject:   projectID,
				ProjectID: projectID,
				Before:    audit.Fields{"name": n},
				After:     audit.Fields{"name": n + 1},
			}
			if err := audit.Record(ctx, s, start.Add(time.Duration(n)*step), change); err != nil {
				return err
			}
		}
		return nil
	})
}
