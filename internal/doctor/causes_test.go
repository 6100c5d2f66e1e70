package doctor

import (
	"database/sql"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/internal/config"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/testkit"
)

// occupyUDP lets another program have the UDP port for media.
func occupyUDP(t *testing.T, cfg *config.Config) {
	t.Helper()
	_, port, err := net.SplitHostPort(occupied(t, "udp"))
	if err == nil {
		cfg.RTCUDPPort, err = strconv.Atoi(port)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func freeUDP(t *testing.T, cfg *config.Config, _ string) {
	t.Helper()
	cfg.RTCUDPPort = testkit.FreeUDPPort(t)
}

// newSealedDatabase creates a database that is sealed with the key in right.key, for a server with another key.
func newSealedDatabase(t *testing.T, cfg *config.Config) {
	t.Helper()
	cfg.MasterKeyFile = filepath.Join(cfg.DataDir, "right.key")
	right, err := cfg.LoadMasterKey(true)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), "", cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Unlock(t.Context(), seal.NewBox(right)), s.Close()); err != nil {
		t.Fatal(err)
	}
	cfg.MasterKeyFile = filepath.Join(cfg.DataDir, "other.key")
	if _, err := cfg.LoadMasterKey(true); err != nil {
		t.Fatal(err)
	}
}

// damageDatabase overwrites pages of a new database, and keeps a good copy beside it.
func damageDatabase(t *testing.T, cfg *config.Config) {
	t.Helper()
	newSealedDatabase(t, cfg)
	file := store.SQLiteFile(cfg.DataDir)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	bad := slices.Clone(good)
	for i := 5 * page; i < 20*page; i++ {
		bad[i] = 0xa5
	}
	if err := errors.Join(os.WriteFile(file+".good", good, 0o600), os.WriteFile(file, bad, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// restoreDatabase does what the finding says, without the format of a backup.
func restoreDatabase(t *testing.T, cfg *config.Config, change string) {
	t.Helper()
	file := store.SQLiteFile(cfg.DataDir)
	if !strings.Contains(change, "move "+file+"* away") {
		t.Errorf("got the change %q, want one with the file %s", change, file)
	}
	if err := errors.Join(os.Rename(file, file+".bad"), os.Rename(file+".good", file)); err != nil {
		t.Fatal(err)
	}
}

// growLog lets a reader keep the write-ahead log of a small database from being emptied.
func growLog(t *testing.T, cfg *config.Config) {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+store.SQLiteFile(cfg.DataDir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	execute := func(conn *sql.Conn, statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := conn.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	var conns [2]*sql.Conn
	for i := range conns {
		if conns[i], err = pool.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conns[i].Close() })
	}
	const megabyte = "1048576"
	execute(conns[0], "PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", "CREATE TABLE large (content BLOB)",
		"INSERT INTO large VALUES (randomblob("+megabyte+"))")
	execute(conns[1], "BEGIN", "CREATE TEMP TABLE seen AS SELECT count(*) FROM large")
	for range maxLogBytes>>20 + 1 {
		execute(conns[0], "UPDATE large SET content = randomblob("+megabyte+")")
	}
	closeLogReader = func() error { return errors.Join(conns[1].Close(), conns[0].Close(), pool.Close()) }
}

// endLogReader ends the connections of growLog, as a restart does.
func endLogReader(t *testing.T, _ *config.Config, _ string) {
	t.Helper()
	if err := closeLogReader(); err != nil {
		t.Fatal(err)
	}
}

// closeLogReader closes the database of growLog.
var closeLogReader func() error

// writeQuickstart creates the file of a first start.
func writeQuickstart(t *testing.T, cfg *config.Config, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(cfg.DataDir, quickstart.FileName), []byte("{}"), mode); err != nil {
		t.Fatal(err)
	}
}

// runLine runs the line of a finding in a shell.
func runLine(t *testing.T, _ *config.Config, change string) {
	t.Helper()
	if text, err := exec.Command("sh", "-c", change).CombinedOutput(); err != nil {
		t.Fatalf("%s: got %v, want no error: %s", change, err, text)
	}
}

// occupied returns an address of 127.0.0.1 at which another program listens until the test ends.
func occupied(t *testing.T, network string) string {
	t.Helper()
	if network == "udp" {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn.LocalAddr().String()
	}
	l, err := net.Listen(network, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// writeBackup writes a file with the name of a scheduled backup.
func writeBackup(t *testing.T, dir string, at time.Time) {
	t.Helper()
	name := at.UTC().Format("parley-20060102T150405Z.tar")
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
