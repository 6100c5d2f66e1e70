package v4

import (
	"context"
	_ "embed" // the descriptions are served as they are written
	"time"

	"parley/internal/api/roomapi"
	"parley/internal/project"
	"parley/internal/room"
)

//go:embed openapi.yaml
var descriptionYAML []byte

//go:embed openapi.json
var descriptionJSON []byte

// Rooms is what this version needs of the rooms.
type Rooms interface {
	roomapi.Rooms
	Get(ctx context.Context, id string) (*room.Room, error)
	MarkAttendance(ctx context.Context, p project.Project, roomID, name string, body []byte, exclusive bool) error
}

// Projects is what this version needs of the projects.
type Projects interface {
	SetStatus(ctx context.Context, id string, status project.Status) error
}

// server handles the routes that only this version has.
type server struct {
	rooms     Rooms
	projects  Projects
	exclusive bool // a body that was sent as a join event is not accepted as a call
}

// NewHandler returns the handler of everything under /api/v4/.
func NewHandler(service Rooms, projects Projects, keys roomapi.Keys, events roomapi.Events, now func() time.Time,
	options roomapi.Options) *roomapi.API {
	description := roomapi.Description{YAML: descriptionYAML, JSON: descriptionJSON}
	a := roomapi.New(roomapi.Version{Name: "v4", Description: description, Format: format{}}, service, keys, now, options)
	s := &server{rooms: service, projects: projects, exclusive: options.BodySignatures}
	a.Handle(a.EventRoute(events), s.statusRoute(), s.joinEventRoute())
	return a
}
