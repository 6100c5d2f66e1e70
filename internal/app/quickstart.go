package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"parley/internal/project"
	"parley/internal/room"
)

// QuickstartFile is the name of the quickstart file in the data directory.
const QuickstartFile = "quickstart.json"

// Quickstart is the content of the file that the first start creates: one project
// and all credentials to sign for it. The file is the only place with these
// secrets in clear text; its mode is 0600.
type Quickstart struct {
	BaseURL        string `json:"base_url"`
	OrganizationID string `json:"organization_id"`
	ProjectID      string `json:"project_id"`
	ProjectSecret  string `json:"project_secret"`
	APIKey         string `json:"api_key"`
	GatewaySecret  string `json:"gateway_secret"`
	AdminToken     string `json:"admin_token"`
}

// ReadQuickstart reads the quickstart file of a data directory.
func ReadQuickstart(dir string) (Quickstart, error) {
	var q Quickstart
	raw, err := os.ReadFile(filepath.Join(dir, QuickstartFile))
	if err != nil {
		return q, err
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		return q, fmt.Errorf("%s: %w", filepath.Join(dir, QuickstartFile), err)
	}
	return q, nil
}

func (q Quickstart) write(dir string) error {
	raw, err := json.MarshalIndent(q, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, QuickstartFile)
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	err = errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// ensureQuickstart creates the first organization, project, key and management
// token if there is no organization, updates the quickstart file, and prints the
// next steps to out.
func (a *App) ensureQuickstart(ctx context.Context, demo bool, out io.Writer) error {
	empty, err := a.projects.NoOrganizations(ctx)
	if err != nil {
		return err
	}
	var q Quickstart
	if empty {
		if q, err = a.createFirstProject(ctx); err != nil {
			return fmt.Errorf("create the first project: %w", err)
		}
	} else if q, err = a.restoreQuickstart(ctx, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "Parley runs at %s\n", a.BaseURL())
	if q.ProjectID != "" {
		fmt.Fprintf(out, "\nKeys of the first project: %s\nCreate a room with them:\n  %s\n",
			filepath.Join(a.cfg.DataDir, QuickstartFile), a.exampleCommand())
	}
	if !demo {
		return nil
	}
	if q.ProjectID == "" {
		return fmt.Errorf("--demo needs %s, which names the project to create rooms in",
			filepath.Join(a.cfg.DataDir, QuickstartFile))
	}
	return a.createDemoRooms(ctx, q.ProjectID, out)
}

func (a *App) exampleCommand() string {
	flag := ""
	if a.cfg.DataDir != "./data" {
		flag = " --data-dir " + a.cfg.DataDir
	}
	return `bin/parley request` + flag + ` POST /api/v3/rooms/create_quick_audio_room --body ` +
		`'{"name":"Amina","max_participants":10,"empty_timeout":300,` +
		`"metadata":{"room_title":"Standup","welcome_message":""}}'`
}

func (a *App) createFirstProject(ctx context.Context) (Quickstart, error) {
	q := Quickstart{BaseURL: a.BaseURL()}
	err := a.db.Write(ctx, func(ctx context.Context) error {
		o, err := a.projects.CreateOrganization(ctx, "My organization", project.Plan)
		if err != nil {
			return err
		}
		p, issued, err := a.keys.CreateProject(ctx, o.ID, "My project")
		if err != nil {
			return err
		}
		_, token, err := a.tokens.Create(ctx, "quickstart")
		if err != nil {
			return err
		}
		q.OrganizationID, q.ProjectID = o.ID, p.ID
		q.ProjectSecret, q.APIKey = issued.ProjectSecret.Reveal(), issued.APIKey.Reveal()
		q.GatewaySecret = issued.GatewaySecret.Reveal()
		q.AdminToken = token.Reveal()
		// The file is written before the commit, because the secrets cannot be read
		// anywhere else. If the process dies in between, the next start creates
		// another project and overwrites the file.
		return q.write(a.cfg.DataDir)
	})
	return q, err
}

// createDemoRooms creates an audio and a video room and prints their links.
func (a *App) createDemoRooms(ctx context.Context, projectID string, out io.Writer) error {
	p, err := a.projects.Get(ctx, projectID)
	if err != nil {
		return fmt.Errorf("read the project of %s: %w", QuickstartFile, err)
	}
	if err := p.AllowsJoins(); err != nil {
		return fmt.Errorf("--demo: %w", err)
	}
	fmt.Fprintln(out, "\nTo try a room, open its two links in two browsers.")
	for _, kind := range []room.Type{room.Audio, room.Video} {
		created, err := a.rooms.CreateQuick(ctx, p, room.CreateRequest{Type: kind, Name: "Host",
			MaxParticipants: 10, EmptyTimeout: 3600, Title: "Demo " + string(kind) + " room",
			WelcomeMessage: "Welcome. This room is for trying things out."})
		if err != nil {
			return fmt.Errorf("--demo: %w", err)
		}
		fmt.Fprintf(out, "\n  %s room\n    host   %s\n    guest  %s\n", kind, created.FinalLink, created.GuestLink)
	}
	fmt.Fprintln(out)
	return nil
}
