package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"parley/internal/config"
	"parley/internal/seal"
	"parley/internal/store"
)

// nextKeySuffix marks the key file that takes over when a reseal is done.
const nextKeySuffix = ".next"

// ResealResult says what a reseal did.
type ResealResult struct {
	Secrets int    `json:"secrets"` // how many were sealed anew
	KeyFile string `json:"key_file"`
	// Switch tells the operator what is left to do; empty when nothing is.
	NextStep string `json:"switch,omitempty"`
}

// Reseal puts every secret under a new master key. The server must be stopped.
//
// The new key is written beside the old one first, then every secret is sealed
// anew in one transaction, then the new file takes the old one's place. A
// crash before the commit leaves the old key in force; after it, the next
// start finds the new key waiting and finishes. Where the old key comes from
// PARLEY_MASTER_KEY, the operator has to put the new one there.
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
		claim, err := store.AcquireInstanceLock(ctx, cfg.DatabaseURL.Reveal(), false, func(error) {})
		if errors.Is(err, store.ErrDatabaseInUse) {
			return ResealResult{}, fmt.Errorf("--database-url: %w: stop it first", err)
		}
		if err != nil {
			return ResealResult{}, err
		}
		defer claim.Release()
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

// finishReseal takes up a reseal that was interrupted between the database and
// the key file.
func finishReseal(ctx context.Context, db *store.DB, cfg config.Config, wrong error) error {
	file := cfg.KeyFile() + nextKeySuffix
	next, err := seal.LoadKeyFile(file)
	if err != nil || db.Unlock(ctx, seal.NewBox(next)) != nil {
		return wrong
	}
	return os.Rename(file, cfg.KeyFile())
}
