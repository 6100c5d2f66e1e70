package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"parley/internal/db"
	"parley/internal/requestlog"
)

// InsertCalls skips the blocks of projects that do not exist, because nothing would delete them.
func (s *DB) InsertCalls(ctx context.Context, blocks []requestlog.Block) error {
	texts, projects := make([]string, len(blocks)), make([]string, len(blocks))
	var text []byte
	for i, b := range blocks {
		text = append(text[:0], '[')
		for j, c := range b.Calls {
			if j > 0 {
				text = append(text, ',')
			}
			text = appendCallJSON(text, c)
		}
		texts[i], projects[i] = string(append(text, ']')), b.ProjectID
	}
	return s.Write(ctx, func(ctx context.Context) error {
		exists, err := s.holdProjects(ctx, projects)
		if err != nil {
			return err
		}
		for i, b := range blocks {
			if !exists[b.ProjectID] {
				continue
			}
			err := s.Exec(ctx, `INSERT INTO request_log (project_id, api, n, first_n, size, calls, accepted)
				VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (project_id, n) DO NOTHING`,
				b.ProjectID, b.API, b.Last(), b.First(), len(b.Calls), texts[i], b.IsAccepted())
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// appendCallJSON appends a call as JSON. The result is what encoding/json reads
// by the tags of NumberedCall. It takes a sixth of the time of encoding/json,
// which matters because every call is written.
func appendCallJSON(b []byte, c requestlog.NumberedCall) []byte {
	b = strconv.AppendInt(append(b, `{"n":`...), c.N, 10)
	b = appendJSONString(append(b, `,"id":`...), c.RequestID)
	b = c.ReceivedAt.AppendFormat(append(b, `,"at":"`...), time.RFC3339Nano)
	b = appendJSONString(append(b, `","method":`...), c.Method)
	b = appendJSONString(append(b, `,"path":`...), c.Path)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(c.Status), 10)
	b = strconv.AppendInt(append(b, `,"us":`...), c.Micros, 10)
	b = appendJSONString(append(b, `,"slot":`...), c.KeySlot)
	if c.SignerSlot != "" {
		b = appendJSONString(append(b, `,"signer":`...), c.SignerSlot)
	}
	if c.TokenID != "" {
		b = appendJSONString(append(b, `,"token":`...), c.TokenID)
	}
	if c.Route != "" {
		b = appendJSONString(append(b, `,"route":`...), c.Route)
	}
	if c.Cause != "" {
		b = appendJSONString(append(b, `,"cause":`...), c.Cause)
	}
	if c.Hint != "" {
		b = appendJSONString(append(b, `,"hint":`...), c.Hint)
	}
	if c.ClockSkew != 0 {
		b = strconv.AppendInt(append(b, `,"skew":`...), c.ClockSkew, 10)
	}
	if c.HasTimestamp {
		b = append(b, `,"dated":true`...)
	}
	if c.Address != "" {
		b = appendJSONString(append(b, `,"client":`...), c.Address)
	}
	if c.UserAgent != "" {
		b = appendJSONString(append(b, `,"agent":`...), c.UserAgent)
	}
	return append(b, '}')
}

// appendJSONString appends text as a JSON string and replaces invalid UTF-8 by
// U+FFFD.
func appendJSONString(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text) // the only error is invalid UTF-8
	return b
}

// storedCall is a call as a block has it. Blocks that are older than the causes have the
// result of the signature instead.
type storedCall struct {
	requestlog.NumberedCall
	Auth string `json:"auth"`
}

// notAccepted selects the blocks with rejected calls by the indexes that have no others: the first part allows them,
// and the second one makes SQLite prefer them.
const notAccepted = "NOT accepted AND accepted = FALSE"

func (s *DB) Calls(
	ctx context.Context, q requestlog.BlockQuery, each func(requestlog.StoredBlock) error,
) error {
	args := []any{q.ProjectID, q.FirstBelow, q.LastBelow, q.Since, q.Limit}
	where := ""
	if q.API != "" {
		where, args = where+" AND api = $6", append(args, q.API)
	}
	if q.Rejected {
		where += " AND " + notAccepted
	}
	query := `SELECT api, first_n, n, calls FROM request_log
		WHERE project_id = $1` + where + ` AND first_n < $2 AND n < $3 AND n >= $4 ORDER BY n DESC LIMIT $5`
	texts := textsOfMatchingCalls(q.Filter)
	return s.Query(ctx, query, args, func(row db.Row) error {
		var b requestlog.StoredBlock
		var api string
		var text []byte
		if err := row.Scan(&api, &b.First, &b.Last, &text); err != nil {
			return err
		}
		b.Calls = matchingCalls(text, texts, requestlog.BlockPosition{Last: b.Last, ProjectID: q.ProjectID}, api, q.Filter)
		return each(b)
	})
}

func (s *DB) SearchCalls(
	ctx context.Context, after requestlog.BlockPosition, below int64, f requestlog.Filter, limit int,
) (calls []requestlog.NumberedCall, last requestlog.BlockPosition, err error) {
	texts := textsOfMatchingCalls(f)
	read := 0
	err = s.Query(ctx, `SELECT project_id, n, api, calls FROM request_log
		WHERE (n, project_id) > ($1, $2) AND n < $3 ORDER BY n, project_id LIMIT $4`,
		[]any{after.Last, after.ProjectID, below, limit}, func(row db.Row) error {
			read++
			var api string
			var text []byte
			if err := row.Scan(&last.ProjectID, &last.Last, &api, &text); err != nil {
				return err
			}
			before := len(calls)
			for c, err := range matchingCalls(text, texts, last, api, f) {
				if err != nil {
					return err
				}
				calls = append(calls, c)
			}
			slices.Reverse(calls[before:]) // the earliest first
			return nil
		})
	if read < limit {
		last = requestlog.BlockPosition{}
	}
	return calls, last, err
}

// matchingCalls yields the calls of a block of an API that match f, the latest first. The texts are those of
// textsOfMatchingCalls.
func matchingCalls(
	block []byte, texts [][]byte, at requestlog.BlockPosition, api string, f requestlog.Filter,
) iter.Seq2[requestlog.NumberedCall, error] {
	return func(yield func(requestlog.NumberedCall, error) bool) {
		encoded, err := splitCalls(block, texts)
		for i := len(encoded) - 1; i >= 0 && err == nil; i-- {
			var c storedCall
			if err = json.Unmarshal(encoded[i], &c); err != nil {
				break
			}
			c.ProjectID, c.API = at.ProjectID, api
			if c.Cause == "" && c.Auth != "ok" {
				c.Cause = c.Auth
			}
			if f.Matches(&c.Call) && !yield(c.NumberedCall, nil) {
				return
			}
		}
		if err != nil {
			yield(requestlog.NumberedCall{}, fmt.Errorf("calls %d of project %s: %w", at.Last, at.ProjectID, err))
		}
	}
}

// textsOfMatchingCalls returns texts that are in the JSON of each call that matches f. Other
// calls may contain them too.
func textsOfMatchingCalls(f requestlog.Filter) [][]byte {
	var texts [][]byte
	for _, value := range []*string{f.RequestID, f.Cause, f.KeySlot, f.Route} {
		if value != nil && *value != "" { // an empty text may be left out of the JSON
			texts = append(texts, appendJSONString(nil, *value))
		}
	}
	if class := f.MinStatus / 100; class > 0 && class == f.MaxStatus/100 {
		texts = append(texts, fmt.Appendf(nil, `"status":%d`, class))
	}
	return texts
}

// splitCalls returns the JSON of the calls of a block that contain all texts. Decoding takes most of the time of a
// list, so no others are decoded.
func splitCalls(block []byte, texts [][]byte) ([][]byte, error) {
	containsAll := func(text []byte) bool {
		return !slices.ContainsFunc(texts, func(part []byte) bool { return !bytes.Contains(text, part) })
	}
	if !containsAll(block) {
		return nil, nil
	}
	var calls [][]byte
	d := jsontext.NewDecoder(bytes.NewBuffer(block), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil { // the start of the array
		return nil, err
	}
	for d.PeekKind() == '{' {
		text, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		if containsAll(text) {
			end := d.InputOffset()
			calls = append(calls, block[end-int64(len(text)):end])
		}
	}
	_, err := d.ReadToken() // the end of the array
	return calls, err
}

const (
	rejectedBlocks = `project_id = $1 AND api = $2 AND ` + notAccepted
	// acceptedBlocks leaves out the blocks in the index of the others, because SQLite reads all calls of a row to find
	// its accepted, which is behind them.
	acceptedBlocks = `project_id = $1 AND api = $2 AND n NOT IN (SELECT n FROM request_log WHERE ` + rejectedBlocks + `)`
)

func (s *DB) TrimCalls(ctx context.Context, projectID, api string, latest int) error {
	trim := func(ctx context.Context, blocks string, latest int) error {
		return s.Exec(ctx, `DELETE FROM request_log WHERE `+blocks+` AND n <= (SELECT max(n) FROM (
				SELECT n, sum(size) OVER (ORDER BY n DESC ROWS UNBOUNDED PRECEDING) AS total
				FROM request_log WHERE `+blocks+`
			) AS running WHERE total > $3)`, projectID, api, latest)
	}
	count := func(ctx context.Context, blocks string) (calls int, err error) {
		err = s.QueryRow(ctx, nil, `SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM request_log WHERE `+blocks,
			[]any{projectID, api}, &calls)
		return calls, err
	}
	return s.Write(ctx, func(ctx context.Context) error {
		rejected, err := count(ctx, rejectedBlocks)
		if err != nil {
			return err
		}
		if rejected > latest/2 {
			accepted, err := count(ctx, acceptedBlocks)
			if err != nil {
				return err
			}
			if err := trim(ctx, rejectedBlocks, max(latest/2, latest-accepted)); err != nil {
				return err
			}
			if rejected, err = count(ctx, rejectedBlocks); err != nil {
				return err
			}
		}
		return trim(ctx, acceptedBlocks, latest-rejected)
	})
}

func (s *DB) CallProjects(ctx context.Context, api string) ([]string, error) {
	return s.queryStrings(ctx, `SELECT id FROM (SELECT id FROM projects UNION ALL SELECT '') AS p
		WHERE EXISTS (SELECT 1 FROM request_log WHERE request_log.project_id = p.id AND request_log.api = $1)`, api)
}

// AddRejections adds in the order of the keys, so that two nodes do not wait for each
// other.
func (s *DB) AddRejections(ctx context.Context, rejections []requestlog.RejectionCount) error {
	rejections = slices.SortedFunc(slices.Values(rejections), func(a, b requestlog.RejectionCount) int {
		return cmp.Or(a.Day.Compare(b.Day), cmp.Compare(a.API, b.API), cmp.Compare(a.Cause, b.Cause),
			cmp.Compare(a.Address, b.Address))
	})
	return s.Write(ctx, func(ctx context.Context) error {
		for _, r := range rejections {
			err := s.Exec(ctx, `INSERT INTO rejected_calls (day, api, cause, address, calls, last_at)
				VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (day, api, cause, address) DO UPDATE
				SET calls = rejected_calls.calls + excluded.calls, last_at = CASE
					WHEN excluded.last_at > rejected_calls.last_at THEN excluded.last_at ELSE rejected_calls.last_at END`,
				r.Day.UnixMilli(), r.API, r.Cause, r.Address, r.Calls, r.LastAt.UnixMilli())
			if err != nil {
				return err
			}
		}
		return nil
	})
}

var rejectionTable = newTable("rejected_calls",
	timestamp("day", func(r *requestlog.RejectionCount) *time.Time { return &r.Day }),
	text("api", func(r *requestlog.RejectionCount) *string { return &r.API }),
	text("cause", func(r *requestlog.RejectionCount) *string { return &r.Cause }),
	text("address", func(r *requestlog.RejectionCount) *string { return &r.Address }),
	number("calls", func(r *requestlog.RejectionCount) *int64 { return &r.Calls }),
	timestamp("last_at", func(r *requestlog.RejectionCount) *time.Time { return &r.LastAt }),
)

var selectRejections = rejectionTable.selectFrom + `WHERE last_at >= $1
	AND (last_at, day, api, cause, address) < ($2, $3, $4, $5, $6)
	ORDER BY last_at DESC, day DESC, api DESC, cause DESC, address DESC LIMIT $7`

func (s *DB) Rejections(
	ctx context.Context, since time.Time, after requestlog.RejectionCount, limit int,
) ([]requestlog.RejectionCount, error) {
	below := int64(math.MaxInt64)
	if !after.LastAt.IsZero() {
		below = after.LastAt.UnixMilli()
	}
	return queryAll(ctx, s, rejectionTable, selectRejections, since.UnixMilli(), below, after.Day.UnixMilli(), after.API,
		after.Cause, after.Address, limit)
}

func (s *DB) DeleteRejections(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.execCounting(ctx, `DELETE FROM rejected_calls WHERE (day, api, cause, address) IN (
		SELECT day, api, cause, address FROM rejected_calls WHERE day < $1 ORDER BY day LIMIT $2) RETURNING day`,
		before.UnixMilli(), limit)
}

// AddCallTotals adds in the order of the keys, so that two nodes do not wait for each other.
func (s *DB) AddCallTotals(ctx context.Context, totals []requestlog.CallTotal) error {
	totals = slices.SortedFunc(slices.Values(totals), func(a, b requestlog.CallTotal) int {
		return cmp.Or(cmp.Compare(a.ProjectID, b.ProjectID), a.At.Compare(b.At))
	})
	return s.Write(ctx, func(ctx context.Context) error {
		for _, t := range totals {
			err := s.Exec(ctx, `INSERT INTO call_totals (project_id, at, accepted, rejected) VALUES ($1, $2, $3, $4)
				ON CONFLICT (project_id, at) DO UPDATE SET accepted = call_totals.accepted + excluded.accepted,
					rejected = call_totals.rejected + excluded.rejected`, t.ProjectID, t.At.UnixMilli(), t.Accepted, t.Rejected)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *DB) CallTotals(ctx context.Context, projectID string, since time.Time) (requestlog.CallTotal, error) {
	sum := requestlog.CallTotal{ProjectID: projectID, At: since}
	err := s.QueryRow(ctx, nil, `SELECT CAST(coalesce(sum(accepted), 0) AS BIGINT),
			CAST(coalesce(sum(rejected), 0) AS BIGINT) FROM call_totals WHERE project_id = $1 AND at >= $2`,
		[]any{projectID, since.UnixMilli()}, &sum.Accepted, &sum.Rejected)
	return sum, err
}

// MostRejected reads the totals since a time by their time: those of two hours are kept.
func (s *DB) MostRejected(ctx context.Context, since time.Time, limit int) ([]requestlog.CallTotal, error) {
	var all []requestlog.CallTotal
	project := unindexed("project_id")
	err := s.Query(ctx, `SELECT `+project+`, CAST(sum(accepted) AS BIGINT), CAST(sum(rejected) AS BIGINT) AS rejected_sum
		FROM call_totals WHERE at >= $1 AND `+project+` <> '' GROUP BY `+project+` HAVING sum(rejected) > 0
		ORDER BY rejected_sum DESC, 1 LIMIT $2`, []any{since.UnixMilli(), limit}, func(row db.Row) error {
		t := requestlog.CallTotal{At: since}
		err := row.Scan(&t.ProjectID, &t.Accepted, &t.Rejected)
		all = append(all, t)
		return err
	})
	return all, err
}

func (s *DB) DeleteCallTotals(ctx context.Context, before time.Time) error {
	return s.Write(ctx, func(ctx context.Context) error {
		return s.Exec(ctx, `DELETE FROM call_totals WHERE at < $1`, before.UnixMilli())
	})
}
