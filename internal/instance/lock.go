package instance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

var errAddressInUse error = syscall.EADDRINUSE

// lockFile is the file of a data directory that a server locks.
const lockFile = "parley.lock"

// stoppingMark follows the process id in the lock file while that process is
// stopping.
const stoppingMark = "stopping"

// dataLock keeps a second process out of a data directory. The kernel releases it
// when the last process that holds the file has ended, for whatever reason.
type dataLock struct {
	file     *os.File
	acquired bool // this process acquired the lock and did not inherit it
}

// lockDataDir locks a data directory. It waits while the current holder of the
// lock is stopping, for stopTimeout at most.
func lockDataDir(ctx context.Context, dir string, stopTimeout time.Duration) (*dataLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("--data-dir: cannot create %s: %w", dir, err)
	}
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--data-dir: cannot write in %s: %w", dir, err)
	}
	holder := ""
	err = retry(ctx, func() (bool, time.Duration, error) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return false, 0, err
		}
		raw, _ := io.ReadAll(io.NewSectionReader(f, 0, 40))
		var stopping string
		holder, stopping, _ = strings.Cut(strings.TrimSpace(string(raw)), " ")
		if stopping == stoppingMark {
			return true, stopTimeout, err
		}
		return true, killedProcessTimeout, err
	})
	if err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("--data-dir: another Parley (process %s) is already running on %s", holder, dir)
		}
		return nil, fmt.Errorf("--data-dir: cannot lock %s: %w", path, err)
	}
	// The process id is only shown to people; the kernel's lock decides.
	if err := errors.Join(f.Truncate(0), writeLockFile(f, fmt.Sprintln(os.Getpid()))); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("--data-dir: cannot write %s: %w", path, err)
	}
	return &dataLock{file: f, acquired: true}, nil
}

// isLocked reports whether a process has locked a data directory, which need not exist.
func isLocked(dir string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

func writeLockFile(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// markStopping writes the stopping mark. If that fails, for example on a full
// disk, the next process only waits for a shorter time.
func (l *dataLock) markStopping() {
	if l.acquired {
		_ = writeLockFile(l.file, fmt.Sprintln(os.Getpid(), stoppingMark))
	}
}

func (l *dataLock) release() {
	if l != nil {
		_ = l.file.Close()
	}
}
