package cli

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/internal/api/manage"
	"parley/internal/plural"
)

type usageCommands struct {
	Show    usageCommand `cmd:"" default:"withargs" help:"Show what organizations and projects have used."`
	Rebuild usageRebuild `cmd:"" help:"Compute usage again from the recorded attendance and show what has changed."`
}

type usageRebuild struct {
	manager
	irreversible
	Org  string `placeholder:"ID" refers:"organization" help:"ID or unique name of an organization. Default: all organizations."`
	From day    `placeholder:"DATE" help:"First day (UTC), such as 2026-11-01 or yesterday. Default: the first day of this month."`
	To   day    `placeholder:"DATE" help:"Last day (UTC, included), at most 365 days after the first. Default: today."`
}

// Run prints one row for each day that has changed. With --json it prints an array with the
// response for each organization.
func (c usageRebuild) Run(ctx context.Context, s *streams) error {
	ids := []string{c.Org}
	if c.Org == "" {
		organizations, err := fetchOrganizations(ctx, c.manager, "")
		if err != nil {
			return err
		}
		ids = nil
		for _, o := range organizations {
			ids = append(ids, o.OrganizationId)
		}
	}
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		return fmt.Sprintf("compute the usage of %s again, from %s to %s, and replace the stored figures that differ",
			plural.Count(len(ids), "organization", "organizations"), cmp.Or(string(c.From), "the first day of this month"),
			cmp.Or(string(c.To), "today")), nil
	}); !ok {
		return err
	}
	rebuilt := []manage.UsageRebuilt{}
	var failed error
	for _, id := range ids {
		q := manage.UsageRebuild{
			OrganizationId: id,
			From:           optionalString(string(c.From)),
			To:             optionalString(string(c.To)),
		}
		one, err := callWithTimeout[manage.UsageRebuilt](ctx, c.manager, "POST", "/usage/rebuild", q, 0)
		if err != nil {
			failed = fmt.Errorf("organization %s: %w", id, err)
			break
		}
		rebuilt = append(rebuilt, one)
	}
	if len(rebuilt) == 0 && failed != nil {
		return failed
	}
	return errors.Join(c.print(s, rebuilt), failed)
}

// print prints what was rebuilt, also if an error prevented the rest.
func (c usageRebuild) print(s *streams, rebuilt []manage.UsageRebuilt) error {
	if c.JSON {
		return printJSON(s.out, rebuilt)
	}
	var rows [][]string
	for _, r := range rebuilt {
		if r.KeptUntil != nil {
			_, err := fmt.Fprintf(s.out, "%s: usage until %s stays as it is, because rooms of it are deleted\n",
				r.OrganizationId, r.KeptUntil.Format(time.RFC3339))
			if err != nil {
				return err
			}
		}
		for _, d := range r.Changes {
			rows = append(rows, []string{r.OrganizationId, valueOrEmpty(d.ProjectId), d.After.Date,
				formatMinutes(d.Before.ParticipantMinutes), formatMinutes(d.After.ParticipantMinutes),
				strconv.FormatInt(d.After.RoomsCreated-d.Before.RoomsCreated, 10),
				strconv.FormatInt(d.After.Sessions-d.Before.Sessions, 10),
				strconv.FormatInt(d.After.PeakParticipants-d.Before.PeakParticipants, 10)})
		}
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(s.out, "No usage has changed.")
		return err
	}
	return printTable(s.out, []string{"ORGANIZATION", "PROJECT", "DATE", "MINUTES BEFORE", "MINUTES", "ROOMS +-",
		"SESSIONS +-", "PEAK +-"}, rows)
}

func formatMinutes(m float64) string { return strconv.FormatFloat(m, 'f', 2, 64) }

type usageCommand struct {
	manager
	Org     string `xor:"scope" placeholder:"ID" refers:"organization" help:"ID or unique name of an organization. Default: one row for each organization, or for each project that an integrator may see."`
	Project string `xor:"scope" placeholder:"ID" refers:"project" help:"ID or unique name of a project."`
	From    day    `placeholder:"DATE" help:"First day (UTC), such as 2026-11-01 or yesterday. Default: the first day of this month."`
	To      day    `placeholder:"DATE" help:"Last day (UTC, included), at most 365 days after the first. Default: today."`
	By      string `enum:",day,project,project-day" default:"" placeholder:"UNIT" help:"Unit of a row: day, project, or project-day for each day of each project. Default: one row for the whole period."`
	CSV     bool   `name:"csv" help:"CSV output."`
}

// usageFigures are the figures of a scope in a period or on a day.
type usageFigures struct {
	OrganizationID     string  `json:"organization_id"`
	ProjectID          string  `json:"project_id,omitempty"`
	Date               string  `json:"date,omitempty"`
	ParticipantMinutes float64 `json:"participant_minutes"`
	AudioMinutes       float64 `json:"audio_minutes"`
	VideoMinutes       float64 `json:"video_minutes"`
	RoomsCreated       int64   `json:"rooms_created"`
	Sessions           int64   `json:"sessions"`
	PeakParticipants   int64   `json:"peak_participants"`
}

// Run prints one row for each scope, or with --by one for each of its days, projects or both. With --json, one
// scope and no --by it prints one object, otherwise an array.
func (c usageCommand) Run(ctx context.Context, s *streams) error {
	if c.CSV && c.JSON {
		return usageError{errors.New("--csv and --json can't be used together")}
	}
	reports, err := c.fetch(ctx)
	if err != nil {
		return err
	}
	if single := c.Org+c.Project != "" && c.By == ""; c.JSON && single {
		return printJSON(s.out, reports[0])
	}
	figures := []usageFigures{}
	for _, r := range reports {
		if r.Days == nil {
			figures = append(figures, periodFigures(r))
		} else {
			figures = append(figures, dailyFigures(r)...)
		}
	}
	switch {
	case c.JSON:
		return printJSON(s.out, figures)
	case c.CSV:
		w := csv.NewWriter(s.out)
		_ = w.Write([]string{"organization_id", "project_id", "date", "participant_minutes", "audio_minutes",
			"video_minutes", "rooms_created", "sessions", "peak_participants"})
		for _, f := range figures {
			_ = w.Write(f.cells())
		}
		w.Flush()
		return w.Error()
	}
	var rows [][]string
	for _, f := range figures {
		rows = append(rows, f.cells())
	}
	return printTable(s.out, []string{"ORGANIZATION", "PROJECT", "DATE", "MINUTES", "AUDIO", "VIDEO", "ROOMS",
		"SESSIONS", "PEAK"}, rows)
}

// scopes returns a query for each organization or project whose usage is shown.
func (c usageCommand) scopes(ctx context.Context) (all []url.Values, err error) {
	switch {
	case c.Project != "":
		return []url.Values{{"project_id": {c.Project}}}, nil
	case strings.HasPrefix(c.By, "project"):
		return c.projectScopes(ctx)
	case c.Org != "":
		return []url.Values{{"organization_id": {c.Org}}}, nil
	}
	organizations, err := fetchOrganizations(ctx, c.manager, "")
	if isRefusal(err, manage.ErrorCodeRoleNotAllowed) { // an integrator may see only projects
		return c.projectScopes(ctx)
	}
	for _, o := range organizations {
		all = append(all, url.Values{"organization_id": {o.OrganizationId}})
	}
	return all, err
}

// projectScopes returns a query for each project of the organization, or of the caller without one.
func (c usageCommand) projectScopes(ctx context.Context) (all []url.Values, err error) {
	projects, err := fetchProjects(ctx, c.manager, c.Org, "")
	for _, p := range projects {
		all = append(all, url.Values{"project_id": {p.ProjectId}})
	}
	return all, err
}

// fetch reads the usage of each scope.
func (c usageCommand) fetch(ctx context.Context) ([]manage.UsageReport, error) {
	scopes, err := c.scopes(ctx)
	if err != nil {
		return nil, err
	}
	by := ""
	if strings.HasSuffix(c.By, "day") {
		by = "day"
	}
	var reports []manage.UsageReport
	for _, q := range scopes {
		for name, value := range map[string]string{"from": string(c.From), "to": string(c.To), "by": by} {
			if value != "" {
				q.Set(name, value)
			}
		}
		report, err := callManagement[manage.UsageReport](ctx, c.manager, "GET", "/usage?"+q.Encode(), nil)
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}

func periodFigures(r manage.UsageReport) usageFigures {
	return usageFigures{
		OrganizationID:     r.OrganizationId,
		ProjectID:          valueOrEmpty(r.ProjectId),
		ParticipantMinutes: r.ParticipantMinutes,
		AudioMinutes:       r.AudioMinutes,
		VideoMinutes:       r.VideoMinutes,
		RoomsCreated:       r.RoomsCreated,
		Sessions:           r.Sessions,
		PeakParticipants:   r.PeakParticipants,
	}
}

func dailyFigures(r manage.UsageReport) []usageFigures {
	var figures []usageFigures
	for _, d := range *r.Days {
		figures = append(figures, usageFigures{
			OrganizationID:     r.OrganizationId,
			ProjectID:          valueOrEmpty(r.ProjectId),
			Date:               d.Date,
			ParticipantMinutes: d.ParticipantMinutes,
			AudioMinutes:       d.AudioMinutes,
			VideoMinutes:       d.VideoMinutes,
			RoomsCreated:       d.RoomsCreated,
			Sessions:           d.Sessions,
			PeakParticipants:   d.PeakParticipants,
		})
	}
	return figures
}

func (f usageFigures) cells() []string {
	minutes := formatMinutes
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{f.OrganizationID, f.ProjectID, f.Date, minutes(f.ParticipantMinutes), minutes(f.AudioMinutes),
		minutes(f.VideoMinutes), count(f.RoomsCreated), count(f.Sessions), count(f.PeakParticipants)}
}
