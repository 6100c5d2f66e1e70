package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// The companion routes, with which a backend runs a meeting. They are signed with
// the Gateway secret, time included, and the API key decides the project: rooms of
// other projects are ErrNotFound.
//
// The server executes each signed request once. Two identical calls within one
// second have the same signature, so that without an IdempotencyKey the second one
// is ErrConflict. Give each of them an IdempotencyKey of its own.

// StartRoomRequest asks to open a scheduled room now.
type StartRoomRequest struct {
	RoomID string `json:"room_id"`
	// Name is the host's display name, 1 to 255 characters.
	Name string `json:"name"`
	// ExternalUserID is the value with which the room was created, or empty. It
	// cannot be assigned here.
	ExternalUserID string `json:"external_user_id,omitempty"`
	// IdempotencyKey is as in QuickRoomRequest: the same link again.
	IdempotencyKey string `json:"-"`
}

// StartScheduledRoom opens a scheduled room before its start and returns a new
// link for its host. It also returns a new link if the room is already open.
func (c *Client) StartScheduledRoom(ctx context.Context, room StartRoomRequest) (*QuickRoom, error) {
	opened := new(QuickRoom)
	header, err := c.postRoom(ctx, "start_schedule_room", room.RoomID, room.IdempotencyKey, room, opened)
	if err != nil {
		return nil, err
	}
	if opened.RoomID == "" || opened.FinalLink == "" {
		return nil, incompleteError()
	}
	opened.RequestID = requestID(header)
	return opened, nil
}

// Person is a person who is invited to a room.
type Person struct {
	// Name is the display name, 1 to 255 characters.
	Name string `json:"name"`
	// ClientUserID is your own id for the person, at most 255 characters. It is the
	// identity in participant lists and events, and lets the person take over the
	// seat from another browser. Optional.
	ClientUserID string `json:"client_user_id,omitempty"`
	// IsAdmin makes the person a host.
	IsAdmin bool `json:"is_admin,omitempty"`
	// IsHidden hides the person from the others. Without the project's setting
	// hidden_participants it is ErrForbidden.
	IsHidden bool `json:"is_hidden,omitempty"`
}

// JoinRoomRequest asks for a link for one person.
type JoinRoomRequest struct {
	RoomID string `json:"room_id"`
	Person Person `json:"user_info"`
	// ExpiresIn is in seconds, at most 366 days; 0 means until the room ends.
	ExpiresIn int `json:"expires_in,omitempty"`
	// IdempotencyKey is as in QuickRoomRequest: the same link again.
	IdempotencyKey string `json:"-"`
}

// JoinRoom returns a link for one person. Only the first browser that joins with
// the link can use it.
func (c *Client) JoinRoom(ctx context.Context, request JoinRoomRequest) (link string, err error) {
	var answer struct {
		FinalLink string `json:"final_link"`
	}
	if _, err = c.postRoom(ctx, "join_room", request.RoomID, request.IdempotencyKey, request, &answer); err != nil {
		return "", err
	}
	return requireLink(answer.FinalLink)
}

// InvitationRole is the role of a person who joins with an invitation link.
type InvitationRole string

// The values of InvitationRole.
const (
	Admin  InvitationRole = "admin"  // a co-host; the link admits one person
	Viewer InvitationRole = "viewer" // a guest; the link may be opened by many
)

// InvitationRequest asks for an invitation link.
type InvitationRequest struct {
	RoomID string         `json:"room_id"`
	Role   InvitationRole `json:"role"`
	// UserID is your own id for the person; a second browser takes the seat over.
	// Optional.
	UserID string `json:"user_id,omitempty"`
	// ExpiresIn is as in JoinRoomRequest.
	ExpiresIn int `json:"expires_in,omitempty"`
	// IdempotencyKey is as in QuickRoomRequest: the same link again.
	IdempotencyKey string `json:"-"`
}

// CreateInvitationLink returns an invitation link, which can be forwarded.
func (c *Client) CreateInvitationLink(ctx context.Context, invitation InvitationRequest) (link string, err error) {
	var answer struct {
		InvitationLink string `json:"invitation_link"`
	}
	_, err = c.postRoom(ctx, "create_invitation_link", invitation.RoomID, invitation.IdempotencyKey, invitation, &answer)
	if err != nil {
		return "", err
	}
	return requireLink(answer.InvitationLink)
}

func requireLink(link string) (string, error) {
	if link == "" {
		return "", fmt.Errorf("%w: the link is missing", ErrUnexpectedResponse)
	}
	return link, nil
}

// SimulationRequest asks for a simulated meeting in a room of a test project.
type SimulationRequest struct {
	RoomID string `json:"room_id"`
	// Seconds is the time from the first join to the end of the room, 1 to 60; 0 means 10.
	Seconds int `json:"seconds,omitempty"`
	// People join in this order, at most 20; nil means a host and two guests. The first one stays
	// to the end.
	People []SimulatedPerson `json:"people,omitzero"`
	// IdempotencyKey is as in QuickRoomRequest: no second meeting.
	IdempotencyKey string `json:"-"`
}

// SimulatedPerson is a person who joins a simulated meeting.
type SimulatedPerson struct {
	Name string `json:"name"`
	// UserID is your own id for the person, different for each. Optional.
	UserID string `json:"client_user_id,omitempty"`
	// IsAdmin makes the person a host, who ends the room if they are the first one.
	IsAdmin bool `json:"is_admin,omitempty"`
}

// SimulatedMeeting is a simulated meeting that has begun.
type SimulatedMeeting struct {
	RoomID  string `json:"room_id"`
	People  int    `json:"people"`
	Seconds int    `json:"seconds"`
}

// SimulateMeeting starts a simulated meeting in an open room of a test project, and returns before its
// end. Events, webhooks, attendance and usage are those of a meeting of people. ErrForbidden if
// the project is no test project, ErrConflict if the room is not open or has too few seats.
func (c *Client) SimulateMeeting(ctx context.Context, simulation SimulationRequest) (*SimulatedMeeting, error) {
	begun := new(SimulatedMeeting)
	_, err := c.postRoom(ctx, "simulate_meeting", simulation.RoomID, simulation.IdempotencyKey, simulation, begun)
	if err != nil {
		return nil, err
	}
	if begun.RoomID == "" {
		return nil, fmt.Errorf("%w: the room_id is missing", ErrUnexpectedResponse)
	}
	return begun, nil
}

// EndRoom ends a room for all participants. A room that is not open yet is
// canceled. A room that has ended is ErrConflict.
func (c *Client) EndRoom(ctx context.Context, roomID string) error {
	_, err := c.postRoom(ctx, "end_room", roomID, "", struct {
		RoomID string `json:"room_id"`
	}{roomID}, new(struct{}))
	return err
}

// RescheduleRequest changes a scheduled room. Fields that are zero or nil stay as
// they are.
type RescheduleRequest struct {
	RoomID string `json:"room_id"`
	// StartAt is as in ScheduledRoomRequest.
	StartAt         string `json:"start_at,omitempty"`
	MaxParticipants int    `json:"max_participants,omitempty"`
	// EmptyTimeout of 0 means the project's default.
	EmptyTimeout   *int                `json:"empty_timeout,omitempty"`
	Name           string              `json:"name,omitempty"`
	ExternalUserID string              `json:"external_user_id,omitempty"`
	LogoutURL      string              `json:"logout_url,omitempty"`
	WebhookURL     string              `json:"webhook_url,omitempty"`
	Metadata       *RescheduleMetadata `json:"metadata,omitempty"`
	// IdempotencyKey is as in QuickRoomRequest.
	IdempotencyKey string `json:"-"`
}

// RescheduleMetadata changes the metadata of a room.
type RescheduleMetadata struct {
	RoomTitle      string              `json:"room_title,omitempty"`
	WelcomeMessage string              `json:"welcome_message,omitempty"`
	RoomFeatures   *RescheduleFeatures `json:"room_features,omitempty"`
}

// RescheduleFeatures changes the features of a room. Fields that are nil stay as they
// are.
type RescheduleFeatures struct {
	// RoomDuration is as in RoomFeatures; 0 means the plan's limit.
	RoomDuration  *int                  `json:"room_duration,omitempty"`
	BreakoutRooms *BreakoutRoomFeatures `json:"breakout_room_features,omitempty"`
}

// RescheduleRoom changes a scheduled room; ErrConflict if the room is in another
// state. The answer contains a new link for the host; existing links stay valid.
func (c *Client) RescheduleRoom(ctx context.Context, change RescheduleRequest) (*ScheduledRoom, error) {
	changed := new(ScheduledRoom)
	header, err := c.postRoom(ctx, "reschedule_room", change.RoomID, change.IdempotencyKey, change, changed)
	if err != nil {
		return nil, err
	}
	return changed.addHeaders(header)
}

// postRoom sends a POST about one room to a companion route.
func (c *Client) postRoom(ctx context.Context, route, roomID, idempotencyKey string,
	body, into any) (http.Header, error) {
	if err := checkRoomID(roomID); err != nil {
		return nil, err
	}
	return c.postCompanion(ctx, route, idempotencyKey, body, into)
}

// postCompanion sends a POST to a companion route. It may be repeated if it has an
// idempotency key or only reads.
func (c *Client) postCompanion(ctx context.Context, route, idempotencyKey string, body, into any) (http.Header, error) {
	if err := c.credentials.checkGatewayCredentials(); err != nil {
		return nil, err
	}
	if err := checkIdempotencyKey(idempotencyKey); err != nil {
		return nil, err
	}
	return c.sendJSON(ctx, &request{
		method:         http.MethodPost,
		target:         c.versioned("rooms/" + route),
		gatewaySigned:  true,
		idempotencyKey: idempotencyKey,
		repeatable:     idempotencyKey != "" || route == "fetch_past_rooms",
	}, body, into)
}

// getRoom sends a GET about one room to a companion route.
func (c *Client) getRoom(ctx context.Context, route, roomID string, into any) (http.Header, error) {
	if err := checkRoomID(roomID); err != nil {
		return nil, err
	}
	return c.getCompanion(ctx, route, roomQuery(roomID), into)
}

// getCompanion sends a GET to a companion route.
func (c *Client) getCompanion(ctx context.Context, route string, query url.Values, into any) (http.Header, error) {
	return c.get(ctx, c.versioned(route), query, into)
}

// get sends a GET that is signed with the Gateway secret.
func (c *Client) get(ctx context.Context, target string, query url.Values, into any) (http.Header, error) {
	if err := c.credentials.checkGatewayCredentials(); err != nil {
		return nil, err
	}
	for name, values := range query {
		if err := checkUTF8(name, values[0]); err != nil {
			return nil, err
		}
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	return c.call(ctx, &request{
		method:        http.MethodGet,
		target:        target,
		gatewaySigned: true,
		repeatable:    true,
	}, into)
}

func roomQuery(roomID string) url.Values { return url.Values{"room_id": {roomID}} }
