package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/api/roomapi"
	"parley/internal/api/v3"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
)

// domain contains the services that create rooms, as app wires them, on a given store.
type domain struct {
	keys    *key.Service
	rooms   *room.Service
	project project.Project
	issued  key.IssuedCredentials
}

// storage is the store that the domain needs.
type storage interface {
	project.Store
	key.Store
	room.Store
}

// newDomain creates the services on a store, and a project in the store.
func newDomain(ctx context.Context, s storage) (*domain, error) {
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	publicURL := func() string { return "http://127.0.0.1:8080" }
	projects := project.NewService(s, time.Now, newID, func(string) {})
	d := &domain{
		keys: key.NewService(s, projects, time.Now, newID),
		rooms: room.NewService(s, nil, publicURL, time.Now, newID, slog.New(slog.DiscardHandler),
			room.Options{}),
	}
	o, err := projects.CreateOrganization(ctx, "Bench", project.Plan)
	if err != nil {
		return nil, err
	}
	d.project, d.issued, err = d.keys.CreateProject(ctx, project.Draft{OrganizationID: o.ID, Name: "Bench"})
	return d, err
}

// handler is version 3 with the transport around it, access log included.
func (d *domain) handler(service roomapi.Rooms, log io.Writer) http.Handler {
	return httpx.Middleware(v3.NewHandler(service, d.keys, time.Now, v3.Options{}), httpx.Options{
		Log:  slog.New(slog.NewTextHandler(log, nil)),
		Fail: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
	})
}

func (d *domain) serverInfo() serverInfo {
	return serverInfo{ProjectID: d.project.ID, APIKey: d.issued.APIKey.Reveal()}
}
