package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"parley/internal/config"
	"parley/internal/late"
)

const (
	// killedProcessTimeout is how long a start waits for a lock or an address in
	// use, because the kernel releases those of a killed process a moment later.
	killedProcessTimeout = 800 * time.Millisecond
	// stoppingProcessTimeout is the wait for a process that has marked the lock as
	// stopping, without the time in which that process hands over its meetings.
	stoppingProcessTimeout = 15 * time.Second
	// retryInterval is the time between two attempts.
	retryInterval = 20 * time.Millisecond
)

// ExclusiveResources are the resources that only one process can hold: the lock of
// the data directory and the listening sockets. A supervisor acquires them and
// passes them to its child, so that they outlive a crash. Each listener is a *net.TCPListener; one without
// which the service works may be a *late.Listener.
type ExclusiveResources struct {
	Listener        net.Listener // of --listen
	HTTPListener    net.Listener // of --http-listen; nil without it
	MetricsListener net.Listener // of --metrics-listen; nil without it
	lock            *dataLock
}

// socket is a listening socket of the settings.
type socket struct {
	flag, address string
	optional      bool // the service works without it
	listener      *net.Listener
}

// sockets returns all sockets. The address is empty if the settings do not have the socket.
func (e *ExclusiveResources) sockets(cfg config.Config) []socket {
	return []socket{
		{"listen", cfg.Listen, false, &e.Listener},
		{"http-listen", cfg.HTTPListen, true, &e.HTTPListener},
		{"metrics-listen", cfg.MetricsListen, true, &e.MetricsListener},
	}
}

// AcquireExclusive locks the data directory and opens the listening sockets. It
// waits for a previous process that is stopping. Its errors name the setting. A socket without which the service
// works becomes a late.Listener, which logs to log, if it cannot be opened.
func AcquireExclusive(ctx context.Context, cfg config.Config, log *slog.Logger) (_ *ExclusiveResources, err error) {
	e := &ExclusiveResources{}
	defer func() {
		if err != nil {
			e.Release()
		}
	}()
	if e.lock, err = lockDataDir(ctx, cfg.DataDir, stoppingProcessTimeout+cfg.DrainTime()); err != nil {
		return nil, err
	}
	if err = e.open(ctx, cfg, log); err != nil {
		return nil, err
	}
	return e, nil
}

// CheckSockets opens the listening sockets of the settings and closes them, and returns those that a start could not
// open. It reports running, and opens none, if a server has the data directory. The error is one of the system about
// the lock of the data directory, without which a server may run.
func CheckSockets(ctx context.Context, cfg config.Config) (running bool, unopened []*SocketError, err error) {
	if running, err = isLocked(cfg.DataDir); running || err != nil {
		return running, nil, err
	}
	e := &ExclusiveResources{}
	defer e.CloseListeners()
	if failure, ok := errors.AsType[*SocketError](e.open(ctx, cfg, slog.New(slog.DiscardHandler))); ok {
		unopened = append(unopened, failure)
	}
	return false, append(unopened, e.Unopened()...), nil
}

// open opens the sockets of the settings that are not open. The error is a SocketError.
func (e *ExclusiveResources) open(ctx context.Context, cfg config.Config, log *slog.Logger) error {
	for _, s := range e.sockets(cfg) {
		if s.address == "" || *s.listener != nil {
			continue
		}
		l, err := listen(ctx, s.address)
		failure := &SocketError{Flag: s.flag, Address: s.address, Optional: s.optional, Err: err}
		switch {
		case err == nil:
			*s.listener = l
		case s.optional:
			*s.listener = late.NewListener(s.address, failure, func() (net.Listener, error) {
				l, err := net.Listen("tcp", s.address)
				if err != nil {
					return nil, &SocketError{Flag: s.flag, Address: s.address, Optional: true, Err: err}
				}
				return l, nil
			}, log)
		default:
			return failure
		}
	}
	return nil
}

// Unopened returns why sockets are not open yet.
func (e *ExclusiveResources) Unopened() (failures []*SocketError) {
	for _, s := range e.sockets(config.Config{}) {
		if l, ok := (*s.listener).(*late.Listener); ok {
			if failure, ok := errors.AsType[*SocketError](l.Err()); ok {
				failures = append(failures, failure)
			}
		}
	}
	return failures
}

// lockName is the name of the lock among the files of Files.
const lockName = "lock"

// Files returns duplicates of the file descriptors for InheritExclusive in another process: the
// lock, and then the sockets that are open. The name of a socket is its flag.
func (e *ExclusiveResources) Files() (files []*os.File, names []string, err error) {
	files, names = []*os.File{e.lock.file}, []string{lockName}
	for _, s := range e.sockets(config.Config{}) {
		l, ok := (*s.listener).(*net.TCPListener)
		if !ok { // the other process opens it, if the settings have it
			continue
		}
		f, err := l.File()
		if err != nil {
			return nil, nil, fmt.Errorf("pass a socket to the service process: %w", err)
		}
		files, names = append(files, f), append(names, s.flag)
	}
	return files, names, nil
}

// InheritExclusive returns the resources that Files returned in another process, which are found by
// their names. The settings may have changed since then, for example in the file of --config
// before a crash. A changed address has no effect before a start of the whole server, a new socket
// is opened, and one that the settings do not have any more is not served.
// AcquireExclusive says what becomes of a socket that cannot be opened.
func InheritExclusive(ctx context.Context, cfg config.Config, files []*os.File,
	log *slog.Logger) (_ *ExclusiveResources, err error) {
	if len(files) == 0 || files[0].Name() != lockName {
		return nil, errors.New("inherited no lock of the data directory from the supervisor")
	}
	e := &ExclusiveResources{lock: &dataLock{file: files[0]}}
	defer func() {
		if err != nil {
			e.Release()
		}
	}()
	for _, f := range files[1:] {
		for _, s := range e.sockets(cfg) {
			if s.flag != f.Name() || s.address == "" {
				continue
			}
			if *s.listener, err = net.FileListener(f); err != nil {
				return nil, fmt.Errorf("inherit a socket of the supervisor: %w", err)
			}
		}
		_ = f.Close() // the listener has a duplicate
	}
	if err = e.open(ctx, cfg, log); err != nil {
		return nil, err
	}
	return e, nil
}

// MarkStopping marks the lock of the data directory, so that a process that starts
// now waits until this one has stopped.
func (e *ExclusiveResources) MarkStopping() { e.lock.markStopping() }

// CloseListeners closes the sockets, but not the duplicates that Files returned.
func (e *ExclusiveResources) CloseListeners() {
	for _, s := range e.sockets(config.Config{}) {
		if *s.listener != nil {
			_ = (*s.listener).Close()
		}
	}
}

// Release closes the sockets and unlocks the data directory.
func (e *ExclusiveResources) Release() {
	e.CloseListeners()
	e.lock.release()
}

func listen(ctx context.Context, address string) (l net.Listener, err error) {
	err = retry(ctx, func() (bool, time.Duration, error) {
		var err error
		l, err = net.Listen("tcp", address)
		return errors.Is(err, errAddressInUse), killedProcessTimeout, err
	})
	return l, err
}

// SocketError is why a listening socket cannot be opened.
type SocketError struct {
	Flag, Address string // the setting, such as listen, and its value
	Optional      bool   // the service works without the socket
	Err           error
}

func (e *SocketError) Error() string {
	switch {
	case errors.Is(e.Err, errAddressInUse):
		return fmt.Sprintf("--%s: the address %s is already in use by another Parley or another program", e.Flag, e.Address)
	case errors.Is(e.Err, os.ErrPermission):
		return fmt.Sprintf("--%s: no permission to listen on %s", e.Flag, e.Address)
	}
	return fmt.Sprintf("--%s: cannot listen on %s: %v", e.Flag, e.Address, e.Err)
}

func (e *SocketError) Unwrap() error { return e.Err }

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
