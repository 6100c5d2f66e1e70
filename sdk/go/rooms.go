package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Metadata is shown to participants.
type Metadata struct {
	// RoomTitle is the main title, 1 to 255 characters, not blank.
	RoomTitle string `json:"room_title"`
	// WelcomeMessage has at most 2,000 characters; line breaks are allowed.
	WelcomeMessage string `json:"welcome_message"`
}

// QuickRoomRequest asks for a room that is open at once.
type QuickRoomRequest struct {
	// Name is the creator's display name, 1 to 255 characters.
	Name string `json:"name"`
	// MaxParticipants is 1 to the limit of the plan, at most 1,000.
	MaxParticipants int `json:"max_participants"`
	// EmptyTimeout is how long a room stays open after the last participant has
	// left, in seconds, 1 to 86,400. 0 means the project's default. A room that
	// nobody enters expires after this time, but not before 300 seconds.
	EmptyTimeout int      `json:"empty_timeout"`
	Metadata     Metadata `json:"metadata"`
	// ClientRoomID is your own id for the room, at most 255 characters, unique in
	// the project forever; ErrConflict if it is taken. Optional.
	ClientRoomID string `json:"client_room_id,omitempty"`
	// IdempotencyKey makes the creation safe to repeat: for 24 hours the same key
	// with the same request gets the first response again, and with another request
	// ErrInvalid. 1 to 255 printable ASCII characters. Optional.
	IdempotencyKey string `json:"-"`
}

// ScheduledRoomV3Request asks version 3 for a room that opens later.
type ScheduledRoomV3Request struct {
	// StartAt is in the future, at most 366 days ahead.
	StartAt time.Time `json:"start_at"`
	// MaxParticipants is 1 to the limit of the plan, at most 1,000.
	MaxParticipants int `json:"max_participants"`
	// EmptyTimeout is how long a room stays open after the last participant has
	// left, in seconds, 1 to 86,400. 0 means the project's default. A room without
	// participants expires 24 hours after StartAt.
	EmptyTimeout int      `json:"empty_timeout"`
	Metadata     Metadata `json:"metadata"`
	// ClientRoomID is as in QuickRoomRequest.
	ClientRoomID string `json:"client_room_id,omitempty"`
	// IdempotencyKey is as in QuickRoomRequest.
	IdempotencyKey string `json:"-"`
}

// ScheduledRoomRequest asks version 4 for a video room that opens later.
type ScheduledRoomRequest struct {
	// StartAt is a local time in the server's scheduling zone, exactly
	// YYYY-MM-DDTHH:MM, in the future and at most 366 days ahead. LocalTime formats
	// one. The zone is UTC unless the operator has set another one, and no call names
	// it. A time that daylight saving skips is ErrInvalid; a time that exists twice
	// means the first.
	StartAt string `json:"start_at"`
	// MaxParticipants is 1 to the limit of the plan, at most 1,000.
	MaxParticipants int `json:"max_participants"`
	// EmptyTimeout is how long a room stays open after the last participant has
	// left, in seconds, 1 to 86,400. 0 means the project's default. A room without
	// participants expires 24 hours after StartAt.
	EmptyTimeout int                   `json:"empty_timeout"`
	Metadata     ScheduledRoomMetadata `json:"metadata"`
	// Name is the creator's display name, at most 255 characters. Required with
	// ExternalUserID.
	Name string `json:"name,omitempty"`
	// ExternalUserID is your own id for the creator, at most 255 characters. It
	// cannot be assigned later. Optional.
	ExternalUserID string `json:"external_user_id,omitempty"`
	// LogoutURL is the page after leaving: an absolute http or https URL without
	// credentials, at most 255 characters. Optional; the project's default applies
	// otherwise.
	LogoutURL string `json:"logout_url,omitempty"`
	// WebhookURL is the room's own webhook target: an absolute http or https URL
	// without credentials, at most 2,048 characters. Optional.
	WebhookURL string `json:"webhook_url,omitempty"`
	// ClientRoomID is as in QuickRoomRequest.
	ClientRoomID string `json:"client_room_id,omitempty"`
	// IdempotencyKey is as in QuickRoomRequest.
	IdempotencyKey string `json:"-"`
}

// ScheduledRoomMetadata is Metadata with the requested features.
type ScheduledRoomMetadata struct {
	Metadata
	// RoomFeatures are optional. Values above the plan's limits are lowered to them
	// and named in ScheduledRoom.FeaturesAdjusted.
	RoomFeatures *RoomFeatures `json:"room_features,omitempty"`
}

// RoomFeatures are the features that a room can request.
type RoomFeatures struct {
	// RoomDuration is in minutes, 1 to 1,440, from the first join; 0 means the
	// plan's limit.
	RoomDuration int `json:"room_duration,omitempty"`
	// BreakoutRooms is nil for the plan's limit.
	BreakoutRooms *BreakoutRoomFeatures `json:"breakout_room_features,omitempty"`
}

// BreakoutRoomFeatures bounds the breakout rooms of a room.
type BreakoutRoomFeatures struct {
	// AllowedNumberRooms is 0 to 16; 0 allows none.
	AllowedNumberRooms int `json:"allowed_number_rooms"`
}

// QuickRoom is the answer to the creation of a quick room.
type QuickRoom struct {
	RoomID string `json:"room_id"`
	// FinalLink is the creator's link. The first browser that joins with it
	// becomes the host; without the part after # it is the link for guests.
	FinalLink string `json:"final_link"`
	// IgnoredFields names what was sent and has no effect, at most 20 names.
	IgnoredFields []string `json:"-"`
	RequestID     string   `json:"-"`
}

// ScheduledRoom is the answer to the creation of a scheduled room.
type ScheduledRoom struct {
	RoomID  string `json:"room_id"`
	Message string `json:"message"`
	// RoomType is "video" or "audio".
	RoomType string `json:"room_type"`
	// StartTime carries the offset of the server's scheduling zone.
	StartTime time.Time `json:"start_time"`
	// ClientRoomID is as it was sent. Version 4 only.
	ClientRoomID string `json:"client_room_id"`
	// FinalLink is as in QuickRoom. Version 4 only.
	FinalLink string `json:"final_link"`
	// FeaturesAdjusted names the features that were lowered to what the plan
	// allows. Version 4 only.
	FeaturesAdjusted []string `json:"-"`
	// IgnoredFields names what was sent and has no effect, at most 20 names.
	IgnoredFields []string `json:"-"`
	RequestID     string   `json:"-"`
}

// LocalTime formats a time for ScheduledRoomRequest.StartAt: in the server's
// scheduling zone, truncated to the minute.
//
// When daylight saving ends, clocks show an hour twice, and the result is the same
// for both times. The server takes the first one, so that a room that should open at
// the second one opens an hour early; ScheduledRoom.StartTime is what the server
// took. The result is never in the hour that clocks skip when daylight saving
// begins, because no time has such a local time, so that ErrInvalid for a skipped
// hour means that schedulingZone is not the zone of the server.
func LocalTime(t time.Time, schedulingZone *time.Location) string {
	return t.In(schedulingZone).Format("2006-01-02T15:04")
}

// CreateQuickAudioRoom makes an audio room that is open at once.
func (c *Client) CreateQuickAudioRoom(ctx context.Context, room QuickRoomRequest) (*QuickRoom, error) {
	return c.quick(ctx, c.versioned("rooms/create_quick_audio_room"), room)
}

// CreateQuickVideoRoom makes a video room that is open at once.
func (c *Client) CreateQuickVideoRoom(ctx context.Context, room QuickRoomRequest) (*QuickRoom, error) {
	return c.quick(ctx, c.versioned("rooms/create_quick_video_room"), room)
}

// CreateScheduledAudioRoom makes an audio room that opens at its start time
// (version 4).
func (c *Client) CreateScheduledAudioRoom(ctx context.Context, room ScheduledRoomRequest) (*ScheduledRoom, error) {
	return c.scheduleV4(ctx, "/api/v4/rooms/create_schedule_audio_room", room)
}

func (c *Client) quick(ctx context.Context, target string, room QuickRoomRequest) (*QuickRoom, error) {
	body := struct {
		ProjectID string `json:"project_id"`
		QuickRoomRequest
	}{c.credentials.ProjectID, room}
	created := new(QuickRoom)
	header, err := c.create(ctx, target, room.ClientRoomID, room.IdempotencyKey, body, created)
	if err != nil {
		return nil, err
	}
	if created.RoomID == "" || created.FinalLink == "" {
		return nil, incompleteError()
	}
	created.IgnoredFields = splitHeader(header, "X-Ignored-Fields")
	created.RequestID = requestID(header)
	return created, nil
}

// CreateScheduledVideoRoom makes a video room that opens at its start time
// (version 4).
func (c *Client) CreateScheduledVideoRoom(ctx context.Context, room ScheduledRoomRequest) (*ScheduledRoom, error) {
	return c.scheduleV4(ctx, "/api/v4/rooms/create_schedule_video_room", room)
}

func (c *Client) scheduleV4(ctx context.Context, target string, room ScheduledRoomRequest) (*ScheduledRoom, error) {
	body := struct {
		ProjectID string `json:"project_id"`
		ScheduledRoomRequest
	}{c.credentials.ProjectID, room}
	return c.schedule(ctx, target, room.ClientRoomID, room.IdempotencyKey, body)
}

// CreateScheduledVideoRoomV3 makes a video room that opens at its start time
// (version 3, which takes an instant in any zone).
func (c *Client) CreateScheduledVideoRoomV3(ctx context.Context, room ScheduledRoomV3Request) (*ScheduledRoom, error) {
	return c.scheduleV3(ctx, "/api/v3/rooms/create_schedule_video_room", room)
}

// CreateScheduledAudioRoomV3 makes an audio room that opens at its start time
// (version 3).
func (c *Client) CreateScheduledAudioRoomV3(ctx context.Context, room ScheduledRoomV3Request) (*ScheduledRoom, error) {
	return c.scheduleV3(ctx, "/api/v3/rooms/create_schedule_audio_room", room)
}

func (c *Client) scheduleV3(ctx context.Context, target string, room ScheduledRoomV3Request) (*ScheduledRoom, error) {
	body := struct {
		ProjectID string `json:"project_id"`
		ScheduledRoomV3Request
	}{c.credentials.ProjectID, room}
	return c.schedule(ctx, target, room.ClientRoomID, room.IdempotencyKey, body)
}

func (c *Client) schedule(ctx context.Context, target, clientRoomID,
	idempotencyKey string, body any) (*ScheduledRoom, error) {
	created := new(ScheduledRoom)
	header, err := c.create(ctx, target, clientRoomID, idempotencyKey, body, created)
	if err != nil {
		return nil, err
	}
	return created.addHeaders(header)
}

// addHeaders sets the fields that come from headers. It fails with
// ErrUnexpectedResponse if the body is incomplete.
func (r *ScheduledRoom) addHeaders(header http.Header) (*ScheduledRoom, error) {
	if r.RoomID == "" || r.StartTime.IsZero() {
		return nil, incompleteError()
	}
	r.FeaturesAdjusted = splitHeader(header, "X-Feature-Adjusted")
	r.IgnoredFields = splitHeader(header, "X-Ignored-Fields")
	r.RequestID = requestID(header)
	return r, nil
}

// create sends a creation. It is repeated only if the server can recognize the
// repetition by an idempotency key or a client_room_id.
func (c *Client) create(ctx context.Context, target, clientRoomID, idempotencyKey string,
	body, into any) (http.Header, error) {
	key, err := c.credentials.bodyKey()
	if err != nil {
		return nil, err
	}
	if err := checkIdempotencyKey(idempotencyKey); err != nil {
		return nil, err
	}
	return c.sendJSON(ctx, &request{
		method:          http.MethodPost,
		target:          target,
		bodyKey:         key,
		idempotencyKey:  idempotencyKey,
		hasClientRoomID: clientRoomID != "",
		repeatable:      idempotencyKey != "" || clientRoomID != "",
	}, body, into)
}

const maxIdempotencyKey = 255

func checkIdempotencyKey(key string) error {
	invalid := len(key) > maxIdempotencyKey || strings.TrimSpace(key) != key // a header loses these spaces on its way
	for i := range len(key) {
		invalid = invalid || key[i] < ' ' || key[i] > '~'
	}
	if invalid {
		return fmt.Errorf("%w: IdempotencyKey must have at most %d characters, all of them printable ASCII, "+
			"and no space at its ends", ErrInvalidArgument, maxIdempotencyKey)
	}
	return nil
}

func incompleteError() error {
	return fmt.Errorf("%w: fields of the room are missing", ErrUnexpectedResponse)
}
