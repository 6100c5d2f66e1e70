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
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/shell"
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
func Read(dir string) (File, error) {
	path := filepath.Join(dir, FileName)
	q, err := readFile(path)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("this user cannot read %s: run the command as the user of the server", path)
	}
	return q, err
}

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
	return &Service{
		dataDir:  c.DataDir,
		baseURL:  c.BaseURL,
		db:       c.Store,
		projects: c.Projects,
		keys:     c.Keys,
		tokens:   c.Tokens,
		rooms:    c.Rooms,
		log:      c.Log,
	}
}

// Ensure creates the first organization, project, key and management token if there is
// neither an organization nor a quickstart file, updates the file, and prints the next
// steps to out. A file of another installation and one that cannot be read stay as they
// are.
func (s *Service) Ensure(ctx context.Context, demo bool, out io.Writer) error {
	ctx = audit.WithOrigin(ctx, audit.Origin{Kind: audit.KindService, Node: s.rooms.NodeID()})
	empty, err := s.projects.NoOrganizations(ctx)
	if err != nil {
		return err
	}
	if _, err := s.read(); !errors.Is(err, fs.ErrNotExist) {
		empty = false // the file is restored instead, or refused if it belongs to another database
	}
	var q File
	if empty {
		q, err = s.createFirstProject(ctx)
		switch {
		case errors.Is(err, errProjectExists):
			empty = false
		case err != nil:
			return fmt.Errorf("create the first project: %w", err)
		}
	}
	if !empty {
		if q, err = s.restore(ctx, out); err != nil {
			return err
		}
	}
	hasProject, err := s.hasProject(ctx, q)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Parley runs at %s\nDocumentation: %[1]s/docs\nConsole: %[1]s/console\n", s.baseURL)
	if hasProject {
		fmt.Fprintf(out, "\nKeys of the first project: %s\nCreate a room with them:\n  %s\n",
			filepath.Join(s.dataDir, FileName), s.exampleCommand())
	}
	if !demo {
		return nil
	}
	if !hasProject {
		return fmt.Errorf("--demo needs a project of this server to create rooms in, and %s names none",
			filepath.Join(s.dataDir, FileName))
	}
	return s.createDemoRooms(ctx, q.ProjectID, out)
}

// exampleCommand returns a command for the shell from which this program was started.
func (s *Service) exampleCommand() string {
	flag := ""
	if s.dataDir != "./data" {
		flag = " --data-dir " + shell.Quote(s.dataDir)
	}
	return shell.Quote(os.Args[0]) + ` request` + flag + ` POST /api/v3/rooms/create_quick_audio_room --body ` +
		`'{"name":"Amina","max_participants":10,"empty_timeout":300,` +
		`"metadata":{"room_title":"Standup","welcome_message":""}}'`
}

// errProjectExists is the error of createFirstProject if the database is not empty any more.
var errProjectExists = errors.New("another node has created the first project")

// createFirstProject creates the first project. Of several nodes that start together, one does.
func (s *Service) createFirstProject(ctx context.Context) (File, error) {
	q := File{BaseURL: s.baseURL}
	err := s.db.Write(ctx, func(ctx context.Context) error {
		o, err := s.projects.CreateOrganization(ctx, "My organization", project.Plan)
		if err != nil {
			return err
		}
		// The creation has written an entry of the audit log, which is locked until the commit. So this transaction sees
		// the organization of another node, or that node waits and then sees this one.
		if all, err := s.projects.Organizations(ctx, "", 2); err != nil {
			return err
		} else if len(all) > 1 {
			return errProjectExists
		}
		p, issued, err := s.keys.CreateProject(ctx, project.Draft{OrganizationID: o.ID, Name: "My project"})
		if err != nil {
			return err
		}
		_, token, err := s.tokens.Create(ctx, operator.NewToken{Name: "quickstart"})
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

// CheckNewDatabase returns an error if a data directory has a quickstart file although its
// database is new. The file belongs to another installation then, and may have the only copy
// of its management token. Call it before the database is created, so that nothing changes.
func CheckNewDatabase(dir string) error {
	path := filepath.Join(dir, FileName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s belongs to another installation, because the configured database is new. Correct "+
		"--database-url or use another --data-dir; if you no longer need the keys and the token in the file, move it away",
		path)
}

// read returns the quickstart file. The error names the remedy; it is fs.ErrNotExist if
// there is no file.
func (s *Service) read() (File, error) {
	q, err := Read(s.dataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s cannot be read and is not replaced, because it may have the only copy of a management "+
			"token: correct it or move it away: %w", filepath.Join(s.dataDir, FileName), err)
	}
	return q, err
}

// hasProject reports whether the project of a file is in the database.
func (s *Service) hasProject(ctx context.Context, q File) (bool, error) {
	if q.ProjectID == "" {
		return false, nil
	}
	_, err := s.projects.Get(ctx, q.ProjectID)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// isOwn reports whether a file was written for this database. The project may be deleted
// meanwhile, but a token stays known when it is revoked.
func (s *Service) isOwn(ctx context.Context, q File) (bool, error) {
	if own, err := s.hasProject(ctx, q); own || err != nil {
		return own, err
	}
	return s.tokens.IsKnown(ctx, q.AdminToken)
}

// unknownFile returns the error for a file that isOwn does not recognize. It may be of this
// database after all, if its project was deleted and its token was removed from it.
func (s *Service) unknownFile() error {
	return fmt.Errorf("no owner's token is live, and %s is not replaced: neither its project nor its token is known to "+
		"this database, so it belongs to another installation, or its project was deleted. If it is of another one, "+
		"correct --database-url or use another --data-dir. Otherwise run parley token create --local, or move the file "+
		"away", filepath.Join(s.dataDir, FileName))
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
		created, err := s.rooms.CreateQuick(ctx, p, room.Spec{
			Type:            kind,
			CreatorName:     "Host",
			MaxParticipants: 10,
			EmptyTimeout:    time.Hour,
			Title:           "Demo " + string(kind) + " room",
			WelcomeMessage:  "Welcome. This room is for trying things out.",
		}, nil)
		if err != nil {
			return fmt.Errorf("--demo: %w", err)
		}
		fmt.Fprintf(out, "\n  %s room\n    host   %s\n    guest  %s\n", kind, created.FinalLink, created.GuestLink)
	}
	fmt.Fprintln(out)
	return nil
}
