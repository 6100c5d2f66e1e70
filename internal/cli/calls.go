package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

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
	KeySlot string `placeholder:"SLOT" help:"Slot of the credential that the call named or was signed with: current, overlap, retired, secret, overlap_secret, token or session."`
	Route   string `placeholder:"PATH" help:"Path with the names of its parameters, such as /api/v4/rooms/{room_id}/events."`
	Since   moment `placeholder:"TIME" help:"Time of the oldest call that is listed, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	Before  moment `placeholder:"TIME" help:"Time before which the listed calls were received, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	By      string `enum:",cause" default:"" placeholder:"UNIT" help:"Unit of a row: cause, for the number of calls with each cause, route and status, the most first. Counts rejected calls, unless --status selects others. Default: one row for each call."`
	Limit   int    `placeholder:"N" default:"100" help:"Maximum number of calls, the newest first, or 0 for all. Default: 100."`
}

func (c callsCommand) whyIneffective(flag *kong.Flag) string {
	if c.By != "" && flag.Name == "limit" {
		return "with --by, which counts all calls: leave out one of them"
	}
	return ""
}

// Run lists the calls, or with --by their number with each cause, of the rejected ones by default.
func (c callsCommand) Run(ctx context.Context, s *streams) error {
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit must be 0 or more, not %d", c.Limit)}
	}
	if c.By != "" {
		c.Status = cmp.Or(c.Status, "rejected")
	}
	q := queryOf(map[string]string{"project_id": c.Project, "request_id": c.Request, "status": c.Status,
		"cause": c.Cause, "version": c.Version, "key_slot": c.KeySlot, "route": c.Route, "since": string(c.Since),
		"before": string(c.Before)})
	if c.By != "" {
		return c.showCauses(ctx, s, q)
	}
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
		if call.SignerSlot != nil {
			caller += ", signed with " + string(*call.SignerSlot)
		}
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

// causeCount is the number of calls with the same cause, route and status.
type causeCount struct {
	Cause   string `json:"cause"`
	Route   string `json:"route"`
	Status  int    `json:"status"`
	Calls   int64  `json:"calls"`
	FirstAt string `json:"first_at"`
	LastAt  string `json:"last_at"`
}

// showCauses reads all calls that match the query, page by page, and prints how many there are with each cause, route
// and status.
func (c callsCommand) showCauses(ctx context.Context, s *streams, q url.Values) error {
	counts := causeCounts{}
	_, err := fetchPages(ctx, c.manager, "/calls", q, 0, func(p manage.CallList) ([]manage.Call, *string) {
		counts.add(p.Calls)
		return nil, p.NextCursor // the calls themselves may be too many to keep
	})
	sorted := counts.sorted()
	if err != nil || c.structured() {
		return printItems(s, c.lister, sorted, err)
	}
	var rows [][]string
	for _, count := range sorted {
		first, err := time.Parse(time.RFC3339, count.FirstAt)
		if err != nil {
			return err
		}
		last, err := time.Parse(time.RFC3339, count.LastAt)
		if err != nil {
			return err
		}
		rows = append(rows, []string{strconv.FormatInt(count.Calls, 10), count.Cause, count.Route,
			strconv.Itoa(count.Status), formatTime(&first), formatTime(&last)})
	}
	return printTable(s.out, []string{"CALLS", "CAUSE", "ROUTE", "STATUS", "FIRST", "LAST"}, rows)
}

// causeCounts are counts by their cause, route and status; the other fields of a key are empty.
type causeCounts map[causeCount]*causeCount

// add counts calls. All their times have the same form, in which they can be compared.
func (counts causeCounts) add(calls []manage.Call) {
	for _, call := range calls {
		key := causeCount{Cause: call.Cause, Route: call.Route, Status: call.Status}
		count, ok := counts[key]
		if !ok {
			first := key
			first.FirstAt, first.LastAt = call.At, call.At
			count = &first
			counts[key] = count
		}
		count.Calls++
		count.FirstAt, count.LastAt = min(count.FirstAt, call.At), max(count.LastAt, call.At)
	}
}

// sorted returns the counts, the highest first.
func (counts causeCounts) sorted() []causeCount {
	sorted := make([]causeCount, 0, len(counts))
	for _, count := range counts {
		sorted = append(sorted, *count)
	}
	slices.SortFunc(sorted, func(a, b causeCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Route, b.Route),
			cmp.Compare(a.Status, b.Status))
	})
	return sorted
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
