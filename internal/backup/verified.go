package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// verifiedName is a file in a directory of scheduled backups. It was last changed when one of them was last verified.
const verifiedName = ".parley-verified"

// RecordVerified records in the directory of a scheduled backup that it was verified now. It does nothing for a file
// with another name.
func RecordVerified(path string) error {
	if _, err := time.Parse(nameLayout, filepath.Base(path)); err != nil {
		return nil
	}
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, verifiedName+".*"+partSuffix) // another user may own the last one
	if err != nil {
		return err
	}
	if err := errors.Join(file.Close(), os.Rename(file.Name(), filepath.Join(dir, verifiedName))); err != nil {
		_ = os.Remove(file.Name())
		return err
	}
	return nil
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
