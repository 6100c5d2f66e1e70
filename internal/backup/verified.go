package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// verifiedName is a file in a directory of scheduled backups. It was last changed when one of them was last verified.
const verifiedName = ".parley-verified"

// VerifiedFile returns the path of the file whose time is that of the last drill of a backup in the same directory.
func VerifiedFile(backup string) string { return filepath.Join(filepath.Dir(backup), verifiedName) }

// RecordVerified records in the directory of a scheduled backup that it was verified now. It does nothing for a file
// with another name, in a directory in which no server made backups, such as that of a copy, or that is read-only.
func RecordVerified(path string) error {
	if _, err := time.Parse(nameLayout, filepath.Base(path)); err != nil {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(path), lockName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := replaceEmpty(VerifiedFile(path))
	if errors.Is(err, syscall.EROFS) {
		return nil
	}
	return err
}

// replaceEmpty replaces a file by an empty one, because another user may own the last one.
func replaceEmpty(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process has just done the same
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// Verification is what a directory of scheduled backups shows about restore drills.
type Verification struct {
	Last  time.Time // when a backup was last verified; zero if none was
	Begin time.Time // when the first backup was made; zero if there is none
}

// ReadVerification returns what a directory of scheduled backups shows about restore drills.
func ReadVerification(dir string) (v Verification, err error) {
	newest, err := NewestFile(dir)
	if err != nil || newest.IsZero() {
		return v, err
	}
	v.Begin = newest
	for name, at := range map[string]*time.Time{lockName: &v.Begin, verifiedName: &v.Last} {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case err == nil:
			*at = info.ModTime() // the lock file never changes
		case !errors.Is(err, fs.ErrNotExist):
			return v, err
		}
	}
	return v, nil
}
