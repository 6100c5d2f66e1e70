package v3

import (
	"net/http"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/api/rooms"
	"parley/internal/room"
)

func (s *Server) CreateQuickAudioRoom(w http.ResponseWriter, r *http.Request) {
	s.createQuick(w, r, room.Audio)
}

func (s *Server) CreateQuickVideoRoom(w http.ResponseWriter, r *http.Request) {
	s.createQuick(w, r, room.Video)
}

func (s *Server) createQuick(w http.ResponseWriter, r *http.Request, kind room.Type) {
	s.api.Create(w, r, rooms.CreateRoute{AcceptAnyProjectID: true, Create: s.rooms.CreateQuick, Response: quickCreated,
		Read: func(o *httpx.Object) (room.CreateRequest, []string, error) {
			q := rooms.ReadCommonFields(o, kind, (*httpx.Object).RequiredInteger)
			q.Name = o.RequiredText("name")
			return q, ignoredFields(o, "start_at"), nil
		}})
}

func (s *Server) CreateScheduleVideoRoom(w http.ResponseWriter, r *http.Request) {
	s.createScheduled(w, r, room.Video)
}

func (s *Server) CreateScheduleAudioRoom(w http.ResponseWriter, r *http.Request) {
	s.createScheduled(w, r, room.Audio)
}

func (s *Server) createScheduled(w http.ResponseWriter, r *http.Request, kind room.Type) {
	s.api.Create(w, r, rooms.CreateRoute{Create: s.rooms.Schedule, Response: scheduledCreated,
		Read: func(o *httpx.Object) (q room.CreateRequest, _ []string, err error) {
			startAt := o.RequiredText("start_at")
			q = rooms.ReadCommonFields(o, kind, (*httpx.Object).RequiredInteger)
			if o.Err() == nil {
				q.StartAt, err = room.ParseStart(startAt, s.api.Zone)
			}
			return q, ignoredFields(o, "name"), err
		}})
}

func (s *Server) RescheduleRoom(w http.ResponseWriter, r *http.Request) {
	s.companions.Reschedule(w, r, func(o *httpx.Object) (q room.RescheduleRequest, _ []string, err error) {
		metadata := o.Object("metadata")
		q = room.RescheduleRequest{MaxParticipants: o.Integer("max_participants"), EmptyTimeout: o.Integer("empty_timeout"),
			Title: metadata.Text("room_title"), WelcomeMessage: metadata.Text("welcome_message")}
		if startAt := o.Text("start_at"); startAt != nil {
			q.StartAt, err = room.ParseStart(*startAt, s.api.Zone)
		}
		names := rooms.IgnoredFields(ignoredFields(o, "name"))
		names.Add(o, "", "client_room_id")
		return q, names, err
	}, s.rescheduled)
}

func (s *Server) rescheduled(c room.Created) any {
	c.StartAt = c.StartAt.In(s.api.Zone)
	return scheduledCreated(c)
}

func quickCreated(c room.Created) any {
	return QuickRoomCreated{Status: true, FinalLink: c.FinalLink, RoomId: uuid.MustParse(c.ID)}
}

func scheduledCreated(c room.Created) any {
	return ScheduledRoomCreated{Status: true, Message: "the room is scheduled", RoomType: ScheduledRoomCreatedRoomType(c.Type),
		StartTime: c.StartAt, RoomId: uuid.MustParse(c.ID)}
}

// ignoredFields names the fields of version 4 that came along and say nothing here,
// so that a client learns why they had no effect.
func ignoredFields(o *httpx.Object, also string) []string {
	var names rooms.IgnoredFields
	names.Add(o, "", also, "external_user_id", "logout_url", "webhook_url")
	names.Add(o.Object("metadata"), "metadata.", "room_features", "default_lock_settings", "logout_url")
	return names
}
