package v3

import (
	_ "embed" // the description is served as it is written
	"net/http"
	"time"

	"parley/internal/api/legacy"
	"parley/internal/api/web"
)

//go:embed openapi.yaml
var openAPI []byte

// Options is how this version behaves here.
type Options struct {
	// LegacyKeyHeader lets calls through with a live API key in the header
	// key or api-key and no signature, as older clients send them.
	LegacyKeyHeader bool
	Limits          legacy.Limits
	Uses            legacy.Uses // nil counts nothing
	// Retirement is how this version ends.
	Retirement Retirement
	// Zone is the scheduling zone; nil is UTC.
	Zone *time.Location
}

// Server answers the operations of version 3.
type Server struct {
	api   *legacy.API
	rooms legacy.Rooms
}

// NewHandler returns the handler of everything under /api/v3/.
func NewHandler(rooms legacy.Rooms, rings legacy.Rings, now func() time.Time, options Options) http.Handler {
	zone := options.Zone
	if zone == nil {
		zone = time.UTC
	}
	s := &Server{rooms: rooms, api: &legacy.API{Version: "v3", Rooms: rooms, Rings: rings, Limits: options.Limits, Uses: options.Uses,
		Zone: zone, Now: now, KeyHeaderAlone: options.LegacyKeyHeader}}
	mux := web.NewMux(legacy.NotFound, legacy.NotAllowed)
	operations := HandlerWithOptions(s, StdHTTPServerOptions{BaseURL: "/api/v3", BaseRouter: mux, ErrorHandlerFunc: s.api.Refuse})
	return s.api.Handler(options.Retirement.announced(now, operations))
}

// GetDescription implements ServerInterface.
func (s *Server) GetDescription(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI)
}
