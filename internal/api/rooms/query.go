package rooms

import (
	"parley/internal/api/httpx"
	"parley/internal/fault"
)

// queryRoomID reads room_id from the query.
func (c *Call) queryRoomID() (string, error) {
	values, err := httpx.Query(c.Request.URL.RawQuery, "room_id")
	if err != nil {
		return "", err
	}
	text, sent := values["room_id"]
	if !sent {
		return "", fault.Invalidf("room_id is required in the query")
	}
	return parseRoomID(text)
}
