package v3

import (
	_ "embed" // the descriptions are served as they are written
	"time"

	"parley/internal/api/roomapi"
)

//go:embed openapi.yaml
var descriptionYAML []byte

//go:embed openapi.json
var descriptionJSON []byte

// Options is how this version behaves in this installation.
type Options struct {
	roomapi.Options
	// Deprecation is when this version ends.
	Deprecation Deprecation
}

// NewHandler returns the handler of everything under /api/v3/.
func NewHandler(service roomapi.Rooms, keys roomapi.Keys, now func() time.Time, options Options) *roomapi.API {
	return roomapi.New(roomapi.Version{
		Name:             "v3",
		Description:      roomapi.Description{YAML: descriptionYAML, JSON: descriptionJSON},
		Format:           format{},
		AnyProjectID:     true,
		DuplicateMessage: true,
		Middleware:       options.Deprecation.middleware(now),
	}, service, keys, now, options.Options)
}
