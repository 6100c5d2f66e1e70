package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/instance"
	"parley/internal/seal"
	"parley/internal/store"
)

const (
	// drillHealthTimeout is the longest wait for the service of a drill to become healthy.
	drillHealthTimeout = 30 * time.Second
	// drillHealthInterval is the time between two health checks.
	drillHealthInterval = 20 * time.Millisecond
)

// DrillResult is what a drill has found in a backup.
type DrillResult struct {
	Manifest backup.Manifest
	Secrets  int   // number of secrets that the master key opened
	Schema   int64 // version of the schema after the migration
}

// ErrNotVerified is the error of a drill that failed although the backup may work.
var ErrNotVerified = errors.New("the backup was not verified")

// Drill restores a backup file into a temporary location, checks everything, and starts
// the service on it. The location is a directory, and for PostgreSQL a temporary database
// on the server of --database-url. Of the data directory it reads only the master key. The
// service of a drill is isolated, see newIsolated.
func Drill(ctx context.Context, storage config.Storage, file string) (result DrillResult, err error) {
	aboutBackup := true // an error is about the backup, and not about what the drill needs
	onPostgres := false
	defer func() {
		switch {
		case err == nil:
		case onPostgres && db.IsServerDiskFull(err):
			err = fmt.Errorf("%w, because the disk of the PostgreSQL server is full: free some space on it: %w",
				ErrNotVerified, err)
		case onPostgres && db.IsConnectionLost(err):
			err = fmt.Errorf("%w, because the PostgreSQL server refused or ended a connection: %w", ErrNotVerified, err)
		case db.IsDiskFull(err):
			err = fmt.Errorf("%w, because the disk of %s is full: free some space, or set TMPDIR to a directory on a "+
				"larger disk: %w", ErrNotVerified, os.TempDir(), err)
		case !aboutBackup, ctx.Err() != nil, errors.As(err, new(*db.ToolError)):
			err = fmt.Errorf("%w: %w", ErrNotVerified, err)
		}
	}()
	if result.Manifest, err = backup.Check(file); err != nil {
		aboutBackup = !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
		return result, err
	}
	aboutBackup = false
	m := result.Manifest
	onPostgres = m.Engine == backup.Postgres
	if err := instance.CheckUsable(storage, file, m); err != nil {
		return result, err
	}
	key, err := storage.LoadMasterKey(false)
	if err != nil {
		return result, err
	}
	dir, err := os.MkdirTemp("", "parley-drill-") // mode 0700
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	target := config.Storage{DataDir: dir, MasterKey: seal.Secret(key.Reveal())}
	if m.Engine == backup.Postgres {
		if storage.DatabaseURL == "" {
			return result, errors.New("the backup is of a PostgreSQL database: add --database-url (PARLEY_DATABASE_URL), " +
				"on whose server a temporary database is created and dropped")
		}
		temporary, drop, err := db.CreateTemporaryPostgres(ctx, storage.DatabaseURL.Reveal())
		if err != nil {
			return result, err
		}
		defer func() { err = errors.Join(err, drop()) }()
		target.DatabaseURL = seal.Secret(temporary)
	}
	aboutBackup = true
	if err := instance.RestoreDatabase(ctx, file, m, target.DatabaseURL.Reveal(), dir); err != nil {
		return result, err
	}
	contents, err := store.ReadContents(ctx, target.DatabaseURL.Reveal(), dir)
	if err != nil {
		return result, err
	}
	if err := compareContents(m, contents); err != nil {
		return result, err
	}
	result.Secrets, err = openSecrets(ctx, target)
	if err != nil {
		return result, err
	}
	newest, err := store.NewestSchema()
	if err != nil {
		return result, err
	}
	result.Schema = max(m.Schema, newest)
	return result, serveOnce(ctx, target)
}

// compareContents returns an error that names what differs between a manifest and the
// database.
func compareContents(m backup.Manifest, c store.Contents) error {
	if m.Schema != c.Schema || m.DatabaseID != c.DatabaseID || m.KeyFingerprint != c.KeyFingerprint {
		return fmt.Errorf("the database of the backup is not the one of its manifest: got schema %d, database %s and "+
			"key %s, want %d, %s and %s", c.Schema, c.DatabaseID, c.KeyFingerprint, m.Schema, m.DatabaseID, m.KeyFingerprint)
	}
	for _, table := range slices.Sorted(maps.Keys(m.Rows)) {
		if got, want := c.Rows[table], m.Rows[table]; got != want {
			return fmt.Errorf("the table %s has %d rows, and the manifest says %d", table, got, want)
		}
	}
	return nil
}

// openSecrets migrates a database and opens every secret in it.
func openSecrets(ctx context.Context, storage config.Storage) (count int, err error) {
	db, err := instance.OpenStore(ctx, config.Config{Storage: storage})
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	return db.OpenSecrets(ctx)
}

// serveOnce runs an isolated service until it has answered /healthz with 200. The error
// contains the last response and the last error of the log.
func serveOnce(ctx context.Context, storage config.Storage) error {
	last := &lastLine{}
	a, err := newIsolated(ctx, storage, slog.New(slog.NewTextHandler(last, &slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		return fmt.Errorf("start the service: %w", last.addTo(err))
	}
	ctx, cancel := context.WithTimeout(ctx, drillHealthTimeout)
	defer cancel()
	running, stop := context.WithCancel(ctx)
	defer stop()
	stopped := make(chan error, 1)
	go func() { stopped <- a.Run(running, false, io.Discard) }()
	if err := awaitHealthy(ctx, a.Listener.Addr(), stopped); err != nil {
		return fmt.Errorf("run the service: %w", last.addTo(err))
	}
	stop()
	return <-stopped
}

// awaitHealthy waits until /healthz answers 200. It returns an error with the last other
// response if the service stops before that, which it does at the latest when ctx ends.
func awaitHealthy(ctx context.Context, address net.Addr, stopped <-chan error) error {
	health := errors.New("/healthz was not asked")
	for {
		if err := checkHealth(ctx, address); ctx.Err() == nil {
			health = err
		}
		select {
		case err := <-stopped:
			return errors.Join(errors.New("it stopped before it was healthy"), err, ctx.Err(), health)
		case <-time.After(drillHealthInterval):
			if health == nil {
				return nil
			}
		}
	}
}

// checkHealth returns an error with the response unless /healthz answers 200.
func checkHealth(ctx context.Context, address net.Addr) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address.String()+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("/healthz did not answer: %v", err) // not wrapped, because it is not an error of PostgreSQL
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, 1000)) // without the rest the status says enough
	return fmt.Errorf("/healthz answered %d: %s", response.StatusCode, bytes.TrimSpace(body))
}

// lastLine keeps the last line that a log handler has written.
type lastLine struct {
	mu   sync.Mutex
	text string
}

func (l *lastLine) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = strings.TrimSpace(string(line))
	return len(line), nil
}

// addTo adds the line, if there is one, to an error.
func (l *lastLine) addTo(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == "" {
		return err
	}
	return fmt.Errorf("%w; the last error in the log: %s", err, l.text)
}

// newIsolated returns a service that acts on nothing but the database and the directory of
// storage: it sends no webhooks, connects to no Redis, makes no backups, and listens on
// free ports of 127.0.0.1. It takes no other setting, so that none can change that.
func newIsolated(ctx context.Context, storage config.Storage, log *slog.Logger) (*App, error) {
	cfg := config.Default()
	cfg.Storage = storage
	cfg.Listen = "127.0.0.1:0"
	free, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	cfg.RTCUDPPort = free.LocalAddr().(*net.UDPAddr).Port
	_ = free.Close()
	e, err := instance.AcquireExclusive(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	return newApp(ctx, cfg, log, e, appOptions{isolated: true})
}
