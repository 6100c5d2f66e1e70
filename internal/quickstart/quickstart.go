// Package quickstart does the first run of a server: it creates the first project,
// writes its credentials to a file, keeps that file current, and creates the demo
// rooms.
package quickstart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"parley/internal/key"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/room"
)

// FileName is the name of the quickstart file in the data directory.
const FileName = "quickstart.json"

// File is the content of the file that the first start creates: one project
// and all credentials to sign for it. The file is the only place with these
// secrets in clear text; its mode is 0600.
type File struct {
	BaseURL        string `json:"base_url"`
	OrganizationID string `json:"organization_id"`
	ProjectID      string `json:"project_id"`
	ProjectSecret  string `json:"project_secret"`
	APIKey         string `json:"api_key"`
	GatewaySecret  string `json:"gateway_secret"`
	AdminToken     string `json:"admin_token"`
}

// Read reads the quickstart file of a data directory.
func Read(dir string) (File, error) { return readFile(filepath.Join(dir, FileName)) }

func readFile(path string) (File, error) {
	var q File
	raw, err := os.ReadFile(path)
	if err != nil {
		return q, err
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		return q, fmt.Errorf("%s: %w", path, err)
	}
	return q, nil
}

// write replaces the quickstart file of a data directory.
func (q File) write(dir string) error {
	if err := q.prepare(dir); err != nil {
		return err
	}
	return replaceWithPrepared(dir)
}

// preparedSuffix is the suffix of the new file until it replaces the quickstart file.
const preparedSuffix = ".new"

// prepare writes the new file beside the quickstart file.
func (q File) prepare(dir string) error {
	raw, err := json.MarshalIndent(q, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, FileName+preparedSuffix), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	return errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close())
}

// replaceWithPrepared makes the prepared file the quickstart file.
func replaceWithPrepared(dir string) error {
	path := filepath.Join(dir, FileName)
	return os.Rename(path+preparedSuffix, path)
}

// Store runs transactions.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
}

// Config contains the dependencies of a Service.
type Config struct {
	DataDir  string
	BaseURL  string // URL at which browsers reach the server
	Store    Store
	Projects *project.Service
	Keys     *key.Service
	Tokens   *operator.Service
	Rooms    *room.Service
	Log      *slog.Logger
}

// Service creates the quickstart file and keeps it current.
type Service struct {
	dataDir  string
	baseURL  string
	db       Store
	projects *project.Service
	keys     *key.Service
	tokens   *operator.Service
	rooms    *room.Service
	log      *slog.Logger

	mu sync.Mutex // held while the file is updated
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{dataDir: c.DataDir, baseURL: c.BaseURL, db: c.Store, projects: c.Projects, keys: c.Keys,
		tokens: c.Tokens, rooms: c.Rooms, log: c.Log}
}

// Ensure creates the first organization, project, key and management
// token if there is no organization, updates the quickstart file, and prints the
// next steps to out.
func (s *Service) Ensure(ctx context.Context, demo bool, out io.Writer) error {
	empty, err := s.projects.NoOrganizations(ctx)
	if err != nil {
		return err
	}
	var q File
	if empty {
		if q, err = s.createFirstProject(ctx); err != nil {
			return fmt.Errorf("create the first project: %w", err)
		}
	} else if q, err = s.restore(ctx, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "Parley runs at %s\n", s.baseURL)
	if q.ProjectID != "" {
		fmt.Fprintf(out, "\nKeys of the first project: %s\nCreate a room with them:\n  %s\n",
			filepath.Join(s.dataDir, FileName), s.exampleCommand())
	}
	if !demo {
		return nil
	}
	if q.ProjectID == "" {
		return fmt.Errorf("--demo needs %s, which names the project to create rooms in",
			filepath.Join(s.dataDir, FileName))
	}
	return s.createDemoRooms(ctx, q.ProjectID, out)
}

func (s *Service) exampleCommand() string {
	flag := ""
	if s.dataDir != "./data" {
		flag = " --data-dir " + s.dataDir
	}
	return `bin/parley request` + flag + ` POST /api/v3/rooms/create_quick_audio_room --body ` +
		`'{"name":"Amina","max_participants":10,"empty_timeout":300,` +
		`"metadata":{"room_title":"Standup","welcome_message":""}}'`
}

func (s *Service) createFirstProject(ctx context.Context) (File, error) {
	if existing, err := Read(s.dataDir); err == nil && existing.ProjectID != "" {
		return File{}, s.foreignFile(existing)
	}
	q := File{BaseURL: s.baseURL}
	err := s.db.Write(ctx, func(ctx context.Context) error {
		o, err := s.projects.CreateOrganization(ctx, "My organization", project.Plan)
		if err != nil {
			return err
		}
		p, issued, err := s.keys.CreateProject(ctx, o.ID, "My project")
		if err != nil {
			return err
		}
		_, token, err := s.tokens.Create(ctx, "quickstart")
		if err != nil {
			return err
		}
		q.OrganizationID, q.ProjectID = o.ID, p.ID
		q.ProjectSecret, q.APIKey = issued.ProjectSecret.Reveal(), issued.APIKey.Reveal()
		q.GatewaySecret = issued.GatewaySecret.Reveal()
		q.AdminToken = token.Reveal()
		// The file is prepared before the commit, because the secrets cannot be read
		// anywhere else. If the process dies before the commit, the next start creates
		// another project; if it dies after it, the next start finds the prepared file.
		return q.prepare(s.dataDir)
	})
	if err != nil {
		return q, err
	}
	return q, replaceWithPrepared(s.dataDir)
}

// foreignFile returns the error for a quickstart file whose project is not in the
// database. The file may have the only management token of another installation, so
// it is never overwritten.
func (s *Service) foreignFile(q File) error {
	return fmt.Errorf("%s belongs to another installation: its project %s is not in this database. "+
		"Correct --database-url or use another --data-dir; if you no longer need the keys in the file, move it away",
		filepath.Join(s.dataDir, FileName), q.ProjectID)
}

// createDemoRooms creates an audio and a video room and prints their links.
func (s *Service) createDemoRooms(ctx context.Context, projectID string, out io.Writer) error {
	p, err := s.projects.Get(ctx, projectID)
	if err != nil {
		return fmt.Errorf("read the project of %s: %w", FileName, err)
	}
	if err := p.AllowsJoins(); err != nil {
		return fmt.Errorf("--demo: %w", err)
	}
	fmt.Fprintln(out, "\nTo try a room, open its two links in two browsers.")
	for _, kind := range []room.Type{room.Audio, room.Video} {
		created, err := s.rooms.CreateQuick(ctx, p, room.Spec{Type: kind, CreatorName: "Host",
			MaxParticipants: 10, EmptyTimeout: time.Hour, Title: "Demo " + string(kind) + " room",
			WelcomeMessage: "Welcome. This room is for trying things out."}, nil)
		if err != nil {
			return fmt.Errorf("--demo: %w", err)
		}
		fmt.Fprintf(out, "\n  %s room\n    host   %s\n    guest  %s\n", kind, created.FinalLink, created.GuestLink)
	}
	fmt.Fprintln(out)
	return nil
}
