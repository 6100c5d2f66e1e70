package companion

import (
	"net/url"
	"slices"
	"strings"

	"parley/internal/fault"
)

// queryValues reads the parameters of these names, each sent at most once. Whatever
// else stands in a query is ignored, even if it is malformed.
func (c *call) queryValues(names ...string) (map[string]string, error) {
	values := map[string]string{}
	for pair := range strings.SplitSeq(c.r.URL.RawQuery, "&") {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil || !slices.Contains(names, name) {
			continue
		}
		if _, twice := values[name]; twice {
			return nil, fault.Invalidf("%s must be sent at most once", name)
		}
		if values[name], err = url.QueryUnescape(rawValue); err != nil {
			return nil, fault.Invalidf("%s is not written as a query should be", name)
		}
	}
	return values, nil
}

// queryRoomID reads the room that a query names.
func (c *call) queryRoomID() (string, error) {
	values, err := c.queryValues("room_id")
	if err != nil {
		return "", err
	}
	text, sent := values["room_id"]
	if !sent {
		return "", fault.Invalidf("room_id is required in the query")
	}
	return parseRoomID(text)
}
