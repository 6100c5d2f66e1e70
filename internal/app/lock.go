package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

var addressInUse error = syscall.EADDRINUSE

// dataLock keeps a second process out of a data directory. The kernel drops it
// with the process, however that ends.
type dataLock struct{ file *os.File }

func lockDataDir(dir string) (*dataLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("--data-dir: cannot make %s: %w", dir, err)
	}
	path := filepath.Join(dir, "parley.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--data-dir: cannot write in %s: %w", dir, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 20))
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("--data-dir: another Parley (process %s) is already running on %s", bytes.TrimSpace(holder), dir)
		}
		return nil, fmt.Errorf("--data-dir: cannot lock %s: %w", path, err)
	}
	// The number is for people; what counts is the kernel's lock.
	if err := errors.Join(f.Truncate(0), write(f, fmt.Sprintln(os.Getpid()))); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("--data-dir: cannot write %s: %w", path, err)
	}
	return &dataLock{file: f}, nil
}

func write(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

func (l *dataLock) release() {
	if l != nil {
		_ = l.file.Close()
	}
}
