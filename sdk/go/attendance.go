package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// RoomStatus returns whether a room can be joined now, and a message that describes
// its state.
func (c *Client) RoomStatus(ctx context.Context, roomID string) (open bool, message string, err error) {
	var answer struct {
		Status  bool   `json:"status"`
		Message string `json:"message"`
	}
	_, err = c.getRoom(ctx, "rooms/room_status", roomID, &answer)
	return answer.Status, answer.Message, err
}

// ActiveRoom is a room that is open or active, with its participants.
type ActiveRoom struct {
	Info         RoomInfo          `json:"room_info"`
	Participants []ParticipantInfo `json:"participants_info"`
}

// RoomInfo describes a room that is open or active.
type RoomInfo struct {
	RoomID string `json:"room_id"`
	Title  string `json:"room_title"`
	// SID identifies the session; it is empty before the first join.
	SID string `json:"sid"`
	// JoinedParticipants is the number of participants in the room.
	JoinedParticipants int `json:"joined_participants,string"`
	// CreationTime is in Unix seconds.
	CreationTime int64 `json:"creation_time,string"`
	// Metadata is the text of a JSON object.
	Metadata   string `json:"metadata"`
	WebhookURL string `json:"webhook_url"`
}

// ParticipantInfo is a participant of a room. Hidden participants are not
// listed.
type ParticipantInfo struct {
	// Identity is your own id for the person, or the server's.
	Identity string `json:"identity"`
	Name     string `json:"name"`
	// SID identifies the connection.
	SID string `json:"sid"`
	// JoinedAt is in Unix seconds.
	JoinedAt int64 `json:"joined_at,string"`
	// IsPublisher reports whether the participant may publish audio or video.
	IsPublisher bool `json:"is_publisher"`
	Metadata    struct {
		// Role is "host", "cohost" or "guest".
		Role    string `json:"role"`
		IsAdmin bool   `json:"is_admin"`
		// BreakoutRoom is the number of the breakout room; 0 is the main room.
		BreakoutRoom int `json:"breakout_room"`
	} `json:"metadata"`
}

// ActiveRoom returns a room with its participants; ErrNotFound when it is not open
// or active.
func (c *Client) ActiveRoom(ctx context.Context, roomID string) (*ActiveRoom, error) {
	var answer struct {
		Result *ActiveRoom `json:"result"`
	}
	if _, err := c.getRoom(ctx, "rooms/get_active_room_info", roomID, &answer); err != nil {
		return nil, err
	}
	if answer.Result == nil {
		return nil, incompleteError()
	}
	return answer.Result, nil
}

const activeRoomsPath = "rooms/get_active_rooms_info"

// ActiveRooms returns all rooms of the project that are open or active, the
// oldest first. The response may be as large as 64 MiB.
func (c *Client) ActiveRooms(ctx context.Context) ([]ActiveRoom, error) {
	var answer struct {
		Response struct {
			Rooms []ActiveRoom `json:"rooms"`
		} `json:"response"`
	}
	_, err := c.getCompanion(ctx, activeRoomsPath, nil, &answer)
	return answer.Response.Rooms, err
}

// ListedRoom is a room in a list. A time that has not been reached is nil.
type ListedRoom struct {
	RoomID       string `json:"room_id"`
	ClientRoomID string `json:"client_room_id"`
	// RoomType is "video" or "audio".
	RoomType string `json:"room_type"`
	// State is "scheduled", "open", "active", "ended", "cancelled" or "expired".
	State string `json:"state"`
	// EndReason is empty unless the room has ended.
	EndReason          string     `json:"end_reason"`
	Title              string     `json:"room_title"`
	JoinedParticipants int        `json:"joined_participants"`
	MaxParticipants    int        `json:"max_participants"`
	CreatedAt          time.Time  `json:"created_at"`
	StartAt            *time.Time `json:"start_at"`
	OpenedAt           *time.Time `json:"opened_at"`
	StartedAt          *time.Time `json:"started_at"`
	EndedAt            *time.Time `json:"ended_at"`
}

// Rooms returns the rooms of the project in a state, or all rooms when state is
// empty, the newest first. It reads pages on demand and ends with the first
// error.
func (c *Client) Rooms(ctx context.Context, state string) iter.Seq2[ListedRoom, error] {
	return func(yield func(ListedRoom, error) bool) {
		query := url.Values{"limit": {"100"}}
		if state != "" {
			query.Set("state", state)
		}
		for {
			var page struct {
				Rooms      []ListedRoom `json:"rooms"`
				NextCursor string       `json:"next_cursor"`
			}
			if _, err := c.getCompanion(ctx, "rooms/list_rooms", query, &page); err != nil {
				yield(ListedRoom{}, err)
				return
			}
			for _, room := range page.Rooms {
				if !yield(room, nil) {
					return
				}
			}
			if page.NextCursor == "" {
				return
			}
			query.Set("cursor", page.NextCursor)
		}
	}
}

// PastRoomsRequest selects rooms that have ended, expired or been canceled.
type PastRoomsRequest struct {
	// RoomIDs has at most 100 IDs. nil means all rooms, and an empty slice none.
	RoomIDs []string `json:"room_ids,omitzero"`
	// From is the number of rooms to skip.
	From int `json:"from,omitempty"`
	// Limit is 1 to 100; 0 means 20.
	Limit int `json:"limit,omitempty"`
	// OrderBy is "ASC" or "DESC", by the time of the end; empty means "DESC".
	OrderBy string `json:"order_by,omitempty"`
}

// PastRooms is a page of past rooms.
type PastRooms struct {
	// Total is the number of rooms on all pages.
	Total int        `json:"total_rooms,string"`
	Rooms []PastRoom `json:"rooms_list"`
}

// PastRoom is a room that has ended, expired or been canceled.
type PastRoom struct {
	RoomID  string    `json:"room_id"`
	RoomSID string    `json:"room_sid"`
	Title   string    `json:"room_title"`
	Created time.Time `json:"created"`
	Ended   time.Time `json:"ended"`
	// JoinedParticipants is the number of people who joined.
	JoinedParticipants int    `json:"joined_participants,string"`
	WebhookURL         string `json:"webhook_url"`
}

// PastRooms lists rooms that have ended, expired or been canceled.
func (c *Client) PastRooms(ctx context.Context, selection PastRoomsRequest) (*PastRooms, error) {
	var answer struct {
		Rooms *PastRooms `json:"rooms"`
	}
	if _, err := c.postCompanion(ctx, "fetch_past_rooms", "", selection, &answer); err != nil {
		return nil, err
	}
	if answer.Rooms == nil {
		return nil, incompleteError()
	}
	return answer.Rooms, nil
}

// AllPastRooms returns the past rooms that a request selects, beginning with its From. It reads pages
// on demand and ends with the first error.
func (c *Client) AllPastRooms(ctx context.Context, selection PastRoomsRequest) iter.Seq2[PastRoom, error] {
	return func(yield func(PastRoom, error) bool) {
		for selection := selection; ; {
			page, err := c.PastRooms(ctx, selection)
			if err != nil {
				yield(PastRoom{}, err)
				return
			}
			for _, room := range page.Rooms {
				if !yield(room, nil) {
					return
				}
			}
			selection.From += len(page.Rooms)
			if len(page.Rooms) == 0 || selection.From >= page.Total {
				return
			}
		}
	}
}

// Analytics is the attendance of a room. Hidden participants are not listed.
type Analytics struct {
	RoomID string `json:"room_id"`
	// AsOf is the time up to which current participants are counted.
	AsOf time.Time `json:"as_of"`
	// Durations are in seconds, by identity, and TotalDuration is their sum.
	Durations     map[string]float64 `json:"participant_durations"`
	TotalDuration float64            `json:"total_duration"`
	Participants  []Attendee         `json:"participants"`
	// Reported are the people whom join events reported. They are in no other field.
	Reported []ReportedAttendee `json:"reported"`
}

// ReportedAttendee is a person whom a join event reported.
type ReportedAttendee struct {
	Name string `json:"name"`
	// At is the time of the join event.
	At time.Time `json:"at"`
	// Source is "external".
	Source string `json:"source"`
}

// Attendee is one person, over all of their connections.
type Attendee struct {
	// Identity is your own id for the person, or the server's.
	Identity string `json:"identity"`
	Name     string `json:"name"`
	// Role is "host", "cohost" or "guest".
	Role     string    `json:"role"`
	JoinedAt time.Time `json:"joined_at"`
	// LeftAt is nil while the attendee is in the room.
	LeftAt *time.Time `json:"left_at"`
	// Duration is in seconds.
	Duration    float64 `json:"duration"`
	Connections int     `json:"connections"`
}

// Analytics returns the attendance of a room so far.
func (c *Client) Analytics(ctx context.Context, roomID string) (*Analytics, error) {
	found := new(Analytics)
	if _, err := c.getRoom(ctx, "analytics/get_analytics", roomID, found); err != nil {
		return nil, err
	}
	if found.RoomID == "" {
		return nil, incompleteError()
	}
	return found, nil
}

// ExportAttendance returns the attendance of a room as CSV, a line for each
// connection.
func (c *Client) ExportAttendance(ctx context.Context, roomID string) ([]byte, error) {
	if err := checkRoomID(roomID); err != nil {
		return nil, err
	}
	if err := c.credentials.checkGatewayCredentials(); err != nil {
		return nil, err
	}
	return c.document(ctx, &request{
		method:        http.MethodGet,
		target:        c.versioned("analytics/export_attendance") + "?" + roomQuery(roomID).Encode(),
		gatewaySigned: true,
		repeatable:    true,
	})
}
