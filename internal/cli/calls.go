package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"parley/internal/api/manage"
	"parley/internal/requestlog"
)

type callsCommand struct {
	lister
	Project string `placeholder:"ID" refers:"project" help:"ID or unique name of the project. Default: the calls of the management API, and all projects with --request."`
	Request string `placeholder:"ID" help:"X-Request-ID of a response. Finds the call in all projects, unless it took longer than a minute."`
	Status  string `placeholder:"STATUS" help:"Status of the calls, such as 401, a class, such as 4xx, or rejected for 400 and more."`
	Cause   string `placeholder:"CAUSE" help:"Cause of the rejection, such as bad_signature."`
	Version string `placeholder:"VERSION" help:"Version of the API, such as v4, manage, or backend for versions 3, 4 and 5."`
	KeySlot string `placeholder:"SLOT" help:"Slot of the key: current, overlap, retired, secret, overlap_secret, token or session."`
	Route   string `placeholder:"PATH" help:"Path with the names of its parameters, such as /api/v4/rooms/{room_id}/events."`
	Since   moment `placeholder:"TIME" help:"Time of the oldest call that is listed, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	Before  moment `placeholder:"TIME" help:"Time before which the listed calls were received, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	Limit   int    `placeholder:"N" default:"100" help:"Maximum number of calls, the newest first, or 0 for all. Default: 100."`
}

// Run lists the calls.
func (c callsCommand) Run(ctx context.Context, s *streams) error {
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit must be 0 or more, not %d", c.Limit)}
	}
	q := queryOf(map[string]string{"project_id": c.Project, "request_id": c.Request, "status": c.Status,
		"cause": c.Cause, "version": c.Version, "key_slot": c.KeySlot, "route": c.Route, "since": string(c.Since),
		"before": string(c.Before)})
	calls, err := fetchPages(ctx, c.manager, "/calls", q, c.Limit, func(p manage.CallList) ([]manage.Call, *string) {
		return p.Calls, p.NextCursor
	})
	if err != nil || c.structured() {
		return printItems(s, c.lister, calls, err)
	}
	var rows [][]string
	for _, call := range calls {
		at, err := time.Parse(time.RFC3339, call.At)
		if err != nil {
			return err
		}
		why := call.Cause
		if call.Cause == requestlog.CauseStaleTimestamp && call.ClockSkewSeconds != nil {
			why += fmt.Sprintf(", off by %d s", *call.ClockSkewSeconds)
		}
		if call.Hint != "" {
			why += ": " + call.Hint
		}
		caller := string(call.KeySlot)
		if call.TokenId != "" {
			caller += " " + call.TokenId
		}
		rows = append(rows, []string{formatTime(&at), call.ProjectId, call.Method, call.Path, strconv.Itoa(call.Status),
			strconv.FormatFloat(call.DurationMs, 'f', 1, 64), caller, call.ClientAddress, call.UserAgent, call.RequestId, why})
	}
	if len(rows) == 0 && c.Request != "" {
		advice := "If the call took longer than a minute, add --project. "
		if c.Project != "" {
			advice = ""
		}
		fmt.Fprintln(s.err, "No recorded call has this request ID. "+advice+"Old calls are deleted (--retention-calls).")
	}
	return printTable(s.out, []string{"TIME", "PROJECT", "METHOD", "PATH", "STATUS", "MS", "KEY", "ADDRESS", "USER AGENT",
		"REQUEST", "CAUSE"}, rows)
}

type rejectedCallsCommand struct {
	lister
	Address string `placeholder:"IP" help:"Address of the caller. IPv6 addresses are counted by their /64."`
	Cause   string `placeholder:"CAUSE" help:"Cause of the rejection, such as unknown_key."`
	Version string `placeholder:"VERSION" help:"Version of the API, such as v5, or manage."`
	Since   moment `placeholder:"TIME" help:"Start of the period, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago. Rows whose last call is earlier are left out."`
	Before  moment `placeholder:"TIME" help:"End of the period, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago. Rows of days that begin at this time or later are left out."`
	Limit   int    `placeholder:"N" default:"100" help:"Maximum number of rows, the newest first, or 0 for all. Default: 100."`
}

// Run lists the counts.
func (c rejectedCallsCommand) Run(ctx context.Context, s *streams) error {
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit must be 0 or more, not %d", c.Limit)}
	}
	q := queryOf(map[string]string{"address": c.Address, "cause": c.Cause, "version": c.Version, "since": string(c.Since),
		"before": string(c.Before)})
	counts, err := fetchPages(ctx, c.manager, "/rejected-calls", q, c.Limit,
		func(p manage.RejectedCallList) ([]manage.RejectedCalls, *string) {
			return p.RejectedCalls, p.NextCursor
		})
	if err != nil || c.structured() {
		return printItems(s, c.lister, counts, err)
	}
	var rows [][]string
	for _, count := range counts {
		at, err := time.Parse(time.RFC3339, count.LastAt)
		if err != nil {
			return err
		}
		rows = append(rows, []string{count.Date, count.Version, count.Cause, count.Address,
			strconv.FormatInt(count.Calls, 10), formatTime(&at)})
	}
	return printTable(s.out, []string{"DATE", "VERSION", "CAUSE", "ADDRESS", "CALLS", "LAST"}, rows)
}
