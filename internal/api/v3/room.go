package v3

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"parley/internal/api/web"
	"parley/internal/room"
)

// CreateQuickAudioRoom implements ServerInterface.
func (s *Server) CreateQuickAudioRoom(w http.ResponseWriter, r *http.Request, _ CreateQuickAudioRoomParams) {
	created, err := s.createQuick(w, r, room.Audio)
	if err != nil {
		refuse(w, r, err)
		return
	}
	web.JSON(w, http.StatusOK, created)
}

func (s *Server) createQuick(w http.ResponseWriter, r *http.Request, kind room.Type) (QuickRoomCreated, error) {
	body, err := web.Body(w, r)
	if err != nil {
		return QuickRoomCreated{}, err
	}
	o, err := web.Parse(body)
	if err != nil {
		return QuickRoomCreated{}, err
	}
	projectID := o.RequiredText("project_id")
	if err := o.Err(); err != nil {
		return QuickRoomCreated{}, err
	}
	p, err := s.authenticate(r, projectID, body)
	if err != nil {
		return QuickRoomCreated{}, err
	}
	if err := p.Admits(); err != nil {
		return QuickRoomCreated{}, err
	}
	wire, err := decodeQuick(o)
	if err != nil {
		return QuickRoomCreated{}, err
	}
	request := room.Request{Type: kind, Name: wire.Name, MaxParticipants: wire.MaxParticipants, EmptyTimeout: wire.EmptyTimeout,
		Title: wire.Metadata.RoomTitle, WelcomeMessage: wire.Metadata.WelcomeMessage}
	if wire.ClientRoomId != nil {
		request.ClientRoomID = *wire.ClientRoomId
	}
	created, err := s.rooms.CreateQuick(r.Context(), p, request)
	if err != nil {
		return QuickRoomCreated{}, err
	}
	id, err := uuid.Parse(created.ID)
	if err != nil {
		return QuickRoomCreated{}, err
	}
	if ignored := ignoredFields(o); len(ignored) > 0 {
		w.Header().Set("X-Ignored-Fields", strings.Join(ignored, ", "))
	}
	return QuickRoomCreated{Status: true, FinalLink: created.FinalLink, RoomId: id}, nil
}

func decodeQuick(o *web.Object) (CreateQuickRoomRequest, error) {
	q := CreateQuickRoomRequest{
		ProjectId:       o.RequiredText("project_id"),
		Name:            o.RequiredText("name"),
		MaxParticipants: o.RequiredInteger("max_participants"),
		EmptyTimeout:    o.RequiredInteger("empty_timeout"),
	}
	metadata := o.RequiredObject("metadata")
	q.Metadata.RoomTitle = metadata.RequiredText("room_title")
	q.Metadata.WelcomeMessage = metadata.RequiredText("welcome_message")
	q.ClientRoomId = o.Text("client_room_id")
	return q, o.Err()
}

// ignoredFields names the fields of version 4 that came along and say nothing
// here, so that a client learns why they had no effect.
func ignoredFields(o *web.Object) []string {
	var names []string
	for _, name := range []string{"start_at", "external_user_id", "logout_url", "webhook_url"} {
		if o.Has(name) {
			names = append(names, name)
		}
	}
	metadata := o.RequiredObject("metadata")
	for _, name := range []string{"room_features", "default_lock_settings", "logout_url"} {
		if metadata.Has(name) {
			names = append(names, "metadata."+name)
		}
	}
	return names
}
