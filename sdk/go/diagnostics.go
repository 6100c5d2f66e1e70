package client

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// RequestsQuery selects a page of requests. The zero value selects the first page.
type RequestsQuery struct {
	// Limit is the page size: 1 to 100, more means 100. 0 means the server's
	// default of 50.
	Limit int
	// Cursor is NextCursor of the previous page.
	Cursor string
}

func (q RequestsQuery) target() string {
	var query []string
	if q.Limit != 0 {
		query = append(query, "limit="+strconv.Itoa(q.Limit))
	}
	if q.Cursor != "" {
		query = append(query, "cursor="+url.QueryEscape(q.Cursor))
	}
	if query == nil {
		return "/api/v5/requests"
	}
	return "/api/v5/requests?" + strings.Join(query, "&")
}

// Requests is a page of version 5 calls of the project, newest first.
type Requests struct {
	// Availability is Unavailable if diagnostics are not configured. Items is then
	// empty.
	Availability Availability  `json:"availability"`
	Items        []RequestItem `json:"items"`
	// NextCursor is the cursor of the next page; empty on the last page.
	NextCursor string `json:"next_cursor"`
	GatewayMeta
}

// RequestItem is one call as the server saw it. Refused calls are listed if they
// named a key of the project.
type RequestItem struct {
	RequestID  string    `json:"request_id"`
	ReceivedAt time.Time `json:"received_at"`
	Method     string    `json:"method"`
	// Path does not include the query.
	Path   string `json:"path"`
	Status int    `json:"status"`
	// Code is empty for a success.
	Code string `json:"code"`
	// DurationMS is in milliseconds.
	DurationMS float64 `json:"duration_ms"`
	// KeySlot is "current", "overlap" or "retired".
	KeySlot string `json:"key_slot"`
	// AuthResult is "ok" or the true cause of a 401: "stale_timestamp",
	// "retired_key" or "bad_signature".
	AuthResult string `json:"auth_result"`
	// Hint names a recognized mistake; empty if there is none.
	Hint string `json:"hint"`
	// ClockSkewSeconds is the client's clock minus the server's; nil if the
	// timestamp is not a number.
	ClockSkewSeconds *int64 `json:"clock_skew_seconds"`
	UserAgent        string `json:"user_agent"`
}

// Requests reads one page of recent version 5 calls. They are kept for seven
// days and listed within a second.
func (c *Client) Requests(ctx context.Context, query RequestsQuery) (*Requests, error) {
	page := new(Requests)
	meta, err := c.getV5(ctx, query.target(), page)
	if err != nil {
		return nil, err
	}
	page.GatewayMeta = meta
	return page, nil
}

// RequestPages reads pages on demand, beginning with query. It ends with the first
// error.
func (c *Client) RequestPages(ctx context.Context, query RequestsQuery) iter.Seq2[*Requests, error] {
	return func(yield func(*Requests, error) bool) {
		for query := query; ; {
			page, err := c.Requests(ctx, query)
			if !yield(page, err) || err != nil || page.NextCursor == "" {
				return
			}
			if page.NextCursor == query.Cursor {
				yield(nil, fmt.Errorf("%w: next_cursor is the cursor of the same page", ErrUnexpectedResponse))
				return
			}
			query.Cursor = page.NextCursor
		}
	}
}
