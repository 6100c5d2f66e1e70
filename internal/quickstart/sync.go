package quickstart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/operator"
)

// The quickstart file follows the database. A rotation commits first, then the
// file is written. If the process dies or the disk is full in between, the file
// is stale until the next pass of the janitor or the next start, which read the
// sealed credentials again. The opposite order could leave a key in the file that
// was never committed.

// Keys is the key service that updates the quickstart file after each rotation.
type Keys struct {
	*key.Service
	quickstart *Service
}

// WithRotation returns the key service that updates the file after each rotation.
func (s *Service) WithRotation() Keys { return Keys{s.keys, s} }

// RotateKey rotates the API key and Gateway secret of a project.
func (r Keys) RotateKey(ctx context.Context, projectID string, o key.Rotation) (key.RotatedKey, error) {
	rotated, err := r.Service.RotateKey(ctx, projectID, o)
	if err == nil {
		_ = r.quickstart.Update(ctx) // which logs its error
	}
	return rotated, err
}

// RotateSecret rotates the secret of a project.
func (r Keys) RotateSecret(ctx context.Context, projectID string, o key.Rotation) (key.RotatedSecret, error) {
	rotated, err := r.Service.RotateSecret(ctx, projectID, o)
	if err == nil {
		_ = r.quickstart.Update(ctx) // which logs its error
	}
	return rotated, err
}

// Update updates the quickstart file. It logs a failure, because a rotation
// is already committed then; the next pass of the janitor tries again.
func (s *Service) Update(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := s.refresh(ctx)
	if err != nil {
		s.log.Error("update quickstart file failed, will retry",
			"file", filepath.Join(s.dataDir, FileName), "error", err)
	}
	return err
}

// refresh writes the base URL and the current credentials of the file's
// project into the file if they have changed. It does nothing without a file, or with the
// file of another database.
func (s *Service) refresh(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if own, err := s.isOwn(ctx, q); err != nil || !own {
		return err
	}
	updated := q
	updated.BaseURL = s.baseURL
	if q.ProjectID != "" {
		keyring, err := s.keys.Keyring(ctx, q.ProjectID)
		switch {
		case fault.Is(err, fault.NotFound):
			// The project was deleted.
		case err != nil:
			return err
		default:
			for _, k := range keyring.Keys() {
				if k.Slot == key.Current {
					updated.APIKey, updated.GatewaySecret = k.Key.Reveal(), k.GatewaySecret.Reveal()
				}
			}
			if secrets := keyring.LiveProjectSecrets(time.Now()); len(secrets) > 0 {
				updated.ProjectSecret = secrets[0] // the current one comes first
			}
		}
	}
	if updated == q {
		return nil
	}
	return updated.write(s.dataDir)
}

// restore updates the file of an earlier run. If no owner's token is
// live, so that nobody could operate the service, it creates one and writes it to
// the file. That is safe because a user who can start the server on this data
// directory can read everything in it anyway.
func (s *Service) restore(ctx context.Context, out io.Writer) (File, error) {
	if err := s.finishPrepared(ctx); err != nil {
		return File{}, err
	}
	if err := s.refresh(ctx); err != nil {
		return File{}, err
	}
	q, err := s.read()
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return File{}, err
	}
	lockedOut, err := s.tokens.LockedOut(ctx)
	if err != nil || !lockedOut {
		return q, err
	}
	if !missing {
		if own, err := s.isOwn(ctx, q); err != nil {
			return q, err
		} else if !own {
			return q, s.unknownFile()
		}
	}
	q.BaseURL = s.baseURL
	err = s.db.Write(ctx, func(ctx context.Context) error {
		_, token, err := s.tokens.Create(ctx, operator.NewToken{Name: "quickstart"})
		if err != nil {
			return err
		}
		q.AdminToken = token.Reveal()
		return q.prepare(s.dataDir) // before the commit, as in createFirstProject
	})
	if err == nil {
		err = replaceWithPrepared(s.dataDir)
	}
	if err == nil {
		fmt.Fprintf(out, "No owner's token was live. A new one is in %s\n",
			filepath.Join(s.dataDir, FileName))
	}
	return q, err
}

// finishPrepared makes a prepared file the quickstart file, if the process died after
// the commit of its token.
func (s *Service) finishPrepared(ctx context.Context) error {
	path := filepath.Join(s.dataDir, FileName+preparedSuffix)
	q, err := readFile(path)
	if err != nil {
		return nil // there is none, or the process died while it wrote it
	}
	switch _, err := s.tokens.Authenticate(ctx, q.AdminToken); {
	case fault.Is(err, fault.Unauthorized): // it was not committed
		return os.Remove(path)
	case err != nil:
		return err
	}
	return replaceWithPrepared(s.dataDir)
}
