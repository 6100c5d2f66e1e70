package v4

import (
	"net/http"

	"github.com/google/uuid"

	"parley/internal/api/legacy"
	"parley/internal/api/web"
	"parley/internal/room"
)

// CreateScheduleVideoRoom implements ServerInterface.
func (s *Server) CreateScheduleVideoRoom(w http.ResponseWriter, r *http.Request, _ CreateScheduleVideoRoomParams) {
	s.api.Create(w, r, legacy.Creation{Make: s.rooms.Schedule, Answer: scheduledCreated, Read: s.readScheduled})
}

func (s *Server) readScheduled(o *web.Object) (room.Request, []string, error) {
	startAt := o.RequiredText("start_at")
	q := legacy.Common(o, room.Video, (*web.Object).RequiredNumber)
	q.Name = legacy.Text(o, "name")
	q.ExternalUserID = legacy.Text(o, "external_user_id")
	q.LogoutURL = legacy.Text(o, "logout_url")
	q.WebhookURL = legacy.Text(o, "webhook_url")
	metadata := o.Object("metadata")
	features := metadata.Object("room_features")
	if minutes := features.Integer("room_duration"); minutes != nil {
		q.Duration = *minutes
	}
	q.BreakoutRooms = features.Object("breakout_room_features").Integer("allowed_number_rooms")
	if err := o.Err(); err != nil {
		return q, nil, err
	}
	var err error
	q.StartAt, err = room.ParseLocalStart(startAt, s.api.Zone)
	return q, ignored(metadata, features), err
}

// ignored names what was asked for in vain: features that project and plan
// decide, and what a room takes from its project.
func ignored(metadata, features *web.Object) []string {
	var names legacy.Ignored
	names.Add(metadata, "metadata.", "default_lock_settings", "logout_url")
	names.AddOthers(features, "metadata.room_features.", "room_duration", "breakout_room_features")
	names.AddOthers(features.Object("breakout_room_features"), "metadata.room_features.breakout_room_features.", "allowed_number_rooms")
	return names
}

func scheduledCreated(c room.Created) any {
	out := ScheduledRoomCreated{Status: true, Message: "the room is scheduled", RoomType: ScheduledRoomCreatedRoomType(c.Type),
		StartTime: c.StartAt, RoomId: uuid.MustParse(c.ID), FinalLink: c.FinalLink}
	if c.ClientRoomID != "" {
		out.ClientRoomId = &c.ClientRoomID
	}
	return out
}
