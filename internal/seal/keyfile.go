package seal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"parley/internal/shell"
)

// keyFileMaxBytes is how much of a key file is read, in bytes. A key has 44.
const keyFileMaxBytes = 1024

// LoadKeyFile reads the master key from a file. If the group or others have any
// permission on the file (mode 0077), it returns an error with the command that
// corrects it. The error for a missing file is fs.ErrNotExist.
//
// A credential of systemd may have the bit with which the group reads it, because there the bit shows an
// access list that lets only the user of the service read it.
func LoadKeyFile(path string) (Key, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Key{}, &missingKeyError{path: path}
	}
	if err != nil {
		return Key{}, fmt.Errorf("the master key file cannot be opened: %w", err)
	}
	defer f.Close()

	info, err := f.Stat()
	if err != nil {
		return Key{}, fmt.Errorf("the mode of the master key file cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return Key{}, fmt.Errorf("the master key file %s is not a regular file", path)
	}
	if perm := info.Mode().Perm(); perm&forbiddenBits(path) != 0 {
		return Key{}, fmt.Errorf("the master key file %s is open to other users (mode %04o): run chmod 600 %s",
			path, perm, shell.Quote(path))
	}
	text, err := io.ReadAll(io.LimitReader(f, keyFileMaxBytes))
	if err != nil {
		return Key{}, fmt.Errorf("the master key file cannot be read: %w", err)
	}
	k, err := ParseKey(string(text))
	if err != nil {
		return Key{}, fmt.Errorf("the file %s contains no valid key: %w", path, err)
	}
	return k, nil
}

// forbiddenBits returns the bits of its mode that a key file must not have.
func forbiddenBits(path string) fs.FileMode {
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" && filepath.Dir(path) == filepath.Clean(dir) {
		return 0o037
	}
	return 0o077
}

// missingKeyError is fs.ErrNotExist with a remedy for the operator.
type missingKeyError struct{ path string }

func (e *missingKeyError) Error() string {
	return fmt.Sprintf("the master key file %s does not exist: copy the key there, or name its file with "+
		"--master-key-file, or set PARLEY_MASTER_KEY; backups of Parley do not contain it", e.path)
}

func (e *missingKeyError) Unwrap() error { return fs.ErrNotExist }

// LoadOrCreateKeyFile reads the master key from a file as LoadKeyFile does. If
// there is no file and create is true, it generates a key and writes the file.
// Set create only while nothing is sealed yet, because a new key cannot open
// older values. If several processes create the file at the same time, one of
// them writes it and all return its key.
func LoadOrCreateKeyFile(path string, create bool) (Key, error) {
	k, err := LoadKeyFile(path)
	if !create || !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	k = NewKey()
	err = createKeyFile(path, k)
	if errors.Is(err, fs.ErrExist) {
		return LoadKeyFile(path) // another process has created it
	}
	if err != nil {
		return Key{}, err
	}
	return k, nil
}

// SaveKeyFile writes a key to a file of mode 0600, which is durable when SaveKeyFile
// returns. A file that contains the key already is left as it is. It returns an error if
// the file contains anything else.
func SaveKeyFile(path string, k Key) error {
	err := createKeyFile(path, k)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	saved, err := LoadKeyFile(path)
	if err == nil && saved != k {
		err = fmt.Errorf("the file %s contains another key: move it away, then run the command again", path)
	}
	return err
}

// createKeyFile writes a key to a new file of mode 0600. The error for a file
// that exists already is fs.ErrExist. The file is complete as soon as it is
// visible, and durable when createKeyFile returns, because it is written and
// synced under a temporary name and then linked.
func createKeyFile(path string, k Key) error {
	if k.IsZero() {
		return errors.New("the master key to write is empty")
	}
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, ".master-key-*") // O_EXCL, mode 0600
	if err != nil {
		return fmt.Errorf("the master key file cannot be written: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = io.WriteString(temp, k.Reveal()+"\n")
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err != nil {
		return fmt.Errorf("the master key file cannot be written: %w", err)
	}
	// Link, unlike Rename, fails if the name exists.
	if err := os.Link(temp.Name(), path); err != nil {
		return fmt.Errorf("the master key file cannot be created: %w", err)
	}
	return syncDir(dir)
}

// syncDir makes the entries of a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("the directory of the master key file cannot be opened: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("the directory of the master key file cannot be synced: %w", err)
	}
	return nil
}
