package v3

import (
	"context"
	"net/http"
	"time"

	"parley/internal/api/web"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
)

// Rooms is what this version needs of the rooms.
type Rooms interface {
	CreateQuick(ctx context.Context, p project.Project, q room.Request) (room.Created, error)
}

// Rings finds the live credentials of a project.
type Rings interface {
	Ring(ctx context.Context, projectID string) (*key.Ring, error)
}

// Options is how this version behaves here.
type Options struct {
	// LegacyKeyHeader lets calls through with a live API key in the header
	// key or api-key and no signature, as older clients send them.
	LegacyKeyHeader bool
}

// Server answers the operations of version 3.
type Server struct {
	rooms   Rooms
	rings   Rings
	now     func() time.Time
	options Options
}

// NewHandler returns the handler of everything under /api/v3/.
func NewHandler(rooms Rooms, rings Rings, now func() time.Time, options Options) http.Handler {
	s := &Server{rooms: rooms, rings: rings, now: now, options: options}
	mux := web.NewMux(notFound, notAllowed)
	h := HandlerWithOptions(s, StdHTTPServerOptions{BaseURL: "/api/v3", BaseRouter: mux, ErrorHandlerFunc: badHeader})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-ID", web.From(r.Context()).ID)
		h.ServeHTTP(w, r)
	})
}
