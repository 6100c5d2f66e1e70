package v5

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/url"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/requestlog"
)

const (
	defaultLimit = 50
	maxLimit     = 100
)

// getRequests returns a page of recent calls.
func (s *Server) getRequests(c *call) ([]byte, error) {
	limit, below, err := parsePageQuery(c.request.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	if s.options.RequestLog == nil {
		return json.Marshal(RequestsAnswer{Data: Requests{Availability: AvailabilityUnavailable,
			Items: []RequestItem{}}})
	}
	calls, more, err := s.options.RequestLog.List(c.timeoutContext(), c.key.ProjectID, below, limit)
	if err != nil {
		return nil, err
	}
	out := Requests{Availability: AvailabilityAvailable, Items: make([]RequestItem, 0, len(calls))}
	for _, call := range calls {
		out.Items = append(out.Items, newRequestItem(call.Call))
	}
	if more {
		next := encodeCursor(calls[len(calls)-1].N)
		out.NextCursor = &next
	}
	return json.Marshal(RequestsAnswer{Data: out})
}

func newRequestItem(c requestlog.Call) RequestItem {
	i := RequestItem{RequestId: c.RequestID, ReceivedAt: Time(c.ReceivedAt), Method: c.Method, Path: c.Path,
		Status: c.Status,
		Code:   stringOrNil(c.Code), DurationMs: float64(c.Micros) / 1000, KeySlot: RequestItemKeySlot(c.KeySlot),
		AuthResult: RequestItemAuthResult(c.AuthResult), Hint: stringOrNil(c.Hint), UserAgent: stringOrNil(c.UserAgent)}
	if c.HasTimestamp {
		i.ClockSkewSeconds = &c.ClockSkew
	}
	return i
}

func stringOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// parsePageQuery reads limit and cursor from a query. It ignores all other
// parameters, even malformed ones. The page lists the calls with numbers below
// the returned one.
func parsePageQuery(query string) (limit int, below int64, err error) {
	limit, below = defaultLimit, math.MaxInt64
	seen := map[string]bool{}
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil || name != "limit" && name != "cursor" {
			continue
		}
		if seen[name] {
			return 0, 0, fault.Invalidf("%s must be sent at most once", name)
		}
		seen[name] = true
		value, err = url.QueryUnescape(value)
		if err != nil {
			return 0, 0, fault.Invalidf("%s in the query is not percent-encoded correctly", name)
		}
		if name == "limit" {
			limit, err = httpx.ParseLimit(value, maxLimit)
		} else {
			below, err = parseCursor(value)
		}
		if err != nil {
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
		return 0, fault.Invalidf("cursor must be the next_cursor of an earlier answer")
	}
	return int64(binary.BigEndian.Uint64(raw)), nil
}
