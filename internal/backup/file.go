package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// partSuffix ends the name of a backup file that is not complete. The whole name is the name
// of the backup, a random part and the suffix. No code reads such a file.
const partSuffix = ".part"

// WriteFile creates a backup file of mode 0600 with the content that write writes. The file
// gets its name when its content is complete and durable. WriteFile returns an error if a file
// with this name exists, also if another process created it meanwhile. After an error of write
// no file is left. If only the directory cannot be synced, the file stays despite the error.
func WriteFile(path string, write func(io.Writer) error) error {
	if err := checkAbsent(path); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+partSuffix) // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		_ = part.Close()
		_ = os.Remove(part.Name())
	}()
	if err := write(part); err != nil {
		return err
	}
	if err := errors.Join(part.Sync(), part.Close()); err != nil {
		return err
	}
	if err := publish(part.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// publish gives a complete file its name. It returns an error if a file has that name.
func publish(part, path string) error {
	err := os.Link(part, path) // unlike Rename, fails if the name exists
	if errors.Is(err, fs.ErrExist) {
		return errExists(path) // even if that file is gone by now
	}
	// File systems without hard links, such as exFAT.
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM) {
		if err := checkAbsent(path); err != nil {
			return err
		}
		return os.Rename(part, path)
	}
	return err
}

func checkAbsent(path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errExists(path)
	}
	return err
}

func errExists(path string) error {
	return fmt.Errorf("%s exists already: choose another name, or delete it", path)
}

// SyncDir makes the entries of a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Check reads a backup file from start to end and returns its manifest.
func Check(path string) (Manifest, error) {
	var m Manifest
	err := readFile(path, func(r *Reader) error {
		m = r.Manifest
		return r.CopyDatabase(io.Discard)
	})
	return m, err
}

// Extract writes the copy of the database in a backup file to a new file of mode 0600 and
// syncs it. After an error no file is left.
func Extract(path, target string) (err error) {
	f, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = readFile(path, func(r *Reader) error { return r.CopyDatabase(f) })
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(target)
	}
	return err
}

// readManifest reads only the start of a backup file.
func readManifest(path string) (m Manifest, err error) {
	err = readFile(path, func(r *Reader) error { m = r.Manifest; return nil })
	return m, err
}

func readFile(path string, read func(*Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r, err := NewReader(f)
	if err == nil {
		err = read(r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
