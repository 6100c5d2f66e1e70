// Package record records the calls of an API in the request log, after their response.
package record

import (
	"net/http"
	"net/netip"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/requestlog"
)

// Log is the request log. Its methods do not block.
type Log interface {
	Record(c requestlog.Call, explain requestlog.Explain)
	CountRejected(api, cause string, address netip.Addr)
	AllowAnonymous(projectID string) bool
}

// Call records a call of an API in the log. A rejected call without a valid credential is
// recorded if it names a project, up to a limit, and otherwise counted by its address.
func Call(log Log, api string, r *http.Request, info *httpx.RequestInfo) {
	if info.Cause == "" && info.Status >= http.StatusBadRequest {
		info.Cause = strings.ReplaceAll(strings.ToLower(http.StatusText(info.Status)), " ", "_")
	}
	if info.Caller.KeySlot == "" && (info.Caller.ProjectID == "" || !log.AllowAnonymous(info.Caller.ProjectID)) {
		if info.Cause != "" {
			log.CountRejected(api, info.Cause, info.Client)
		}
		return
	}
	c := requestlog.Call{
		RequestID:    info.ID,
		ProjectID:    info.Caller.ProjectID,
		API:          api,
		ReceivedAt:   info.StartedAt,
		Method:       r.Method,
		Path:         r.URL.Path,
		Status:       info.Status,
		Micros:       info.Duration.Microseconds(),
		KeySlot:      info.Caller.KeySlot,
		SignerSlot:   info.Caller.SignerSlot,
		TokenID:      info.Caller.TokenID,
		Cause:        info.Cause,
		Hint:         info.Hint,
		ClockSkew:    info.Caller.ClockSkew,
		HasTimestamp: info.Caller.HasTimestamp,
		Address:      info.ClientText(),
		UserAgent:    r.UserAgent(),
	}
	// Copies or constants, because these are parts of texts that would be kept in memory as a whole: the
	// request line and the headers.
	clone := func(text string) string { return strings.Clone(text[:min(len(text), requestlog.MaxCallerText)]) }
	if c.UserAgent = clone(c.UserAgent); info.Route == c.Path {
		c.Path = info.Route
	} else {
		c.Path, c.Route = clone(c.Path), info.Route
	}
	switch c.Method {
	case http.MethodGet:
		c.Method = http.MethodGet
	case http.MethodPost:
		c.Method = http.MethodPost
	default:
		c.Method = clone(c.Method)
	}
	log.Record(c, info.Explain)
}
