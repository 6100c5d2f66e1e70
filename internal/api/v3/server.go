package v3

import (
	_ "embed" // the description is served as it is written
	"net/http"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/api/rooms"
)

//go:embed openapi.yaml
var openAPI []byte

// Options is how this version behaves in this installation.
type Options struct {
	rooms.Options
	// KeyHeaderOnly also accepts creations with a live API key in the header key or
	// api-key and no signature, as older clients send them.
	KeyHeaderOnly bool
	// Deprecation is when this version ends.
	Deprecation Deprecation
}

// Server handles the operations of version 3.
type Server struct{ api *rooms.API }

// NewHandler returns the handler of everything under /api/v3/.
func NewHandler(service rooms.Rooms, keys rooms.Keys, now func() time.Time, options Options) http.Handler {
	s := &Server{api: rooms.New("v3", service, keys, now, options.Options)}
	s.api.KeyHeaderOnly, s.api.DuplicateMessage = options.KeyHeaderOnly, true
	mux := httpx.NewMux(rooms.NotFound, s.api.NotAllowed)
	s.api.RegisterCompanion(mux)
	mux.Handle(routes("/api/v3", s))
	return httpx.WithRequestID(options.Deprecation.middleware(now, s.api, mux))
}

// GetDescription writes openapi.yaml.
func (s *Server) GetDescription(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI)
}
