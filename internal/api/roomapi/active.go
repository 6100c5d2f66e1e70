package roomapi

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"parley/internal/room"
)

func (a *API) roomStatus(c *Call) error {
	id, err := c.queryRoomID()
	if err != nil {
		return err
	}
	r, err := a.rooms.GetInProject(c.Request.Context(), c.Project, id)
	if err != nil {
		return err
	}
	c.writeJSON(RoomStatus{Status: r.State == room.Open || r.State == room.Active, Message: "the room is " +
		string(r.State)})
	return nil
}

func (a *API) activeRoom(c *Call) error {
	id, err := c.queryRoomID()
	if err != nil {
		return err
	}
	found, err := a.rooms.RunningRoom(c.Request.Context(), c.Project, id)
	if err != nil {
		return err
	}
	c.writeJSON(ActiveRoomResponse{Status: true, Msg: successMessage, Result: newActiveRoom(found)})
	return nil
}

func (a *API) activeRooms(c *Call) error {
	all, err := a.rooms.RunningRooms(c.Request.Context(), c.Project)
	if err != nil {
		return err
	}
	out := ActiveRooms{Status: true, Msg: successMessage, Rooms: make([]ActiveRoom, 0, len(all))}
	for _, found := range all {
		out.Rooms = append(out.Rooms, newActiveRoom(found))
	}
	c.writeJSON(ActiveRoomsResponse{Response: out})
	return nil
}

const successMessage = "success"

// recordings lists the recordings of a room for older clients. There are none, because this server
// does not record.
func (a *API) recordings(c *Call) error {
	id, err := c.queryRoomID()
	if err != nil {
		return err
	}
	if _, err := a.rooms.GetInProject(c.Request.Context(), c.Project, id); err != nil {
		return err
	}
	c.writeJSON(struct {
		Status bool  `json:"status"`
		Data   []any `json:"data"`
	}{true, []any{}})
	return nil
}

func newActiveRoom(found room.RunningRoom) ActiveRoom {
	r := found.Room
	out := ActiveRoom{ParticipantsInfo: make([]ParticipantInfo, 0, len(found.People)), RoomInfo: RoomInfo{
		RoomId:             uuid.MustParse(r.ID),
		RoomTitle:          r.Title,
		Sid:                sessionID(r.ID, r.Session),
		JoinedParticipants: strconv.Itoa(len(found.People)),
		IsRunning:          1,
		CreationTime:       unixSeconds(r.CreatedAt),
		Metadata:           metadataJSON(r),
		WebhookUrl:         r.WebhookURL,
	}}
	for _, person := range found.People {
		info := ParticipantInfo{
			Identity: person.PublicID(),
			Name:     person.Name,
			Sid:      person.Connection,
			State:    ACTIVE,
			JoinedAt: unixSeconds(person.JoinedAt),
		}
		may := person.Grants
		info.IsPublisher = may.Microphone || may.Camera || may.ScreenShare
		info.Metadata.Role, info.Metadata.IsAdmin, info.Metadata.BreakoutRoom = ParticipantRole(person.Role),
			person.Role == room.Host, person.Breakout
		info.Permission.CanSubscribe, info.Permission.CanChat = true, may.Chat
		info.Permission.CanPublishMicrophone, info.Permission.CanPublishCamera,
			info.Permission.CanPublishScreenShare = may.Microphone, may.Camera, may.ScreenShare
		out.ParticipantsInfo = append(out.ParticipantsInfo, info)
	}
	return out
}

// sessionID returns the id of the latest session of a room, "" if it had none.
func sessionID(roomID string, n int) string {
	if n == 0 {
		return ""
	}
	return room.SessionID(roomID, n)
}

// unixSeconds writes a time as a string of Unix seconds, because existing clients
// read it so.
func unixSeconds(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// metadataJSON returns the metadata of a room's creation as the text of a JSON object.
func metadataJSON(r *room.Room) string {
	type breakout struct {
		Allowed int `json:"allowed_number_rooms"`
	}
	type features struct {
		Duration int      `json:"room_duration"` // minutes
		Breakout breakout `json:"breakout_room_features"`
	}
	text, err := json.Marshal(struct {
		Title    string     `json:"room_title"`
		Welcome  string     `json:"welcome_message"`
		Features features   `json:"room_features"`
		Locks    room.Locks `json:"default_lock_settings"`
	}{r.Title, r.WelcomeMessage, features{int(r.Duration / time.Minute), breakout{r.BreakoutRooms}}, r.Locks})
	if err != nil {
		panic(err) // only texts and numbers
	}
	return string(text)
}
