package v4

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/api/rooms"
	"parley/internal/room"
)

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
	request, ignored := readCreation(call.Fields, kind)
	request.CreatorName = rooms.OptionalText(call.Fields, "name")
	if err := call.Fields.Err(); err != nil {
		return err
	}
	if request.StartAt, err = rooms.ParseLocalStart(startAt, s.api.Zone); err != nil {
		return err
	}
	created, err := s.api.Rooms.Schedule(r.Context(), call.Project, request, call.IdempotencyKey)
	if err != nil {
		return err
	}
	call.WriteResult(scheduledCreated(created), created.Adjusted, ignored)
	return nil
}

// CreateQuickVideoRoom creates a video room that is open immediately.
func (s *Server) CreateQuickVideoRoom(w http.ResponseWriter, r *http.Request) {
	if err := s.createQuick(w, r, room.Video); err != nil {
		s.api.WriteError(w, r, err)
	}
}

// CreateQuickAudioRoom creates an audio room that is open immediately.
func (s *Server) CreateQuickAudioRoom(w http.ResponseWriter, r *http.Request) {
	if err := s.createQuick(w, r, room.Audio); err != nil {
		s.api.WriteError(w, r, err)
	}
}

func (s *Server) createQuick(w http.ResponseWriter, r *http.Request, kind room.Type) error {
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
	request, ignored := readCreation(call.Fields, kind)
	request.CreatorName = call.Fields.RequiredText("name")
	if err := call.Fields.Err(); err != nil {
		return err
	}
	created, err := s.api.Rooms.CreateQuick(r.Context(), call.Project, request, call.IdempotencyKey)
	if err != nil {
		return err
	}
	ignored.Add(call.Fields, "", "start_at")
	call.WriteResult(quickCreated(created), created.Adjusted, ignored)
	return nil
}

// readCreation reads the fields that every creation of this version has, and
// names those that were sent and have no effect.
func readCreation(o *httpx.Object, kind room.Type) (room.Spec, rooms.IgnoredFields) {
	request := rooms.ReadCommonFields(o, kind, (*httpx.Object).RequiredIntegerOrDigits)
	request.ExternalUserID = rooms.OptionalText(o, "external_user_id")
	request.LogoutURL = rooms.OptionalText(o, "logout_url")
	request.WebhookURL = rooms.OptionalText(o, "webhook_url")
	metadata := o.Object("metadata")
	features := metadata.Object("room_features")
	if minutes := features.Integer("room_duration"); minutes != nil {
		request.Duration = rooms.Units(*minutes, time.Minute)
	}
	if n := features.Object("breakout_room_features").Integer("allowed_number_rooms"); n != nil {
		request.BreakoutRooms, request.NoBreakoutRooms = *n, *n == 0
	}
	return request, ignoredFields(metadata, features)
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
	change, ignored, err := s.readReschedule(call.Fields)
	if roomID, err = call.CheckRoomID(roomID, err); err != nil {
		return err
	}
	rescheduled, err := s.api.Rooms.Reschedule(ctx, call.Project, roomID, change, call.IdempotencyKey)
	if err != nil {
		return err
	}
	rescheduled.StartAt = rescheduled.StartAt.In(s.api.Zone)
	call.WriteResult(scheduledCreated(rescheduled), rescheduled.Adjusted, ignored)
	return nil
}

func (s *Server) readReschedule(o *httpx.Object) (change room.SpecChange, ignored rooms.IgnoredFields, err error) {
	metadata := o.Object("metadata")
	features := metadata.Object("room_features")
	change = room.SpecChange{MaxParticipants: optionalNumber(o, "max_participants"),
		EmptyTimeout: rooms.OptionalUnits(optionalNumber(o, "empty_timeout"), time.Second), CreatorName: o.Text("name"),
		ExternalUserID: o.Text("external_user_id"), LogoutURL: o.Text("logout_url"), WebhookURL: o.Text("webhook_url"),
		Title: metadata.Text("room_title"), WelcomeMessage: metadata.Text("welcome_message"),
		Duration:      rooms.OptionalUnits(features.Integer("room_duration"), time.Minute),
		BreakoutRooms: features.Object("breakout_room_features").Integer("allowed_number_rooms")}
	if startAt := o.Text("start_at"); startAt != nil {
		change.StartAt, err = rooms.ParseLocalStart(*startAt, s.api.Zone)
	}
	ignored = ignoredFields(metadata, features)
	ignored.Add(o, "", "client_room_id")
	return change, ignored, err
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
func ignoredFields(metadata, features *httpx.Object) rooms.IgnoredFields {
	var names rooms.IgnoredFields
	names.Add(metadata, "metadata.", "default_lock_settings", "logout_url")
	names.AddAllExcept(features, "metadata.room_features.", "room_duration", "breakout_room_features")
	names.AddAllExcept(features.Object("breakout_room_features"), "metadata.room_features.breakout_room_features.",
		"allowed_number_rooms")
	return names
}

func quickCreated(c room.Created) QuickRoomCreated {
	return QuickRoomCreated{Status: true, FinalLink: c.FinalLink, RoomId: uuid.MustParse(c.ID)}
}

func scheduledCreated(c room.Created) ScheduledRoomCreated {
	out := ScheduledRoomCreated{Status: true, Message: "the room is scheduled",
		RoomType:  ScheduledRoomCreatedRoomType(c.Type),
		StartTime: c.StartAt, RoomId: uuid.MustParse(c.ID), FinalLink: c.FinalLink}
	if c.ClientRoomID != "" {
		out.ClientRoomId = &c.ClientRoomID
	}
	return out
}
