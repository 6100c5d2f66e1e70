// Package instance is the instance of the service on this machine: its data directory, its
// database and its master key. It decides which process may use them, opens the database, and does
// what commands do while no server runs: reseal, copy, restore.
package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/internal/config"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/store"
)

// OpenStore opens the database of a configuration and unlocks its secrets. It fails and
// changes nothing if the data directory belongs to another database, if a restore was
// interrupted, if the master key is wrong, or if the database has to be contracted while an
// older node is alive. It creates a
// master key only for a database that has no sealed secrets yet.
func OpenStore(ctx context.Context, cfg config.Config) (*store.DB, error) {
	if err := checkDatabaseID(ctx, cfg); err != nil {
		return nil, err
	}
	if cfg.DatabaseURL != "" {
		if err := checkNotRestoring(ctx, cfg.DatabaseURL.Reveal()); err != nil {
			return nil, err
		}
	}
	keyCheck, err := store.ReadKeyCheck(ctx, cfg.DatabaseURL.Reveal(), cfg.DataDir)
	if err != nil {
		return nil, err
	}
	if keyCheck.Fresh() {
		if err := quickstart.CheckNewDatabase(cfg.DataDir); err != nil {
			return nil, fmt.Errorf("--data-dir: %w", err)
		}
	}
	if cfg.RedisURL != "" { // other nodes may be running
		if err := store.CheckOlderNodes(ctx, cfg.DatabaseURL.Reveal(), time.Now()); err != nil {
			return nil, fmt.Errorf("--database-url (PARLEY_DATABASE_URL): %w", err)
		}
	}
	master, err := loadMasterKey(cfg, keyCheck)
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, cfg.DatabaseURL.Reveal(), cfg.DataDir)
	if err != nil {
		return nil, err
	}
	if err := db.Unlock(ctx, seal.NewBox(master)); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// VerifyMasterKey reads which master key the database of a configuration needs, and returns a *seal.WrongKeyError if
// that is not master. It changes nothing.
func VerifyMasterKey(ctx context.Context, cfg config.Config, master seal.Key) error {
	check, err := store.ReadKeyCheck(ctx, cfg.DatabaseURL.Reveal(), cfg.DataDir)
	if err != nil {
		return err
	}
	return check.Verify(seal.NewBox(master))
}

// loadMasterKey returns the master key that opens the secrets of the database of check. It
// completes an interrupted reseal. It is called before the database is opened, so that a
// wrong key cannot migrate it.
func loadMasterKey(cfg config.Config, check store.KeyCheck) (seal.Key, error) {
	master, err := cfg.LoadMasterKey(check.Fresh())
	if err != nil {
		return seal.Key{}, err
	}
	err = check.Verify(seal.NewBox(master))
	var wrong *seal.WrongKeyError
	switch {
	case err == nil:
		return master, nil
	case !errors.As(err, &wrong):
		return seal.Key{}, fmt.Errorf("verify the master key: %w", err)
	case cfg.MasterKey != "":
		err = fmt.Errorf("PARLEY_MASTER_KEY: %w. Set it to the key %s", err, wrong.SealedWith)
	default:
		err = fmt.Errorf("--master-key-file (PARLEY_MASTER_KEY_FILE): %s: %w. Restore the key %s to this file, or name "+
			"the file that contains it", cfg.KeyFile(), err, wrong.SealedWith)
	}
	return finishReseal(cfg, check, err)
}
