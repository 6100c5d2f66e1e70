package manage

import (
	"context"
	"net/http"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/usage"
)

func (s *server) GetUsage(w http.ResponseWriter, r *http.Request) {
	out, err := s.usageReport(r)
	writeResult(w, r, out, err)
}

func (s *server) usageReport(r *http.Request) (UsageReport, error) {
	query, err := httpx.Query(r.URL.RawQuery, "organization_id", "project_id", "from", "to", "by", "limit", "cursor")
	if err != nil {
		return UsageReport{}, err
	}
	from, err := parseDate("from", query["from"])
	if err != nil {
		return UsageReport{}, err
	}
	to, err := parseDate("to", query["to"])
	if err != nil {
		return UsageReport{}, err
	}
	if err := checkUsageUnit(query); err != nil {
		return UsageReport{}, err
	}
	scope := usage.Scope{OrganizationID: query["organization_id"], ProjectID: query["project_id"]}
	switch {
	case (scope.OrganizationID == "") == (scope.ProjectID == ""):
		return UsageReport{}, fault.Invalidf("exactly one of organization_id and project_id is required")
	case scope.ProjectID != "":
		p, err := s.Projects.Get(r.Context(), scope.ProjectID)
		if err != nil {
			return UsageReport{}, err
		}
		scope.OrganizationID = p.OrganizationID
	default:
		if _, err := s.Projects.Organization(r.Context(), scope.OrganizationID); err != nil {
			return UsageReport{}, err
		}
	}
	report, err := s.Usage.Report(r.Context(), scope, from, to)
	if err != nil {
		return UsageReport{}, err
	}
	out := newUsageReport(scope, report, query["by"] == byDay)
	if query["by"] == byProject {
		err = s.addUsageOfProjects(r.Context(), query, &out, from, to)
	}
	return out, err
}

// The units of a usage report: what its rows are about.
const (
	byDay     = "day"
	byProject = "project"
)

// checkUsageUnit returns Invalid unless the parameters of a report fit together.
func checkUsageUnit(query map[string]string) error {
	_, limited := query["limit"]
	_, continued := query["cursor"]
	switch by := query["by"]; {
	case by != "" && by != byDay && by != byProject:
		return fault.Invalidf("by must be day or project, not %q", by)
	case by == byProject && query["organization_id"] == "":
		return fault.Invalidf("organization_id is required with by=project")
	case by != byProject && (limited || continued):
		return fault.Invalidf("limit and cursor can only be used with by=project")
	}
	return nil
}

// addUsageOfProjects adds a page of the projects of an organization, each with its usage.
func (s *server) addUsageOfProjects(
	ctx context.Context, query map[string]string, out *UsageReport, from, to time.Time,
) error {
	after, limit, err := parsePageOf(query)
	if err != nil {
		return err
	}
	projects, err := s.Projects.Projects(ctx,
		project.ListQuery{OrganizationID: out.OrganizationId, After: after, Limit: limit + 1})
	if err != nil {
		return err
	}
	if len(projects) > limit {
		projects = projects[:limit]
		out.NextCursor = &projects[limit-1].ID
	}
	ids := make([]string, len(projects))
	for i, p := range projects {
		ids[i] = p.ID
	}
	totals, err := s.Usage.ReportProjects(ctx, out.OrganizationId, ids, from, to)
	if err != nil {
		return err
	}
	rows := make([]UsageOfProject, len(projects))
	for i, t := range totals {
		rows[i] = UsageOfProject{
			ProjectId:          ids[i],
			Name:               projects[i].Name,
			Test:               projects[i].Test,
			ParticipantMinutes: t.ParticipantMinutes().Float(),
			AudioMinutes:       t.AudioMinutes().Float(),
			VideoMinutes:       t.VideoMinutes().Float(),
			RoomsCreated:       t.RoomsCreated,
			Sessions:           t.Sessions,
			PeakParticipants:   t.Peak,
		}
	}
	out.Projects = &rows
	return nil
}

// RebuildUsage computes usage again from the recorded attendance.
func (s *server) RebuildUsage(w http.ResponseWriter, r *http.Request) {
	out, err := s.rebuildUsage(w, r)
	writeResult(w, r, out, err)
}

func (s *server) rebuildUsage(w http.ResponseWriter, r *http.Request) (UsageRebuilt, error) {
	q, err := read[UsageRebuild](w, r)
	if err != nil {
		return UsageRebuilt{}, err
	}
	from, err := parseDate("from", httpx.OrZero(q.From))
	if err != nil {
		return UsageRebuilt{}, err
	}
	to, err := parseDate("to", httpx.OrZero(q.To))
	if err != nil {
		return UsageRebuilt{}, err
	}
	if _, err := s.Projects.Organization(r.Context(), q.OrganizationId); err != nil {
		return UsageRebuilt{}, err
	}
	allowLongRequest(w)
	rebuilt, err := s.Usage.Rebuild(r.Context(), q.OrganizationId, from, to)
	if err != nil {
		return UsageRebuilt{}, err
	}
	out := UsageRebuilt{OrganizationId: q.OrganizationId, From: rebuilt.From.Format(time.DateOnly),
		To: rebuilt.To.Format(time.DateOnly), Changes: []UsageDayChange{}}
	out.KeptUntil = httpx.TimeOrNil(rebuilt.KeptUntil)
	for _, c := range rebuilt.Changes {
		change := UsageDayChange{Before: newUsageDay(c.Date, c.Before), After: newUsageDay(c.Date, c.After)}
		if c.ProjectID != "" {
			change.ProjectId = &c.ProjectID
		}
		out.Changes = append(out.Changes, change)
	}
	return out, nil
}

func newUsageDay(date time.Time, t usage.Totals) UsageDay {
	return UsageDay{
		Date:               date.Format(time.DateOnly),
		ParticipantMinutes: t.ParticipantMinutes().Float(),
		AudioMinutes:       t.AudioMinutes().Float(),
		VideoMinutes:       t.VideoMinutes().Float(),
		RoomsCreated:       t.RoomsCreated,
		Sessions:           t.Sessions,
		PeakParticipants:   t.Peak,
	}
}

// parseDate parses an optional date such as 2026-11-01.
func parseDate(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, fault.Invalidf("%s must be a date such as 2026-11-01, not %q", name, text)
	}
	return t, nil
}

func newUsageReport(scope usage.Scope, report usage.Report, byDay bool) UsageReport {
	t := report.Totals
	out := UsageReport{
		OrganizationId:     scope.OrganizationID,
		From:               report.From.Format(time.DateOnly),
		To:                 report.To.Format(time.DateOnly),
		AsOf:               NewTime(report.AsOf),
		ParticipantMinutes: t.ParticipantMinutes().Float(),
		AudioMinutes:       t.AudioMinutes().Float(),
		VideoMinutes:       t.VideoMinutes().Float(),
		RoomsCreated:       t.RoomsCreated,
		Sessions:           t.Sessions,
		PeakParticipants:   t.Peak,
	}
	if scope.ProjectID != "" {
		out.ProjectId = &scope.ProjectID
	}
	if !byDay {
		return out
	}
	days := []UsageDay{}
	for _, d := range report.Days {
		days = append(days, newUsageDay(d.Date, d.Totals))
	}
	out.Days = &days
	return out
}
