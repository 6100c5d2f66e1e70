package v4

import (
	"net/http"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/api/rooms"
	"parley/internal/room"
)

func (s *Server) CreateScheduleVideoRoom(w http.ResponseWriter, r *http.Request) {
	s.createScheduled(w, r, room.Video)
}

func (s *Server) CreateScheduleAudioRoom(w http.ResponseWriter, r *http.Request) {
	s.createScheduled(w, r, room.Audio)
}

func (s *Server) CreateQuickVideoRoom(w http.ResponseWriter, r *http.Request) {
	s.createQuick(w, r, room.Video)
}

func (s *Server) CreateQuickAudioRoom(w http.ResponseWriter, r *http.Request) {
	s.createQuick(w, r, room.Audio)
}

func (s *Server) createScheduled(w http.ResponseWriter, r *http.Request, kind room.Type) {
	s.api.Create(w, r, rooms.CreateRoute{Create: s.rooms.Schedule, Response: scheduledCreated,
		Read: func(o *httpx.Object) (room.CreateRequest, []string, error) {
			startAt := o.RequiredText("start_at")
			q, ignored := readRoomRequest(o, kind)
			q.Name = rooms.OptionalText(o, "name")
			if err := o.Err(); err != nil {
				return q, nil, err
			}
			var err error
			q.StartAt, err = room.ParseLocalStart(startAt, s.api.Zone)
			return q, ignored, err
		}})
}

func (s *Server) createQuick(w http.ResponseWriter, r *http.Request, kind room.Type) {
	s.api.Create(w, r, rooms.CreateRoute{Create: s.rooms.CreateQuick, Response: quickCreated,
		Read: func(o *httpx.Object) (room.CreateRequest, []string, error) {
			q, ignored := readRoomRequest(o, kind)
			q.Name = o.RequiredText("name")
			ignored.Add(o, "", "start_at")
			return q, ignored, nil
		}})
}

// readRoomRequest reads what every creation of this version has.
func readRoomRequest(o *httpx.Object, kind room.Type) (room.CreateRequest, rooms.IgnoredFields) {
	q := rooms.ReadCommonFields(o, kind, (*httpx.Object).RequiredIntegerOrDigits)
	q.ExternalUserID = rooms.OptionalText(o, "external_user_id")
	q.LogoutURL = rooms.OptionalText(o, "logout_url")
	q.WebhookURL = rooms.OptionalText(o, "webhook_url")
	metadata := o.Object("metadata")
	features := metadata.Object("room_features")
	if minutes := features.Integer("room_duration"); minutes != nil {
		q.Duration = *minutes
	}
	q.BreakoutRooms = features.Object("breakout_room_features").Integer("allowed_number_rooms")
	return q, ignoredFields(metadata, features)
}

func (s *Server) RescheduleRoom(w http.ResponseWriter, r *http.Request) {
	s.companions.Reschedule(w, r, s.readChange, func(c room.Created) any {
		c.StartAt = c.StartAt.In(s.api.Zone)
		return scheduledCreated(c)
	})
}

func (s *Server) readChange(o *httpx.Object) (q room.RescheduleRequest, _ []string, err error) {
	metadata := o.Object("metadata")
	features := metadata.Object("room_features")
	q = room.RescheduleRequest{MaxParticipants: optionalNumber(o, "max_participants"), EmptyTimeout: optionalNumber(o, "empty_timeout"), Name: o.Text("name"),
		ExternalUserID: o.Text("external_user_id"), LogoutURL: o.Text("logout_url"), WebhookURL: o.Text("webhook_url"),
		Title: metadata.Text("room_title"), WelcomeMessage: metadata.Text("welcome_message"), Duration: features.Integer("room_duration"),
		BreakoutRooms: features.Object("breakout_room_features").Integer("allowed_number_rooms")}
	if startAt := o.Text("start_at"); startAt != nil {
		q.StartAt, err = room.ParseLocalStart(*startAt, s.api.Zone)
	}
	names := ignoredFields(metadata, features)
	names.Add(o, "", "client_room_id")
	return q, names, err
}

// optionalNumber reads an optional number, which may be a string of digits.
func optionalNumber(o *httpx.Object, name string) *int {
	if !o.Has(name) {
		return nil
	}
	n := o.RequiredIntegerOrDigits(name)
	return &n
}

// ignoredFields names what was asked for in vain: features that project and plan
// decide, and what a room takes from its project.
func ignoredFields(metadata, features *httpx.Object) rooms.IgnoredFields {
	var names rooms.IgnoredFields
	names.Add(metadata, "metadata.", "default_lock_settings", "logout_url")
	names.AddAllExcept(features, "metadata.room_features.", "room_duration", "breakout_room_features")
	names.AddAllExcept(features.Object("breakout_room_features"), "metadata.room_features.breakout_room_features.", "allowed_number_rooms")
	return names
}

func quickCreated(c room.Created) any {
	return QuickRoomCreated{Status: true, FinalLink: c.FinalLink, RoomId: uuid.MustParse(c.ID)}
}

func scheduledCreated(c room.Created) any {
	out := ScheduledRoomCreated{Status: true, Message: "the room is scheduled", RoomType: ScheduledRoomCreatedRoomType(c.Type),
		StartTime: c.StartAt, RoomId: uuid.MustParse(c.ID), FinalLink: c.FinalLink}
	if c.ClientRoomID != "" {
		out.ClientRoomId = &c.ClientRoomID
	}
	return out
}
