package v3

import (
	_ "embed" // the description is served as it is written
	"net/http"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/api/rooms"
)

//go:embed openapi.yaml
var openAPI []byte

// Options is how this version behaves here.
type Options struct {
	// LegacyKeyHeader lets calls through with a live API key in the header
	// key or api-key and no signature, as older clients send them.
	LegacyKeyHeader bool
	Limits          rooms.Limits
	CallCounter     rooms.CallCounter // nil counts nothing
	// Retirement is how this version ends.
	Deprecation Deprecation
	// Zone is the scheduling zone; nil is UTC.
	Zone *time.Location
	// Companion is how the companion routes behave.
	Companion rooms.Options
}

// Rooms is what this version needs of the rooms.
type Rooms interface {
	rooms.Rooms
}

// Keys finds who calls.
type Keys interface {
	rooms.Keyrings
	rooms.Keys
}

// Server answers the operations of version 3.
type Server struct {
	api        *rooms.API
	rooms      Rooms
	companions *rooms.Server
}

// NewHandler returns the handler of everything under /api/v3/.
func NewHandler(service Rooms, keys Keys, now func() time.Time, options Options) http.Handler {
	zone := options.Zone
	if zone == nil {
		zone = time.UTC
	}
	const prefix = "/api/v3"
	s := &Server{rooms: service, api: &rooms.API{Version: "v3", Rooms: service, Keyrings: keys, Limits: options.Limits, CallCounter: options.CallCounter,
		Zone: zone, Now: now, AllowKeyHeaderOnly: options.LegacyKeyHeader,
		DuplicateMessageField: func(path string) bool { return rooms.HasRoute(strings.TrimPrefix(path, prefix)) }}}
	s.companions = rooms.New(s.api, service, keys, options.Companion)
	mux := httpx.NewMux(rooms.NotFound, s.api.NotAllowed)
	s.companions.Register(mux, prefix)
	mux.Handle(routes(prefix, s))
	return s.api.WithRequestID(options.Deprecation.middleware(now, s.api, mux))
}

func (s *Server) GetDescription(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI)
}
