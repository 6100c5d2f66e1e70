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
	MarkAttendance(ctx context.Context, roomID, name string, body []byte, exclusive bool) error
}

// Projects is what this version needs of the projects.
type Projects interface {
	SetStatus(ctx context.Context, id string, status project.Status) error
}

// Keys finds who calls.
type Keys interface {
	rooms.Keyrings
	rooms.Keys
}

// Options is how this version behaves here.
type Options struct {
	Limits      rooms.Limits
	CallCounter rooms.CallCounter // nil counts nothing
	// Zone is the scheduling zone; nil is UTC.
	Zone *time.Location
	// Companion is how the companion routes behave.
	Companion rooms.Options
}

// Server answers the operations of version 4.
type Server struct {
	api        *rooms.API
	rooms      Rooms
	projects   Projects
	companions *rooms.Server
	// bodySignatures says that companion routes take bodies that are signed as
	// join events are.
	bodySignatures bool
}

// NewHandler returns the handler of everything under /api/v4/.
func NewHandler(service Rooms, projects Projects, keys Keys, events rooms.Events, now func() time.Time, options Options) http.Handler {
	zone := options.Zone
	if zone == nil {
		zone = time.UTC
	}
	s := &Server{rooms: service, projects: projects, bodySignatures: options.Companion.BodySignatures,
		api: &rooms.API{Version: "v4", Rooms: service, Keyrings: keys, Limits: options.Limits, CallCounter: options.CallCounter, Zone: zone, Now: now}}
	s.companions = rooms.New(s.api, service, keys, options.Companion)
	mux := httpx.NewMux(rooms.NotFound, s.api.NotAllowed)
	s.companions.Register(mux, "/api/v4")
	s.companions.RegisterEvents(mux, "/api/v4", events)
	mux.Handle(routes("/api/v4", s))
	return s.api.WithRequestID(mux)
}

func (s *Server) GetDescription(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI)
}
