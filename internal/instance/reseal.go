package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"parley/internal/audit"
	"parley/internal/backup"
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
	// NextStep tells the operator how to switch to the new key; empty when that is done.
	NextStep string `json:"switch,omitempty"`
	// Keep tells the operator which key earlier backups need.
	Keep string `json:"keep"`
}

// Reseal seals every secret with a new master key. The server must be stopped.
//
// It writes the new key next to the old one, seals every secret again in one
// transaction, and then replaces the key file; see replaceKeyFile. A crash before the
// commit leaves the old key valid. After a crash between the commit and the replacement,
// the next start finds the new key file and completes it. If the old key comes from
// PARLEY_MASTER_KEY, the operator has to replace it there.
func Reseal(ctx context.Context, cfg config.Config) (ResealResult, error) {
	if err := cfg.Validate(); err != nil {
		return ResealResult{}, err
	}
	release, err := lockStorage(ctx, cfg.Storage)
	if err != nil {
		return ResealResult{}, err
	}
	defer release()
	if err := checkKnownSchema(ctx, cfg.Storage); err != nil {
		return ResealResult{}, err
	}
	opened, err := OpenStore(ctx, cfg)
	if err != nil {
		return ResealResult{}, err
	}
	defer func() { _ = opened.Close() }()
	current, err := cfg.LoadMasterKey(false)
	if err != nil {
		return ResealResult{}, err
	}
	next, file, err := createNextKey(cfg, current)
	if err != nil {
		return ResealResult{}, err
	}
	n, err := resealAll(ctx, opened, next)
	if err != nil {
		return ResealResult{}, err
	}
	if cfg.MasterKey != "" {
		return ResealResult{Secrets: n, KeyFile: file,
			NextStep: "put the key in " + file + " into PARLEY_MASTER_KEY, then delete the file",
			Keep:     keepWithBackups("the earlier key (" + current.ID() + ")")}, nil
	}
	kept, err := replaceKeyFile(cfg)
	if err != nil {
		return ResealResult{}, err
	}
	return ResealResult{Secrets: n, KeyFile: cfg.KeyFile(), Keep: keepWithBackups(kept)}, nil
}

// checkKnownSchema returns an error if a newer program has extended the database. It may have secrets that this one
// does not know, which would stay sealed with the earlier key.
func checkKnownSchema(ctx context.Context, storage config.Storage) error {
	newest, err := store.NewestSchema()
	if err != nil {
		return err
	}
	version, err := store.ReadSchemaVersion(ctx, storage.DatabaseURL.Reveal(), storage.DataDir)
	if err == nil && version > newest {
		err = newerSchemaError("the database to reseal", version, newest, "")
	}
	return err
}

// createNextKey generates the next key and writes its file. A file of a reseal that was
// interrupted is saved under the fingerprint of its key and not used, because nobody knows
// who else has read it, or written it.
func createNextKey(cfg config.Config, current seal.Key) (next seal.Key, file string, err error) {
	file = cfg.KeyFile() + nextKeySuffix
	earlier, err := seal.LoadKeyFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return next, file, fmt.Errorf("%w: move the file away, then run the command again", err)
	case earlier == current:
		return next, file, fmt.Errorf("%s contains the key that is in use: delete it, then run the command again", file)
	default:
		if err := seal.SaveKeyFile(keptKeyFile(cfg, earlier), earlier); err != nil {
			return next, file, err
		}
		if err := os.Remove(file); err != nil {
			return next, file, err
		}
	}
	next = seal.NewKey()
	return next, file, seal.SaveKeyFile(file, next)
}

// keptKeyFile returns the path under which a key is kept that is not in use.
func keptKeyFile(cfg config.Config, k seal.Key) string {
	return cfg.KeyFile() + "." + k.ID()
}

func keepWithBackups(what string) string {
	return "keep " + what + " with the backups made before now; delete it when they are gone"
}

// replaceKeyFile saves the old key, which earlier backups need, to a file with its
// fingerprint as suffix, and then renames the new key file to the old one. It returns the
// path of the file with the old key.
func replaceKeyFile(cfg config.Config) (kept string, err error) {
	old, err := seal.LoadKeyFile(cfg.KeyFile())
	if err != nil {
		return "", err
	}
	kept = keptKeyFile(cfg, old)
	if err := seal.SaveKeyFile(kept, old); err != nil {
		return "", err
	}
	if err := os.Rename(cfg.KeyFile()+nextKeySuffix, cfg.KeyFile()); err != nil {
		return "", err
	}
	return kept, backup.SyncDir(filepath.Dir(cfg.KeyFile()))
}

// resealTimeout bounds the transaction that seals every secret again.
const resealTimeout = 10 * time.Minute

// resealAll seals every secret with a master key, records that for the audit log, and
// returns the number of secrets.
func resealAll(ctx context.Context, s *store.DB, next seal.Key) (n int, err error) {
	ctx = audit.WithOrigin(db.WithWriteTimeout(ctx, resealTimeout), localOrigin())
	err = s.Write(ctx, func(ctx context.Context) error {
		id, err := s.ID(ctx)
		if err != nil {
			return err
		}
		if n, err = s.Reseal(ctx, seal.NewBox(next)); err != nil {
			return err
		}
		return audit.Record(ctx, s, time.Now(), audit.Change{Action: audit.DatabaseResealed, Subject: id,
			After: audit.Fields{"master_key": next.ID(), "secrets": n}})
	})
	return n, err
}

// localOrigin returns the origin of changes by a command that opens the database
// itself.
func localOrigin() audit.Origin {
	name := strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return audit.Origin{Kind: audit.KindLocal, ActorName: name}
}

// finishReseal completes a reseal that was interrupted between the commit and the
// replacement of the key file, and returns the new key. For PARLEY_MASTER_KEY it returns an
// error that says where the new key is. It returns wrongKey if there was no such reseal.
func finishReseal(cfg config.Config, check store.KeyCheck, wrongKey error) (seal.Key, error) {
	file := cfg.KeyFile() + nextKeySuffix
	next, err := seal.LoadKeyFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return seal.Key{}, wrongKey
	}
	if err != nil {
		return seal.Key{}, fmt.Errorf("%w. The key of the last parley reseal cannot be read: %w", wrongKey, err)
	}
	if check.Verify(seal.NewBox(next)) != nil {
		return seal.Key{}, wrongKey
	}
	if cfg.MasterKey != "" {
		return seal.Key{}, fmt.Errorf("%w. The new key of the last parley reseal is in %s: set PARLEY_MASTER_KEY to it",
			wrongKey, file)
	}
	_, err = replaceKeyFile(cfg)
	return next, err
}
