package v4

import (
	"context"
	_ "embed" // the description is served as it is written
	"net/http"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/api/rooms"
	"parley/internal/project"
	"parley/internal/room"
)

//go:embed openapi.yaml
var openAPI []byte

// Rooms is what this version needs of the rooms.
type Rooms interface {
	rooms.Rooms
	Get(ctx context.Context, id string) (*room.Room, error)
	MarkAttendance(ctx context.Context, p project.Project, roomID, name string, body []byte, exclusive bool) error
}

// Projects is what this version needs of the projects.
type Projects interface {
	SetStatus(ctx context.Context, id string, status project.Status) error
}

// Server handles the operations of version 4.
type Server struct {
	api      *rooms.API
	rooms    Rooms
	projects Projects
}

// NewHandler returns the handler of everything under /api/v4/.
func NewHandler(service Rooms, projects Projects, keys rooms.Keys, events rooms.Events, now func() time.Time,
	options rooms.Options) http.Handler {
	s := &Server{api: rooms.New("v4", service, keys, now, options), rooms: service, projects: projects}
	mux := httpx.NewMux(rooms.NotFound, s.api.NotAllowed)
	s.api.RegisterCompanion(mux)
	s.api.RegisterEvents(mux, events)
	mux.Handle(routes("/api/v4", s))
	return httpx.WithRequestID(mux)
}

// GetDescription writes openapi.yaml.
func (s *Server) GetDescription(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI)
}
