package client

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// RoomEvent is an event of a room, or in a webhook also one of the project.
type RoomEvent struct {
	// ID is the same in the list of a room's events and in each webhook.
	ID string `json:"id"`
	// Type is "room.opened", "participant.joined" and so on.
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	// Sequence numbers the events of the room. RoomEvents continues after it.
	Sequence int64 `json:"sequence"`
	// Previous is the Sequence of the preceding event; 0 for the first one.
	Previous  int64         `json:"previous"`
	ProjectID string        `json:"project_id"`
	Data      RoomEventData `json:"data"`
}

// RoomEventData is the data of an event. Fields that do not apply are zero or nil.
type RoomEventData struct {
	RoomID       string `json:"room_id"`
	ClientRoomID string `json:"client_room_id"`
	SessionID    string `json:"session_id"`
	// RoomType is "video" or "audio".
	RoomType string     `json:"room_type"`
	StartAt  *time.Time `json:"start_at"`
	// EndReason is the reason why the room has ended.
	EndReason string `json:"end_reason"`
	// Participant is the participant who joined or left.
	Participant *EventParticipant `json:"participant"`
	// Mark is the attendance that another system reported, in participant.reported.
	Mark *struct {
		Name string `json:"name"`
		// Source is "external".
		Source string `json:"source"`
	} `json:"mark"`
	// Refusal describes a person who was refused because the room was full.
	Refusal *struct {
		Name string `json:"name"`
		Code string `json:"code"`
	} `json:"refusal"`
	// Status and Suspended are the new state of the project, in project.status_changed.
	Status    string `json:"status"`
	Suspended *bool  `json:"suspended"`
	// Credential is "api_key" or "project_secret" in key.rotated and
	// key.overlap_ending, and OverlapEndsAt is when its previous value stops working.
	Credential    string     `json:"credential"`
	OverlapEndsAt *time.Time `json:"overlap_ends_at"`
	// Feedback is how a participant rated the meeting.
	Feedback *struct {
		Identity string `json:"identity"`
		Name     string `json:"name"`
		// Role is "host", "cohost" or "guest".
		Role string `json:"role"`
		// Rating is "good" or "bad".
		Rating string `json:"rating"`
	} `json:"feedback"`
}

// EventParticipant is a participant who joined or left.
type EventParticipant struct {
	// Identity is your own id for the person, or the server's.
	Identity string `json:"identity"`
	Name     string `json:"name"`
	// Role is "host", "cohost" or "guest".
	Role      string `json:"role"`
	SessionID string `json:"session_id"`
	// ConnectionID is the same in the joined and the left event of a connection.
	ConnectionID string    `json:"connection_id"`
	JoinedAt     time.Time `json:"joined_at"`
	// Reason is the reason for leaving.
	Reason string `json:"reason"`
}

// RoomEvents returns the events of a room after a Sequence, 0 for all, the oldest
// first. It reads pages on demand, and ends after the last event so far or with
// the first error. A later call with the last Sequence misses no events.
func (c *Client) RoomEvents(ctx context.Context, roomID string, after int64) iter.Seq2[RoomEvent, error] {
	return func(yield func(RoomEvent, error) bool) {
		for more := true; more; {
			page, err := c.roomEvents(ctx, roomID, after)
			if err != nil {
				yield(RoomEvent{}, err)
				return
			}
			for _, event := range page.Events {
				if !yield(event, nil) {
					return
				}
			}
			after, more = page.NextAfter, page.HasMore
		}
	}
}

type eventsPage struct {
	Events    []RoomEvent `json:"events"`
	NextAfter int64       `json:"next_after"`
	HasMore   bool        `json:"has_more"`
}

func (c *Client) roomEvents(ctx context.Context, roomID string, after int64) (*eventsPage, error) {
	segment, err := roomPathSegment(roomID)
	if err != nil {
		return nil, err
	}
	page := new(eventsPage)
	query := url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {"100"}}
	if _, err := c.get(ctx, "/api/v4/rooms/"+segment+"/events", query, page); err != nil {
		return nil, err
	}
	if page.HasMore && page.NextAfter <= after {
		return nil, fmt.Errorf("%w: next_after does not increase", ErrUnexpectedResponse)
	}
	return page, nil
}
