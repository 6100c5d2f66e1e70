package app

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
	// killedProcessTimeout is how long a start waits for a lock or an address in use:
	// a process that was killed leaves them a moment later.
	killedProcessTimeout = 800 * time.Millisecond
	// stoppingProcessTimeout is the same for a process that says it is stopping.
	stoppingProcessTimeout = 15 * time.Second
	// retryInterval is how often a start looks again.
	retryInterval = 20 * time.Millisecond
)

// ExclusiveResources holds what one process at a time can have: the lock of the data
// directory and the listening sockets. A supervisor takes it and hands it to
// its child, so that it outlives a crash.
type ExclusiveResources struct {
	lock     *dataLock
	listener net.Listener
	metrics  net.Listener // nil without --metrics-listen
}

// AcquireExclusive locks the data directory and opens the listening sockets. It waits
// for a predecessor that is stopping. What is wrong with a setting or its
// surroundings comes back as a plain sentence.
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
	if e.listener, err = listen(ctx, "listen", cfg.Listen); err != nil {
		return nil, err
	}
	if cfg.MetricsListen != "" {
		if e.metrics, err = listen(ctx, "metrics-listen", cfg.MetricsListen); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Files returns copies of what is held, for Inherit in another process: the
// lock, the socket of --listen and, if there is one, that of --metrics-listen.
func (e *ExclusiveResources) Files() ([]*os.File, error) {
	files := []*os.File{e.lock.file}
	for _, l := range []net.Listener{e.listener, e.metrics} {
		if l == nil {
			continue
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			return nil, fmt.Errorf("hand a socket to the service process: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// InheritExclusive takes over what Files returned in another process.
func InheritExclusive(files []*os.File) (_ *ExclusiveResources, err error) {
	if len(files) < 2 || len(files) > 3 {
		return nil, fmt.Errorf("inherited %d files from the supervisor, not 2 or 3", len(files))
	}
	e := &ExclusiveResources{lock: &dataLock{file: files[0]}}
	for i, to := range []*net.Listener{&e.listener, &e.metrics}[:len(files)-1] {
		if *to, err = net.FileListener(files[i+1]); err != nil {
			e.Release()
			return nil, fmt.Errorf("take over a socket of the supervisor: %w", err)
		}
		_ = files[i+1].Close() // the listener has a copy
	}
	return e, nil
}

// MarkStopping tells a process that is about to start that this one is stopping, so
// that it waits.
func (e *ExclusiveResources) MarkStopping() { e.lock.markStopping() }

// CloseListeners closes the sockets, but not the copies that Files made.
func (e *ExclusiveResources) CloseListeners() {
	for _, l := range []net.Listener{e.listener, e.metrics} {
		if l != nil {
			_ = l.Close()
		}
	}
}

// Release gives back what is held.
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
		return nil, fmt.Errorf("--%s: the address %s is already in use, by another Parley or another program", flag, address)
	}
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("--%s: this user may not listen on %s", flag, address)
	}
	return nil, fmt.Errorf("--%s: cannot listen on %s: %w", flag, address, err)
}

// retry calls try until it succeeds, says that trying again is no use, or has
// been tried for as long as it says.
func retry(ctx context.Context, try func() (again bool, patience time.Duration, err error)) error {
	for began := time.Now(); ; {
		again, patience, err := try()
		if err == nil || !again || time.Since(began) > patience {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryInterval):
		}
	}
}
