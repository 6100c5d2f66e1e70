package v4

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
	spec, ignored := readCreation(o, kind)
	spec.CreatorName = o.RequiredText("name")
	ignored.Add(o, "", "start_at")
	return spec, ignored
}

// ReadScheduled implements roomapi.Format.
func (format) ReadScheduled(o *httpx.Object, kind room.Type) (room.Spec, roomapi.IgnoredFields) {
	spec, ignored := readCreation(o, kind)
	spec.CreatorName = roomapi.OptionalText(o, "name")
	return spec, ignored
}

// readCreation reads the fields that every creation of this version has, and
// names those that were sent and have no effect.
func readCreation(o *httpx.Object, kind room.Type) (room.Spec, roomapi.IgnoredFields) {
	spec := roomapi.ReadCommonFields(o, kind, (*httpx.Object).RequiredIntegerOrDigits)
	spec.ExternalUserID = roomapi.OptionalText(o, "external_user_id")
	spec.LogoutURL = roomapi.OptionalText(o, "logout_url")
	spec.WebhookURL = roomapi.OptionalText(o, "webhook_url")
	metadata := o.Object("metadata")
	features := metadata.Object("room_features")
	if minutes := features.Integer("room_duration"); minutes != nil {
		spec.Duration = roomapi.Units(*minutes, time.Minute)
	}
	if n := features.Object("breakout_room_features").Integer("allowed_number_rooms"); n != nil {
		spec.BreakoutRooms, spec.NoBreakoutRooms = *n, *n == 0
	}
	return spec, ignoredFields(metadata, features)
}

// ReadChange implements roomapi.Format.
func (format) ReadChange(o *httpx.Object) (room.SpecChange, roomapi.IgnoredFields) {
	metadata := o.Object("metadata")
	features := metadata.Object("room_features")
	change := room.SpecChange{
		MaxParticipants: optionalNumber(o, "max_participants"),
		EmptyTimeout:    roomapi.OptionalUnits(optionalNumber(o, "empty_timeout"), time.Second),
		CreatorName:     o.Text("name"),
		ExternalUserID:  o.Text("external_user_id"),
		LogoutURL:       o.Text("logout_url"),
		WebhookURL:      o.Text("webhook_url"),
		Title:           metadata.Text("room_title"),
		WelcomeMessage:  metadata.Text("welcome_message"),
		Duration:        roomapi.OptionalUnits(features.Integer("room_duration"), time.Minute),
		BreakoutRooms:   features.Object("breakout_room_features").Integer("allowed_number_rooms"),
	}
	ignored := ignoredFields(metadata, features)
	ignored.Add(o, "", "client_room_id")
	return change, ignored
}

// ParseStart implements roomapi.Format.
func (format) ParseStart(text string, zone *time.Location) (time.Time, error) {
	return roomapi.ParseLocalStart(text, zone)
}

// QuickResponse implements roomapi.Format.
func (format) QuickResponse(c room.Created) any {
	return QuickRoomCreated{Status: true, FinalLink: c.FinalLink, RoomId: uuid.MustParse(c.ID)}
}

// ScheduledResponse implements roomapi.Format.
func (format) ScheduledResponse(c room.Created) any {
	out := ScheduledRoomCreated{
		Status:    true,
		Message:   "the room is scheduled",
		RoomType:  ScheduledRoomCreatedRoomType(c.Type),
		StartTime: c.StartAt,
		RoomId:    uuid.MustParse(c.ID),
		FinalLink: c.FinalLink,
	}
	if c.ClientRoomID != "" {
		out.ClientRoomId = &c.ClientRoomID
	}
	return out
}

// optionalNumber reads an optional number, which may be a string of digits.
func optionalNumber(o *httpx.Object, name string) *int {
	if !o.Has(name) {
		return nil
	}
	n := o.RequiredIntegerOrDigits(name)
	return &n
}

// ignoredFields names the fields without effect: features that the project and
// the plan decide, and what a room inherits from its project.
func ignoredFields(metadata, features *httpx.Object) roomapi.IgnoredFields {
	var names roomapi.IgnoredFields
	names.Add(metadata, "metadata.", "default_lock_settings", "logout_url")
	names.AddAllExcept(features, "metadata.room_features.", "room_duration", "breakout_room_features")
	names.AddAllExcept(features.Object("breakout_room_features"), "metadata.room_features.breakout_room_features.",
		"allowed_number_rooms")
	return names
}
