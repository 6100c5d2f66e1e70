package roomapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

// Events reads the events of rooms in the form of webhooks.
type Events interface {
	// EventsAfter returns up to limit events after a number, the number of the last
	// of them, and whether there are more.
	EventsAfter(ctx context.Context, roomID string, after int64, limit int) (bodies []json.RawMessage, last int64,
		more bool, err error)
}

// EventRoute returns the route with which a backend reads the room
// events that it missed. Only version 4 has it.
func (a *API) EventRoute(events Events) Route {
	return Route{Method: http.MethodGet, Path: "/rooms/{room_id}/events", Auth: (*API).authenticateCompanion,
		Handle: func(c *Call) error { return a.roomEvents(c, events) }}
}

func (a *API) roomEvents(c *Call, events Events) error {
	values, err := httpx.Query(c.Request.URL.RawQuery, "after", "limit")
	if err != nil {
		return err
	}
	after := int64(0)
	if text, sent := values["after"]; sent {
		if after, err = parseSequence(text); err != nil {
			return err
		}
	}
	n, err := httpx.ParseLimit(values)
	if err != nil {
		return err
	}
	id, err := parseRoomID(c.Request.PathValue("room_id"))
	if err != nil {
		return err
	}
	if _, err := a.rooms.GetInProject(c.Request.Context(), c.Project, id); err != nil {
		return err
	}
	bodies, last, more, err := events.EventsAfter(c.Request.Context(), id, after, n)
	if err != nil {
		return err
	}
	c.writeJSON(RoomEventsResponse{Events: bodies, NextAfter: last, HasMore: more})
	return nil
}

// maxSequence is the highest integer that every JSON parser represents exactly.
const maxSequence = 1<<53 - 1

// parseSequence reads the number of an event, in digits.
func parseSequence(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 64) // takes no sign, and no space
	if err != nil || n > maxSequence {
		return 0, fault.Invalidf("after must be a whole number from 0 to %d, in digits", int64(maxSequence))
	}
	return int64(n), nil
}
