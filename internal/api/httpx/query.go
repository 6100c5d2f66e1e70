package httpx

import (
	"net/url"
	"slices"
	"strings"

	"parley/internal/fault"
	"parley/internal/validate"
)

// ownIDs are the names of parameters with an ID that Parley has made. A client_room_id is the caller's own.
var ownIDs = []string{"event_id", "organization_id", "project_id", "room_id"}

// Query returns the parameters of a raw query that have one of the names. It
// ignores all other parameters, even malformed ones. The error is Invalid for a
// parameter that was sent twice or is not percent-encoded correctly. The IDs of Parley's own objects have their
// canonical form.
func Query(rawQuery string, names ...string) (map[string]string, error) {
	values := map[string]string{}
	for pair := range strings.SplitSeq(rawQuery, "&") {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil || !slices.Contains(names, name) {
			continue
		}
		if _, repeated := values[name]; repeated {
			return nil, fault.Invalidf("%s must be sent at most once", name)
		}
		if values[name], err = url.QueryUnescape(rawValue); err != nil {
			return nil, fault.Invalidf("%s in the query is not percent-encoded correctly", name)
		}
		if slices.Contains(ownIDs, name) {
			values[name], _ = validate.ParseUUID(values[name])
		}
	}
	return values, nil
}

// ErrCursor is the error for a cursor of a list that no response contained.
var ErrCursor = fault.Invalidf("cursor must be the next_cursor of an earlier response")

// ParseLimit parses the parameter limit of a query, the page size of a list, in ASCII digits. Without it,
// the page size is [validate.DefaultPage]. A value above [validate.MaxPage] is reduced to it. The error is Invalid.
func ParseLimit(query map[string]string) (int, error) {
	const maximum = validate.MaxPage
	text, sent := query["limit"]
	if !sent {
		return validate.DefaultPage, nil
	}
	n := 0
	for i := range len(text) {
		digit := text[i] - '0'
		if digit > 9 {
			n = 0
			break
		}
		n = min(10*n+int(digit), maximum)
	}
	if n == 0 {
		return 0, fault.Invalidf("limit must be a whole number of at least 1, in digits; more than %d means %d",
			maximum, maximum)
	}
	return n, nil
}
