package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/seal"
	"parley/internal/store"
)

// nextKeySuffix is the suffix of the new key file until the reseal is done.
const nextKeySuffix = ".next"

// ResealResult is the result of Reseal.
type ResealResult struct {
	Secrets int    `json:"secrets"` // number of secrets that were sealed again
	KeyFile string `json:"key_file"`
	// NextStep tells the operator what to do now; empty when nothing is left.
	NextStep string `json:"switch,omitempty"`
}

// Reseal seals every secret with a new master key. The server must be stopped.
//
// It writes the new key next to the old one, seals every secret again in one
// transaction, and then renames the new file to the old one. A crash before the commit
// leaves the old key valid. After a crash between the commit and the rename, the next
// start finds the new key file and renames it. If the old key comes from
// PARLEY_MASTER_KEY, the operator has to replace it there.
func Reseal(ctx context.Context, cfg config.Config) (ResealResult, error) {
	if err := cfg.Validate(); err != nil {
		return ResealResult{}, err
	}
	lock, err := lockDataDir(ctx, cfg.DataDir)
	if err != nil {
		return ResealResult{}, fmt.Errorf("%w: stop it first", err)
	}
	defer lock.release()
	if cfg.DatabaseURL != "" {
		instanceLock, err := db.AcquireInstanceLock(ctx, cfg.DatabaseURL.Reveal(), false, func(error) {})
		if errors.Is(err, db.ErrInUse) {
			return ResealResult{}, fmt.Errorf("--database-url: %w: stop it first", err)
		}
		if err != nil {
			return ResealResult{}, err
		}
		defer instanceLock.Release()
	}
	db, err := OpenStore(ctx, cfg)
	if err != nil {
		return ResealResult{}, err
	}
	defer func() { _ = db.Close() }()
	file := cfg.KeyFile() + nextKeySuffix
	next, err := seal.LoadOrCreateKeyFile(file, true)
	if err != nil {
		return ResealResult{}, err
	}
	n, err := db.Reseal(ctx, seal.NewBox(next))
	if err != nil {
		return ResealResult{}, err
	}
	if cfg.MasterKey != "" {
		return ResealResult{Secrets: n, KeyFile: file,
			NextStep: "put the key in " + file + " into PARLEY_MASTER_KEY, then delete the file"}, nil
	}
	if err := os.Rename(file, cfg.KeyFile()); err != nil {
		return ResealResult{}, err
	}
	return ResealResult{Secrets: n, KeyFile: cfg.KeyFile()}, nil
}

// finishReseal completes a reseal that was interrupted between the commit and the
// rename of the key file. It returns wrongKey if there was none.
func finishReseal(ctx context.Context, db *store.DB, cfg config.Config, wrongKey error) error {
	file := cfg.KeyFile() + nextKeySuffix
	next, err := seal.LoadKeyFile(file)
	if err != nil || db.Unlock(ctx, seal.NewBox(next)) != nil {
		return wrongKey
	}
	return os.Rename(file, cfg.KeyFile())
}
