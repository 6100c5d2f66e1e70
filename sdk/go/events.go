package client

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// joinRetryWindow is how long a join event may be repeated. The server treats the
// same event within a minute as the same join; the other half of the minute is for
// the last attempt to arrive.
const joinRetryWindow = 30 * time.Second

// JoinEvent reports that a person joined a room in another system.
type JoinEvent struct {
	// RoomID is the room's UUID.
	RoomID string
	// Name is the name of the person, 1 to 255 characters, not blank.
	Name string
}

// JoinEventAnswer is the answer to SendJoinEvent.
type JoinEventAnswer struct {
	Joined    bool   `json:"joined"`
	RequestID string `json:"-"`
}

// SendJoinEvent reports a join, which is recorded in the room's attendance. It
// grants no access and takes no seat. It needs the project secret. It fails with
// ErrConflict for a room that has ended and with ErrNotFound for an unknown one.
func (c *Client) SendJoinEvent(ctx context.Context, event JoinEvent) (*JoinEventAnswer, error) {
	if c.credentials.ProjectSecret == "" {
		return nil, missingCredential("ProjectSecret")
	}
	segment, err := roomPathSegment(event.RoomID)
	if err != nil {
		return nil, err
	}
	if err := checkUTF8("Name", event.Name); err != nil {
		return nil, err
	}
	type userInfo struct {
		Name string `json:"name"`
	}
	body := struct {
		RoomID   string   `json:"room_id"`
		UserInfo userInfo `json:"user_info"`
	}{event.RoomID, userInfo{event.Name}}
	received := new(JoinEventAnswer)
	header, err := c.sendJSON(ctx, &request{
		method:      http.MethodPost,
		target:      "/api/v4/webhook/get_room_events/" + segment,
		bodyKey:     c.credentials.ProjectSecret,
		repeatable:  true,
		retryWindow: joinRetryWindow,
	}, body, received)
	if err != nil {
		return nil, err
	}
	if !received.Joined {
		return nil, fmt.Errorf("%w: joined is not true", ErrUnexpectedResponse)
	}
	received.RequestID = requestID(header)
	return received, nil
}
