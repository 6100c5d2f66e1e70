package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"parley/internal/api/manage"
	"parley/internal/plural"
)

type auditCommands struct {
	List   auditList   `cmd:"" help:"List changes, the newest first."`
	Verify auditVerify `cmd:"" help:"Check that no recorded change was altered or removed."`
}

type auditList struct {
	lister
	Project string `placeholder:"ID" refers:"project" help:"ID or unique name of the project whose changes are listed."`
	Action  string `placeholder:"ACTION" help:"Kind of the changes that are listed, such as project.changed."`
	Actor   string `placeholder:"NAME" help:"Name or ID of the token, the user or the sign-in link that made the changes, or service."`
	Subject string `placeholder:"ID" help:"ID of the object whose changes are listed."`
	Since   moment `placeholder:"TIME" help:"Time of the oldest change that is listed, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	Before  moment `placeholder:"TIME" help:"Time before which the listed changes were made, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	Limit   int    `placeholder:"N" default:"100" help:"Maximum number of changes, the newest first, or 0 for all. Default: 100."`
}

// Run lists the entries.
func (c auditList) Run(ctx context.Context, s *streams) error {
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit must be 0 or more, not %d", c.Limit)}
	}
	entries, err := c.fetch(ctx)
	if err != nil || c.structured() {
		return printItems(s, c.lister, entries, err)
	}
	var rows [][]string
	for _, e := range entries {
		at, err := time.Parse(time.RFC3339, e.At)
		if err != nil {
			return err
		}
		before, err := json.Marshal(e.Before)
		if err != nil {
			return err
		}
		after, err := json.Marshal(e.After)
		if err != nil {
			return err
		}
		rows = append(rows, []string{strconv.FormatInt(e.N, 10), formatTime(&at), e.Actor, e.Address, e.Action,
			e.Subject, string(before), string(after)})
	}
	return printTable(s.out, []string{"N", "TIME", "ACTOR", "ADDRESS", "ACTION", "SUBJECT", "BEFORE", "AFTER"}, rows)
}

// fetch reads all pages, up to the limit.
func (c auditList) fetch(ctx context.Context) ([]manage.AuditEntry, error) {
	q := queryOf(map[string]string{"project_id": c.Project, "action": c.Action, "actor": c.Actor, "subject": c.Subject,
		"since": string(c.Since), "before": string(c.Before)})
	return fetchPages(ctx, c.manager, "/audit", q, c.Limit, func(p manage.AuditList) ([]manage.AuditEntry, *string) {
		return p.Entries, p.NextCursor
	})
}

type auditVerify struct{ manager }

// Run prints the result, and fails if an entry is not intact.
func (c auditVerify) Run(ctx context.Context, s *streams) error {
	report, err := callWithTimeout[manage.AuditReport](ctx, c.manager, "GET", "/audit/verify", nil, 0)
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(s.out, report)
	} else if report.Ok {
		_, err = fmt.Fprintf(s.out, "The audit log is intact: %s, the last one has the number %d and the hash\n%s\n",
			plural.Count(int(report.Rows), "entry", "entries"), report.N, report.Head)
	}
	if report.Problem != nil {
		return errors.New(report.Problem.Message)
	}
	return err
}
