package instance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"parley/internal/config"
)

const (
	// killedProcessTimeout is how long a start waits for a lock or an address in
	// use, because the kernel releases those of a killed process a moment later.
	killedProcessTimeout = 800 * time.Millisecond
	// stoppingProcessTimeout is the wait for a process that has marked the lock as
	// stopping.
	stoppingProcessTimeout = 15 * time.Second
	// retryInterval is the time between two attempts.
	retryInterval = 20 * time.Millisecond
)

// ExclusiveResources are the resources that only one process can hold: the lock of
// the data directory and the listening sockets. A supervisor acquires them and
// passes them to its child, so that they outlive a crash.
type ExclusiveResources struct {
	Listener        net.Listener // of --listen
	MetricsListener net.Listener // of --metrics-listen; nil without it
	lock            *dataLock
}

// AcquireExclusive locks the data directory and opens the listening sockets. It
// waits for a previous process that is stopping. Its errors name the setting.
func AcquireExclusive(ctx context.Context, cfg config.Config) (_ *ExclusiveResources, err error) {
	e := &ExclusiveResources{}
	defer func() {
		if err != nil {
			e.Release()
		}
	}()
	if e.lock, err = lockDataDir(ctx, cfg.DataDir); err != nil {
		return nil, err
	}
	if e.Listener, err = listen(ctx, "listen", cfg.Listen); err != nil {
		return nil, err
	}
	if cfg.MetricsListen != "" {
		if e.MetricsListener, err = listen(ctx, "metrics-listen", cfg.MetricsListen); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Files returns duplicates of the file descriptors for InheritExclusive in
// another process: the lock, the socket of --listen and, if there is one, the
// socket of --metrics-listen.
func (e *ExclusiveResources) Files() ([]*os.File, error) {
	files := []*os.File{e.lock.file}
	for _, l := range []net.Listener{e.Listener, e.MetricsListener} {
		if l == nil {
			continue
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			return nil, fmt.Errorf("pass a socket to the service process: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// InheritExclusive returns the resources that Files returned in another process.
func InheritExclusive(files []*os.File) (_ *ExclusiveResources, err error) {
	if len(files) < 2 || len(files) > 3 {
		return nil, fmt.Errorf("inherited %d files from the supervisor, want 2 or 3", len(files))
	}
	e := &ExclusiveResources{lock: &dataLock{file: files[0]}}
	for i, l := range []*net.Listener{&e.Listener, &e.MetricsListener}[:len(files)-1] {
		if *l, err = net.FileListener(files[i+1]); err != nil {
			e.Release()
			return nil, fmt.Errorf("inherit a socket of the supervisor: %w", err)
		}
		_ = files[i+1].Close() // the listener has a duplicate
	}
	return e, nil
}

// MarkStopping marks the lock of the data directory, so that a process that starts
// now waits until this one has stopped.
func (e *ExclusiveResources) MarkStopping() { e.lock.markStopping() }

// CloseListeners closes the sockets, but not the duplicates that Files returned.
func (e *ExclusiveResources) CloseListeners() {
	for _, l := range []net.Listener{e.Listener, e.MetricsListener} {
		if l != nil {
			_ = l.Close()
		}
	}
}

// Release closes the sockets and unlocks the data directory.
func (e *ExclusiveResources) Release() {
	e.CloseListeners()
	e.lock.release()
}

func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	var l net.Listener
	err := retry(ctx, func() (bool, time.Duration, error) {
		var err error
		l, err = net.Listen("tcp", address)
		return errors.Is(err, errAddressInUse), killedProcessTimeout, err
	})
	if err == nil {
		return l, nil
	}
	if errors.Is(err, errAddressInUse) {
		return nil, fmt.Errorf("--%s: the address %s is already in use by another Parley or another program",
			flag, address)
	}
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("--%s: no permission to listen on %s", flag, address)
	}
	return nil, fmt.Errorf("--%s: cannot listen on %s: %w", flag, address, err)
}

// retry calls try until it succeeds, returns false for retryable, or the timeout
// that it returned has passed since the first call.
func retry(ctx context.Context, try func() (retryable bool, timeout time.Duration, err error)) error {
	for began := time.Now(); ; {
		retryable, timeout, err := try()
		if err == nil || !retryable || time.Since(began) > timeout {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryInterval):
		}
	}
}
