package manage

import (
	"github.com/google/uuid"

	"parley/internal/api/httpx"
)

// pageOf returns the page of a list that the parameters limit and cursor of a query choose,
// and the cursor of the next one. Without limit it returns the rest of the list, as before
// there were pages. all is the whole list, in the order of its IDs.
func pageOf[T any](query map[string]string, all []T, id func(T) string) (page []T, next *string, err error) {
	after, _, err := parseOptionalPage(query)
	if err != nil {
		return nil, nil, err
	}
	for len(all) > 0 && id(all[0]) <= after {
		all = all[1:]
	}
	return limitPage(query, all, id)
}

// parseOptionalPage parses the parameters limit and cursor of a list that is returned as a
// whole without limit, as before there were pages. limit is one more than the page may have,
// which shows whether there is another page, or 0 without limit.
func parseOptionalPage(query map[string]string) (after string, limit int, err error) {
	after, sent := query["cursor"]
	if sent && uuid.Validate(after) != nil {
		return "", 0, httpx.ErrCursor
	}
	if _, sent := query["limit"]; !sent {
		return after, 0, nil
	}
	limit, err = httpx.ParseLimit(query)
	return after, limit + 1, err
}

// limitPage returns the first items of a list, as many as the parameter limit says, and the
// cursor of the next page. Without limit it returns the whole list.
func limitPage[T any](query map[string]string, all []T, cursorOf func(T) string) (page []T, next *string, err error) {
	if _, sent := query["limit"]; !sent {
		return all, nil, nil
	}
	limit, err := httpx.ParseLimit(query)
	if err != nil || len(all) <= limit {
		return all, nil, err
	}
	return all[:limit], new(cursorOf(all[limit-1])), nil
}

// cursorOf returns the cursor after a page of a search: next, or the ID up to which the search
// has read, if it has not read everything.
func cursorOf(next *string, unread string) *string {
	if next == nil && unread != "" {
		return &unread
	}
	return next
}

// parsePage parses the query of a list that has only a limit and a cursor, which is the ID of
// the last item of the previous page.
func parsePage(rawQuery string) (cursor string, limit int, err error) {
	query, err := httpx.Query(rawQuery, "limit", "cursor")
	if err != nil {
		return "", 0, err
	}
	return parsePageOf(query)
}

// parsePageOf is parsePage for a query that also has other parameters.
func parsePageOf(query map[string]string) (cursor string, limit int, err error) {
	if limit, err = httpx.ParseLimit(query); err != nil {
		return "", 0, err
	}
	cursor = query["cursor"]
	if cursor != "" && uuid.Validate(cursor) != nil {
		return "", 0, httpx.ErrCursor
	}
	return cursor, limit, nil
}
