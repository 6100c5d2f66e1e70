package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"parley/internal/quickstart"
)

// privateFiles are the files of a data directory that hold secrets or personal
// data. The master key is not among them: a key file with a wider mode is
// refused, because it may have been read already.
var privateFiles = []string{"parley.db", "parley.db-wal", "parley.db-shm",
	quickstart.FileName, quickstart.FileName + ".new", lockFile}

// MakeFilesPrivate makes the process create files and directories for its own user
// only (umask 077), and takes the access of other users from the files of an
// existing data directory. A directory that other users can enter is reported
// and not changed, because an operator may share it on purpose. An error means
// that a file could not be corrected. log may be nil.
func MakeFilesPrivate(dir string, log *slog.Logger) error {
	syscall.Umask(0o077)
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist): // the start creates it
	case err != nil:
		return dataDirError(dir, err)
	case !info.IsDir():
		return fmt.Errorf("--data-dir: %s is not a directory", dir)
	case info.Mode().Perm()&0o077 != 0:
		log.Warn("other users can enter the data directory, run chmod 700 unless that is intended",
			"data_dir", dir, "mode", fmt.Sprintf("%04o", info.Mode().Perm()))
	}
	for _, name := range privateFiles {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0) {
			continue
		}
		if err != nil {
			return dataDirError(dir, err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return fmt.Errorf("--data-dir: other users can read %s, and its mode cannot be changed to 0600: %w", path,
				err)
		}
		log.Warn("file was open to other users, changed its mode to 0600",
			"file", path, "mode", fmt.Sprintf("%04o", info.Mode().Perm()))
	}
	return nil
}

// dataDirError returns the error of a data directory whose files cannot be looked at.
func dataDirError(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("--data-dir: this user cannot read %s: run the command as the user of the server", dir)
	}
	return fmt.Errorf("--data-dir: %w", err)
}
