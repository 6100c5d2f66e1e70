package v5

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/requestlog"
)

// getRequests returns a page of recent calls.
func (s *Server) getRequests(c *call) ([]byte, error) {
	limit, below, err := parsePageQuery(c.request.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	if s.options.RequestLog == nil {
		return json.Marshal(RequestsResponse{Data: Requests{Availability: AvailabilityUnavailable,
			Items: []RequestItem{}}})
	}
	page, err := s.options.RequestLog.List(&c.timeout, requestlog.Query{ProjectID: c.key.ProjectID,
		API: version, After: requestlog.Cursor{Below: below}, Limit: limit})
	if err != nil {
		return nil, err
	}
	out := Requests{Availability: AvailabilityAvailable, Items: make([]RequestItem, 0, len(page.Calls))}
	for _, call := range page.Calls {
		out.Items = append(out.Items, newRequestItem(call.Call))
	}
	if page.Next.Below != 0 {
		out.NextCursor = new(encodeCursor(page.Next.Below))
	}
	return json.Marshal(RequestsResponse{Data: out})
}

func newRequestItem(c requestlog.Call) RequestItem {
	i := RequestItem{
		RequestId:  c.RequestID,
		ReceivedAt: Time(c.ReceivedAt),
		Method:     c.Method,
		Path:       c.Path,
		Status:     c.Status,
		Code:       httpx.OrNil(string(codeByStatus[c.Status])),
		DurationMs: float64(c.Micros) / 1000,
		KeySlot:    RequestItemKeySlot(c.KeySlot),
		AuthResult: authResult(c.Cause),
		UserAgent:  httpx.OrNil(c.UserAgent),
	}
	if i.AuthResult != Ok { // version 5 has no hints for other mistakes
		i.Hint = httpx.OrNil(c.Hint)
	}
	if c.HasTimestamp {
		i.ClockSkewSeconds = &c.ClockSkew
	}
	return i
}

// authResult returns the result of checking the signature of a call.
func authResult(cause string) RequestItemAuthResult {
	switch cause {
	case requestlog.CauseRetiredKey, requestlog.CauseStaleTimestamp, requestlog.CauseBadSignature:
		return RequestItemAuthResult(cause)
	}
	return Ok
}

// parsePageQuery reads limit and cursor from a query. It ignores all other
// parameters, even malformed ones. The page lists the calls with numbers below
// the returned one.
func parsePageQuery(query string) (limit int, below int64, err error) {
	below = math.MaxInt64
	values, err := httpx.Query(query, "limit", "cursor")
	if err != nil {
		return 0, 0, err
	}
	if limit, err = httpx.ParseLimit(values); err != nil {
		return 0, 0, err
	}
	if text, sent := values["cursor"]; sent {
		if below, err = parseCursor(text); err != nil {
			return 0, 0, err
		}
	}
	return limit, below, nil
}

// encodeCursor returns the cursor of the page after call n, which lists the calls
// with smaller numbers.
func encodeCursor(n int64) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func parseCursor(text string) (int64, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != 8 || raw[0] > 127 || strings.ContainsAny(text, "\r\n") {
		return 0, httpx.ErrCursor
	}
	return int64(binary.BigEndian.Uint64(raw)), nil
}
