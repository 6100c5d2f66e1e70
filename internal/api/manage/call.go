package manage

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/requestlog"
)

var errNoRequestLog = fault.New(fault.NotFound, "calls_not_recorded",
	"calls are not recorded, because the server runs with --no-diagnostics-enabled: "+
		"the operator of the server can start it without this flag")

func (s *server) ListCalls(w http.ResponseWriter, r *http.Request) {
	out, err := s.listCalls(r)
	writeResult(w, r, out, err)
}

func (s *server) listCalls(r *http.Request) (CallList, error) {
	if s.Calls == nil {
		return CallList{}, errNoRequestLog
	}
	q, cursor, err := parseCallQuery(r.URL.RawQuery, s.APIs)
	if err != nil {
		return CallList{}, err
	}
	if q.ProjectID != "" {
		if _, err := s.Projects.Get(r.Context(), q.ProjectID); err != nil {
			return CallList{}, err
		}
	}
	if c := caller(r); c.Role == operator.Integrator {
		q.Filter.ManagementToken = c.ID // the calls of other tokens show who else manages the project
	}
	if id := q.Filter.RequestID; id != nil && q.ProjectID == "" {
		if at, ok := httpx.RequestTime(*id); ok {
			return s.findCall(r.Context(), q, at, cursor)
		}
	}
	if cursor != nil {
		if q.After, err = parseCallCursor(*cursor); err != nil {
			return CallList{}, err
		}
	}
	page, err := s.Calls.List(r.Context(), q)
	if err != nil {
		return CallList{}, err
	}
	out := newCallList(page.Calls)
	if page.Next != (requestlog.Cursor{}) {
		out.NextCursor = new(fmt.Sprintf("%d.%d", page.Next.Below, page.Next.BlocksBelow))
	}
	return out, nil
}

// findCall looks for the call with the request ID of q, which has a time, in all projects.
func (s *server) findCall(ctx context.Context, q requestlog.Query, at time.Time, cursor *string) (CallList, error) {
	var after requestlog.BlockPosition
	if cursor != nil {
		last, projectID, ok := strings.Cut(*cursor, ".")
		n, err := strconv.ParseInt(last, 10, 64)
		if !ok || err != nil {
			return CallList{}, httpx.ErrCursor
		}
		after = requestlog.BlockPosition{Last: n, ProjectID: projectID}
		if !after.IsOfSearch(at) { // such as a cursor of a list
			return CallList{}, httpx.ErrCursor
		}
	}
	calls, next, err := s.Calls.Find(ctx, q, at, after)
	if err != nil {
		return CallList{}, err
	}
	out := newCallList(calls)
	if next != (requestlog.BlockPosition{}) {
		out.NextCursor = new(fmt.Sprintf("%d.%s", next.Last, next.ProjectID))
	}
	return out, nil
}

func newCallList(calls []requestlog.NumberedCall) CallList {
	out := CallList{Calls: []Call{}}
	for _, c := range calls {
		out.Calls = append(out.Calls, newCall(c.Call))
	}
	return out
}

// backendVersions is the version of a query for the calls of all APIs that backends call, without the management API.
const backendVersions = "backend"

// parseCallQuery returns also the cursor; nil if none is sent. Its form depends on the query.
func parseCallQuery(rawQuery string, apis []string) (q requestlog.Query, cursor *string, err error) {
	query, err := httpx.Query(rawQuery, "project_id", "version", "request_id", "status", "cause", "key_slot", "route",
		"since", "before", "limit", "cursor")
	if err != nil {
		return q, nil, err
	}
	version := query["version"]
	if err := checkVersion(version, append(slices.Clone(apis), backendVersions)); err != nil {
		return q, nil, err
	}
	q = requestlog.Query{ProjectID: query["project_id"]}
	if q.Filter, err = parseCallFilter(query); err != nil {
		return q, nil, err
	}
	if q.Filter.Backend = version == backendVersions; !q.Filter.Backend {
		q.API = version
	}
	if version != "" && version != APIName && q.ProjectID == "" && !hasTime(q.Filter.RequestID) {
		return q, nil, fault.Invalidf("project_id or request_id is required with version %s", version)
	}
	if q.Since, q.Before, err = parsePeriod(query); err != nil {
		return q, nil, err
	}
	if q.Limit, err = httpx.ParseLimit(query); err != nil {
		return q, nil, err
	}
	if text, sent := query["cursor"]; sent {
		cursor = &text
	}
	return q, cursor, nil
}

// hasTime reports whether a request ID has a time, by which it can be found in all projects. Those of earlier releases
// have none.
func hasTime(requestID *string) bool {
	if requestID == nil {
		return false
	}
	_, ok := httpx.RequestTime(*requestID)
	return ok
}

func parseCallCursor(text string) (c requestlog.Cursor, err error) {
	below, blocksBelow, _ := strings.Cut(text, ".")
	c.Below, err = strconv.ParseInt(below, 10, 64)
	if err == nil {
		c.BlocksBelow, err = strconv.ParseInt(blocksBelow, 10, 64)
	}
	if err != nil || c.Below < 1 || c.BlocksBelow < 1 {
		return requestlog.Cursor{}, httpx.ErrCursor
	}
	return c, nil
}

func parseCallFilter(query map[string]string) (f requestlog.Filter, err error) {
	if text, sent := query["status"]; sent {
		if f.MinStatus, f.MaxStatus, err = parseStatus(text); err != nil {
			return f, err
		}
	}
	for name, wanted := range map[string]**string{
		"request_id": &f.RequestID, "cause": &f.Cause, "key_slot": &f.KeySlot, "route": &f.Route,
	} {
		if text, sent := query[name]; sent {
			*wanted = &text
		}
	}
	return f, nil
}

// parseStatus parses a status such as 401, a class such as 4xx, or rejected into its bounds.
func parseStatus(text string) (low, high int, err error) {
	if text == "rejected" {
		return 400, 599, nil
	}
	if len(text) == 3 && text[1:] == "xx" && '1' <= text[0] && text[0] <= '5' {
		low = int(text[0]-'0') * 100
		return low, low + 99, nil
	}
	low, err = strconv.Atoi(text)
	if err != nil || low < 100 || low > 599 {
		return 0, 0, fault.Invalidf("status must be a number from 100 to 599, a class such as 4xx, or rejected, not %q", text)
	}
	return low, low, nil
}

func newCall(c requestlog.Call) Call {
	out := Call{
		RequestId:     c.RequestID,
		ProjectId:     c.ProjectID,
		At:            httpx.FormatTime(c.ReceivedAt),
		Method:        c.Method,
		Path:          c.Path,
		Route:         c.RouteOrPath(),
		Version:       c.API,
		Status:        c.Status,
		Cause:         c.Cause,
		Hint:          c.Hint,
		KeySlot:       CallKeySlot(c.KeySlot),
		TokenId:       c.TokenID,
		ClientAddress: c.Address,
		UserAgent:     c.UserAgent,
		DurationMs:    float64(c.Micros) / 1000,
	}
	if c.SignerSlot != "" {
		out.SignerSlot = new(CallSignerSlot(c.SignerSlot))
	}
	if c.HasTimestamp {
		out.ClockSkewSeconds = &c.ClockSkew
	}
	return out
}

func (s *server) ListRejectedCalls(w http.ResponseWriter, r *http.Request) {
	out, err := s.listRejectedCalls(r)
	writeResult(w, r, out, err)
}

func (s *server) listRejectedCalls(r *http.Request) (RejectedCallList, error) {
	if s.Calls == nil {
		return RejectedCallList{}, errNoRequestLog
	}
	q, err := parseRejectionQuery(r.URL.RawQuery, s.APIs)
	if err != nil {
		return RejectedCallList{}, err
	}
	page, next, err := s.Calls.Rejections(r.Context(), q)
	if err != nil {
		return RejectedCallList{}, err
	}
	out := RejectedCallList{RejectedCalls: []RejectedCalls{}}
	for _, c := range page {
		out.RejectedCalls = append(out.RejectedCalls, RejectedCalls{
			Date:    c.Day.UTC().Format(time.DateOnly),
			Version: c.API,
			Cause:   c.Cause,
			Address: c.Address,
			Calls:   c.Calls,
			LastAt:  httpx.FormatTime(c.LastAt),
		})
	}
	if !next.LastAt.IsZero() {
		out.NextCursor = new(rejectionsCursor(next))
	}
	return out, nil
}

func parseRejectionQuery(rawQuery string, apis []string) (q requestlog.RejectionQuery, err error) {
	query, err := httpx.Query(rawQuery, "version", "cause", "address", "since", "before", "limit", "cursor")
	if err != nil {
		return q, err
	}
	q = requestlog.RejectionQuery{API: query["version"], Cause: query["cause"]}
	if err := checkVersion(q.API, apis); err != nil {
		return q, err
	}
	if text, sent := query["address"]; sent {
		if q.Address, err = parseClientAddress(text); err != nil {
			return q, err
		}
	}
	if q.Since, q.Before, err = parsePeriod(query); err != nil {
		return q, err
	}
	if q.Limit, err = httpx.ParseLimit(query); err != nil {
		return q, err
	}
	if text, sent := query["cursor"]; sent {
		q.After, err = parseRejectionsCursor(text)
	}
	return q, err
}

// parseClientAddress parses an IP address, or the address of a count, which may be an IPv6 /64.
func parseClientAddress(text string) (netip.Addr, error) {
	if p, err := netip.ParsePrefix(text); err == nil && p.Addr().Is6() && p.Bits() == 64 {
		return p.Addr(), nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		err = fault.Invalidf("address must be an IPv4 address, an IPv6 address or an IPv6 /64")
	}
	return a, err
}

// checkVersion returns Invalid unless a version of the API is empty or one of apis.
func checkVersion(version string, apis []string) error {
	if version == "" || slices.Contains(apis, version) {
		return nil
	}
	return fault.Invalidf("version must be one of %s, not %q", strings.Join(apis, ", "), version)
}

// rejectionsCursor returns the cursor of the page after some rejections: what orders them.
func rejectionsCursor(r requestlog.RejectionCount) string {
	r.Calls = 0
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // unreachable because the times are in the range of the Unix time
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func parseRejectionsCursor(text string) (r requestlog.RejectionCount, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &r) != nil || r.LastAt.IsZero() {
		return r, httpx.ErrCursor
	}
	return r, nil
}
