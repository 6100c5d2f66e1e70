package v3

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/api/rooms"
	"parley/internal/room"
)

// CreateQuickAudioRoom creates an audio room that is open immediately.
func (s *Server) CreateQuickAudioRoom(w http.ResponseWriter, r *http.Request) {
	if err := s.createQuick(w, r, room.Audio); err != nil {
		s.api.WriteError(w, r, err)
	}
}

// CreateQuickVideoRoom creates a video room that is open immediately.
func (s *Server) CreateQuickVideoRoom(w http.ResponseWriter, r *http.Request) {
	if err := s.createQuick(w, r, room.Video); err != nil {
		s.api.WriteError(w, r, err)
	}
}

func (s *Server) createQuick(w http.ResponseWriter, r *http.Request, kind room.Type) error {
	call, err := s.api.AuthenticateCreation(w, r, rooms.AnyProjectID)
	if err != nil {
		return err
	}
	// The key comes before the fields, because its errors come first (Order of checks).
	end, err := s.api.Rooms.BeginIdempotent(r.Context(), call.IdempotencyKey)
	if err != nil {
		return err
	}
	defer end()
	request := rooms.ReadCommonFields(call.Fields, kind, (*httpx.Object).RequiredInteger)
	request.CreatorName = call.Fields.RequiredText("name")
	if err := call.Fields.Err(); err != nil {
		return err
	}
	created, err := s.api.Rooms.CreateQuick(r.Context(), call.Project, request, call.IdempotencyKey)
	if err != nil {
		return err
	}
	call.WriteResult(quickCreated(created), created.Adjusted, ignoredFields(call.Fields, "start_at"))
	return nil
}

// CreateScheduleVideoRoom creates a video room that opens at start_at.
func (s *Server) CreateScheduleVideoRoom(w http.ResponseWriter, r *http.Request) {
	if err := s.createScheduled(w, r, room.Video); err != nil {
		s.api.WriteError(w, r, err)
	}
}

// CreateScheduleAudioRoom creates an audio room that opens at start_at.
func (s *Server) CreateScheduleAudioRoom(w http.ResponseWriter, r *http.Request) {
	if err := s.createScheduled(w, r, room.Audio); err != nil {
		s.api.WriteError(w, r, err)
	}
}

func (s *Server) createScheduled(w http.ResponseWriter, r *http.Request, kind room.Type) error {
	call, err := s.api.AuthenticateCreation(w, r, rooms.UUIDProjectID)
	if err != nil {
		return err
	}
	// The key comes before the fields, because its errors come first (Order of checks).
	end, err := s.api.Rooms.BeginIdempotent(r.Context(), call.IdempotencyKey)
	if err != nil {
		return err
	}
	defer end()
	startAt := call.Fields.RequiredText("start_at")
	request := rooms.ReadCommonFields(call.Fields, kind, (*httpx.Object).RequiredInteger)
	if err := call.Fields.Err(); err != nil {
		return err
	}
	if request.StartAt, err = rooms.ParseStart(startAt, s.api.Zone); err != nil {
		return err
	}
	created, err := s.api.Rooms.Schedule(r.Context(), call.Project, request, call.IdempotencyKey)
	if err != nil {
		return err
	}
	call.WriteResult(scheduledCreated(created), created.Adjusted, ignoredFields(call.Fields, "name"))
	return nil
}

// RescheduleRoom changes a room that is not open yet.
func (s *Server) RescheduleRoom(w http.ResponseWriter, r *http.Request) {
	s.api.ServeReschedule(w, r, s.reschedule)
}

func (s *Server) reschedule(call *rooms.Call) error {
	ctx := call.Request.Context()
	// The key comes before the fields, because its errors come first (Order of checks).
	end, err := s.api.Rooms.BeginIdempotent(ctx, call.IdempotencyKey)
	if err != nil {
		return err
	}
	defer end()
	roomID := call.Fields.RequiredText("room_id")
	change, err := s.readReschedule(call.Fields)
	if roomID, err = call.CheckRoomID(roomID, err); err != nil {
		return err
	}
	rescheduled, err := s.api.Rooms.Reschedule(ctx, call.Project, roomID, change, call.IdempotencyKey)
	if err != nil {
		return err
	}
	rescheduled.StartAt = rescheduled.StartAt.In(s.api.Zone)
	names := ignoredFields(call.Fields, "name")
	names.Add(call.Fields, "", "client_room_id")
	call.WriteResult(scheduledCreated(rescheduled), rescheduled.Adjusted, names)
	return nil
}

func (s *Server) readReschedule(o *httpx.Object) (change room.SpecChange, err error) {
	metadata := o.Object("metadata")
	change = room.SpecChange{MaxParticipants: o.Integer("max_participants"),
		EmptyTimeout: rooms.OptionalUnits(o.Integer("empty_timeout"), time.Second),
		Title:        metadata.Text("room_title"), WelcomeMessage: metadata.Text("welcome_message")}
	if startAt := o.Text("start_at"); startAt != nil {
		change.StartAt, err = rooms.ParseStart(*startAt, s.api.Zone)
	}
	return change, err
}

func quickCreated(c room.Created) QuickRoomCreated {
	return QuickRoomCreated{Status: true, FinalLink: c.FinalLink, RoomId: uuid.MustParse(c.ID)}
}

func scheduledCreated(c room.Created) ScheduledRoomCreated {
	return ScheduledRoomCreated{Status: true, Message: "the room is scheduled",
		RoomType:  ScheduledRoomCreatedRoomType(c.Type),
		StartTime: c.StartAt, RoomId: uuid.MustParse(c.ID)}
}

// ignoredFields names the fields that were sent and have no effect: those that only
// version 4 has, and the field named also, which only other calls of version 3 have.
func ignoredFields(o *httpx.Object, also string) rooms.IgnoredFields {
	var names rooms.IgnoredFields
	names.Add(o, "", also, "external_user_id", "logout_url", "webhook_url")
	names.Add(o.Object("metadata"), "metadata.", "room_features", "default_lock_settings", "logout_url")
	return names
}
