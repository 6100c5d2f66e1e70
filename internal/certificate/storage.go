package certificate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/google/uuid"

	"parley/internal/fault"
)

const (
	// lockTime is how long a lock is held without a renewal, so that the lock of a killed node ends.
	lockTime = 2 * time.Minute
	// lockRenewal is the time between two renewals of a lock that is held.
	lockRenewal = 30 * time.Second
	// lockPoll is the time between two attempts to get a lock that another node holds.
	lockPoll = 2 * time.Second
)

// Store stores the files and the locks of the ACME client, for all nodes. A file is a certificate,
// its key, its metadata, an account or a challenge, and is sealed. Methods that change something
// must run inside WriteInBackground.
type Store interface {
	// WriteInBackground runs work in a transaction, with a timeout of some seconds.
	WriteInBackground(ctx context.Context, work func(ctx context.Context) error) error
	SaveACMEFile(ctx context.Context, path string, value []byte, at time.Time) error
	// ACMEFile returns a file, or NotFound.
	ACMEFile(ctx context.Context, path string) (value []byte, modifiedAt time.Time, err error)
	// ACMEFilesBelow returns the paths of all files below a folder, in order.
	ACMEFilesBelow(ctx context.Context, folder string) ([]string, error)
	// DeleteACMEFiles deletes a file, or all files below a folder.
	DeleteACMEFiles(ctx context.Context, path string) error
	// LockACME gives a lock to a holder until a time, unless another one has it now. It reports
	// whether the holder has the lock. A holder may repeat a call of which it does not know the result.
	LockACME(ctx context.Context, name, holder string, now, until time.Time) (bool, error)
	// RenewACMELock keeps a lock until a time. It reports whether the holder still has the lock.
	RenewACMELock(ctx context.Context, name, holder string, until time.Time) (bool, error)
	UnlockACME(ctx context.Context, name, holder string) error
}

// storage is a Store as certmagic needs it.
type storage struct {
	store Store
	now   func() time.Time
	log   *slog.Logger

	mu   sync.Mutex
	held map[string]heldLock // by name
}

// heldLock is a lock that this process holds. cancel stops its renewal.
type heldLock struct {
	holder string
	cancel context.CancelFunc
}

func newStorage(store Store, now func() time.Time, log *slog.Logger) *storage {
	return &storage{store: store, now: now, log: log, held: map[string]heldLock{}}
}

// Store stores a file.
func (s *storage) Store(ctx context.Context, key string, value []byte) error {
	return s.store.WriteInBackground(ctx, func(ctx context.Context) error {
		return s.store.SaveACMEFile(ctx, key, value, s.now())
	})
}

// Load returns a file, or fs.ErrNotExist.
func (s *storage) Load(ctx context.Context, key string) ([]byte, error) {
	value, _, err := s.file(ctx, key)
	return value, err
}

func (s *storage) file(ctx context.Context, key string) (value []byte, modifiedAt time.Time, err error) {
	value, modifiedAt, err = s.store.ACMEFile(ctx, key)
	if fault.Is(err, fault.NotFound) {
		err = fs.ErrNotExist
	}
	return value, modifiedAt, err
}

// Delete deletes a file or a folder.
func (s *storage) Delete(ctx context.Context, key string) error {
	return s.store.WriteInBackground(ctx, func(ctx context.Context) error { return s.store.DeleteACMEFiles(ctx, key) })
}

// Exists reports whether there is a file or a folder.
func (s *storage) Exists(ctx context.Context, key string) bool {
	_, err := s.Stat(ctx, key)
	return err == nil
}

// List returns the paths below a folder. Without recursive, they are its files and folders.
func (s *storage) List(ctx context.Context, folder string, recursive bool) ([]string, error) {
	folder = strings.TrimSuffix(folder, "/")
	paths, err := s.store.ACMEFilesBelow(ctx, folder)
	if err != nil || recursive {
		return paths, err
	}
	for i, path := range paths {
		name, _, _ := strings.Cut(strings.TrimPrefix(path, folder+"/"), "/")
		paths[i] = folder + "/" + name
	}
	return slices.Compact(paths), nil
}

// Stat describes a file or a folder. The error is fs.ErrNotExist if there is neither.
func (s *storage) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	value, modifiedAt, err := s.file(ctx, key)
	if err == nil {
		return certmagic.KeyInfo{Key: key, Modified: modifiedAt, Size: int64(len(value)), IsTerminal: true}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return certmagic.KeyInfo{}, err
	}
	below, err := s.store.ACMEFilesBelow(ctx, strings.TrimSuffix(key, "/"))
	if err == nil && len(below) == 0 {
		err = fs.ErrNotExist
	}
	return certmagic.KeyInfo{Key: key}, err
}

// Lock waits for a lock and renews it until Unlock.
func (s *storage) Lock(ctx context.Context, name string) error {
	holder := uuid.NewString()
	for {
		locked, err := s.tryLock(ctx, name, holder)
		if locked && err == nil {
			break
		}
		if err != nil {
			s.log.Debug("get lock of the certificates failed, will retry", "lock", name, "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPoll):
		}
	}
	renewal, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.mu.Lock()
	s.held[name] = heldLock{holder, cancel}
	s.mu.Unlock()
	go s.renew(renewal, name, holder)
	return nil
}

func (s *storage) tryLock(ctx context.Context, name, holder string) (locked bool, err error) {
	err = s.store.WriteInBackground(ctx, func(ctx context.Context) error {
		now := s.now()
		locked, err = s.store.LockACME(ctx, name, holder, now, now.Add(lockTime))
		return err
	})
	return locked, err
}

// renew keeps a lock until ctx ends.
func (s *storage) renew(ctx context.Context, name, holder string) {
	tick := time.NewTicker(lockRenewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		locked := false
		err := s.store.WriteInBackground(ctx, func(ctx context.Context) (err error) {
			locked, err = s.store.RenewACMELock(ctx, name, holder, s.now().Add(lockTime))
			return err
		})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.Warn("renew lock of the certificates failed, will retry", "lock", name, "error", err)
		case !locked:
			s.log.Warn("lock of the certificates was lost", "lock", name)
			return
		}
	}
}

// releaseAll releases the locks that are still held when Run ends.
func (s *storage) releaseAll(ctx context.Context) {
	s.mu.Lock()
	var names []string
	for name := range s.held {
		names = append(names, name)
	}
	s.mu.Unlock()
	for _, name := range names {
		if err := s.Unlock(ctx, name); err != nil {
			s.log.Warn("release lock of the certificates failed: the next start may wait for it",
				"lock", name, "error", err)
		}
	}
}

// Unlock releases a lock that Lock has acquired.
func (s *storage) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	lock, held := s.held[name]
	delete(s.held, name)
	s.mu.Unlock()
	if !held {
		return fmt.Errorf("the lock %s is not held", name)
	}
	lock.cancel()
	return s.store.WriteInBackground(ctx, func(ctx context.Context) error {
		return s.store.UnlockACME(ctx, name, lock.holder)
	})
}
