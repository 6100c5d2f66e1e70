package manage

import (
	"net/http"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/usage"
)

func (s *server) GetUsage(w http.ResponseWriter, r *http.Request) {
	out, err := s.usageReport(r)
	writeResult(w, r, out, err)
}

func (s *server) usageReport(r *http.Request) (UsageReport, error) {
	query, err := httpx.Query(r.URL.RawQuery, "organization_id", "project_id", "from", "to", "by")
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
	if by := query["by"]; by != "" && by != "day" {
		return UsageReport{}, fault.Invalidf("by must be day, not %q", by)
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
	return newUsageReport(scope, report, query["by"] == "day"), nil
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
	rebuilt, err := s.Usage.Rebuild(r.Context(), q.OrganizationId, from, to)
	if err != nil {
		return UsageRebuilt{}, err
	}
	out := UsageRebuilt{OrganizationId: q.OrganizationId, From: rebuilt.From.Format(time.DateOnly),
		To: rebuilt.To.Format(time.DateOnly), Changes: []UsageDayChange{}}
	if !rebuilt.KeptUntil.IsZero() {
		out.KeptUntil = &rebuilt.KeptUntil
	}
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
		AsOf:               report.AsOf,
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
