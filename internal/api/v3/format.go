package v3

import (
	"time"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/api/roomapi"
	"parley/internal/room"
)

// format is the form of the fields and responses of this version.
type format struct{}

// ReadQuick implements roomapi.Format.
func (format) ReadQuick(o *httpx.Object, kind room.Type) (room.Spec, roomapi.IgnoredFields) {
	spec := roomapi.ReadCommonFields(o, kind, (*httpx.Object).RequiredInteger)
	spec.CreatorName = o.RequiredText("name")
	return spec, ignoredFields(o, "start_at")
}

// ReadScheduled implements roomapi.Format.
func (format) ReadScheduled(o *httpx.Object, kind room.Type) (room.Spec, roomapi.IgnoredFields) {
	return roomapi.ReadCommonFields(o, kind, (*httpx.Object).RequiredInteger), ignoredFields(o, "name")
}

// ReadChange implements roomapi.Format.
func (format) ReadChange(o *httpx.Object) (room.SpecChange, roomapi.IgnoredFields) {
	metadata := o.Object("metadata")
	change := room.SpecChange{MaxParticipants: o.Integer("max_participants"),
		EmptyTimeout: roomapi.OptionalUnits(o.Integer("empty_timeout"), time.Second),
		Title:        metadata.Text("room_title"), WelcomeMessage: metadata.Text("welcome_message")}
	ignored := ignoredFields(o, "name")
	ignored.Add(o, "", "client_room_id")
	return change, ignored
}

// ParseStart implements roomapi.Format.
func (format) ParseStart(text string, zone *time.Location) (time.Time, error) {
	return roomapi.ParseStart(text, zone)
}

// QuickResponse implements roomapi.Format.
func (format) QuickResponse(c room.Created) any {
	return QuickRoomCreated{Status: true, FinalLink: c.FinalLink, RoomId: uuid.MustParse(c.ID)}
}

// ScheduledResponse implements roomapi.Format.
func (format) ScheduledResponse(c room.Created) any {
	return ScheduledRoomCreated{
		Status:    true,
		Message:   "the room is scheduled",
		RoomType:  ScheduledRoomCreatedRoomType(c.Type),
		StartTime: c.StartAt,
		RoomId:    uuid.MustParse(c.ID),
	}
}

// ignoredFields names the fields that were sent and have no effect: those that only
// version 4 has, and the field named also, which only other calls of version 3 have.
func ignoredFields(o *httpx.Object, also string) roomapi.IgnoredFields {
	var names roomapi.IgnoredFields
	names.Add(o, "", also, "external_user_id", "logout_url", "webhook_url")
	names.Add(o.Object("metadata"), "metadata.", "room_features", "default_lock_settings", "logout_url")
	return names
}
