package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"parley/internal/fault"
	"parley/internal/key"
)

// The quick start file follows the database, never the other way round. A
// rotation commits first, then the file is written: whenever the process dies
// or the disk is full in between, the file is behind, and the next pass of tend
// or the next start brings it up to date, since the server can read what is
// sealed. The other order could leave a file with a key that never was.

// quickstartKeys are the keys, with the quick start file kept current.
type quickstartKeys struct {
	*key.Service
	app *App
}

// RotateKey rotates the API key and Gateway secret of a project.
func (r quickstartKeys) RotateKey(ctx context.Context, projectID string, how key.Rotation) (key.RotatedKey, error) {
	out, err := r.Service.RotateKey(ctx, projectID, how)
	if err == nil {
		r.app.updateQuickstart(ctx)
	}
	return out, err
}

// RotateSecret rotates the secret of a project.
func (r quickstartKeys) RotateSecret(ctx context.Context, projectID string, how key.Rotation) (key.RotatedSecret, error) {
	out, err := r.Service.RotateSecret(ctx, projectID, how)
	if err == nil {
		r.app.updateQuickstart(ctx)
	}
	return out, err
}

// updateQuickstart brings the quick start file up to date. A failure is logged,
// and tried again with the next pass of tend: what was rotated stays rotated.
func (a *App) updateQuickstart(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := a.refreshQuickstart(ctx); err != nil {
		a.log.Error("could not bring the quick start file up to date; it is tried again within a minute",
			"file", filepath.Join(a.cfg.DataDir, QuickstartFile), "error", err)
	}
}

// refreshQuickstart puts the current credentials of the file's project, and
// where the server is, into the file. No file is nothing to keep.
func (a *App) refreshQuickstart(ctx context.Context) error {
	a.quickstartMu.Lock()
	defer a.quickstartMu.Unlock()
	q, err := ReadQuickstart(a.cfg.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	now := q
	now.BaseURL = a.BaseURL()
	if q.ProjectID != "" {
		ring, err := a.keys.Keyring(ctx, q.ProjectID)
		switch {
		case fault.Is(err, fault.NotFound):
			// A file of another database: its owner knows why it is here.
		case err != nil:
			return err
		default:
			for _, k := range ring.Keys() {
				if k.Slot == key.Current {
					now.APIKey, now.GatewaySecret = k.Key.Reveal(), k.GatewaySecret.Reveal()
				}
			}
			if secrets := ring.LiveProjectSecrets(time.Now()); len(secrets) > 0 { // the current one first
				now.ProjectSecret = secrets[0]
			}
		}
	}
	if now == q {
		return nil
	}
	return now.write(a.cfg.DataDir)
}

// restoreQuickstart makes the file of an earlier run true again. When no
// management token is live any more, so that nobody could operate, it makes
// one and puts it there: whoever can start the server on this data directory
// may read everything anyway.
func (a *App) restoreQuickstart(ctx context.Context, out io.Writer) (Quickstart, error) {
	if err := a.refreshQuickstart(ctx); err != nil {
		return Quickstart{}, err
	}
	q, err := ReadQuickstart(a.cfg.DataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Quickstart{}, err
	}
	lockedOut, err := a.tokens.LockedOut(ctx)
	if err != nil || !lockedOut {
		return q, err
	}
	q.BaseURL = a.BaseURL()
	err = a.db.Write(ctx, func(ctx context.Context) error {
		_, token, err := a.tokens.Create(ctx, "quickstart")
		if err != nil {
			return err
		}
		q.AdminToken = token.Reveal()
		return q.write(a.cfg.DataDir) // before the commit, as for the first project
	})
	if err == nil {
		fmt.Fprintf(out, "No management token was live. A new one is in %s\n", filepath.Join(a.cfg.DataDir, QuickstartFile))
	}
	return q, err
}
