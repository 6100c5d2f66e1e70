package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
)

// errNotInstalled is what a test dies of where there is no PostgreSQL: a suite
// that passes by leaving half of itself out is worth nothing.
var errNotInstalled = errors.New("PostgreSQL is not installed, and the tests that need it are never skipped: run `make test-setup`")

// Postgres returns the URL of a new, empty database. It lives on a PostgreSQL
// server that is private to this test process: started at the first call, gone
// when the process ends, however it ends.
func Postgres(t testing.TB) string {
	t.Helper()
	c, err := sharedServer()
	if err != nil {
		t.Fatal(err)
	}
	return c.NewDatabase(t)
}

var sharedServer = sync.OnceValues(startPostgresServer)

// PostgresServer is a PostgreSQL server with its own data directory. Disk writes are
// as durable as in earnest.
type PostgresServer struct {
	bin        string
	dir        string
	procAttr   *syscall.SysProcAttr // whom the server runs as
	password   string
	port       int
	databases  atomic.Int64
	guardStdin io.Closer // held open for as long as the server may live
}

// NewPostgresServer starts a server of the test's own, to be stopped and frozen. It
// ends with the test.
func NewPostgresServer(t testing.TB) *PostgresServer {
	t.Helper()
	c, err := startPostgresServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.pgctl(t, "stop", "-m", "immediate") })
	return c
}

// NewDatabase makes a database and returns its URL. It is dropped with the test.
func (c *PostgresServer) NewDatabase(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", c.databases.Add(1))
	c.execAsAdmin(t, "CREATE DATABASE "+name)
	t.Cleanup(func() { c.execAsAdmin(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	return c.url(name)
}

// Stop takes the server away as a power cut would, and Start brings it back.
func (c *PostgresServer) Stop(t testing.TB) { t.Helper(); c.pgctl(t, "stop", "-m", "immediate") }

// Start brings a stopped server back and waits until it answers.
func (c *PostgresServer) Start(t testing.TB) { t.Helper(); c.pgctl(t, "start") }

// Freeze makes the server hold still: connections stay open and nothing
// answers. Thaw ends it, at the latest at the end of the test.
func (c *PostgresServer) Freeze(t testing.TB) {
	t.Helper()
	c.signal(t, syscall.SIGSTOP)
	t.Cleanup(func() { c.signal(t, syscall.SIGCONT) })
}

// Thaw lets a frozen server go on.
func (c *PostgresServer) Thaw(t testing.TB) { t.Helper(); c.signal(t, syscall.SIGCONT) }

func (c *PostgresServer) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("parley", c.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)), Path: database}
	return u.String()
}

func (c *PostgresServer) execAsAdmin(t testing.TB, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", c.url("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (c *PostgresServer) pgctl(t testing.TB, args ...string) {
	t.Helper()
	if err := c.run("pg_ctl", append(args, "-D", c.dataDir(), "-l", c.logFile(), "-w", "-t", "60", "-s")...); err != nil {
		t.Fatal(err)
	}
}

// signal reaches the server and each of its processes.
func (c *PostgresServer) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	pids, err := c.processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // one that ended meanwhile does no harm
	}
}

// processes returns the server's first process and its children, which are all
// of the others.
func (c *PostgresServer) processes() ([]int, error) {
	pidFile, err := os.ReadFile(filepath.Join(c.dataDir(), "postmaster.pid"))
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(pidFile), "\n")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]s/task/%[1]s/children", first))
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, field := range append(strings.Fields(string(children)), first) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// CPUTime returns the processor time that this process and its private server have
// used so far, for benchmarks: unlike speed it hardly depends on what else the
// machine does.
func CPUTime(t testing.TB) time.Duration {
	t.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	sum := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	c, err := sharedServer()
	if err != nil {
		t.Fatal(err)
	}
	pids, err := c.processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // ended; the first process counts it among its children
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		for _, field := range strings.Fields(rest)[11:15] { // utime, stime, and those of children that ended
			ticks, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			sum += time.Duration(ticks) * (time.Second / 100)
		}
	}
	return sum
}

func (c *PostgresServer) dataDir() string { return filepath.Join(c.dir, "data") }
func (c *PostgresServer) logFile() string { return filepath.Join(c.dir, "log") }

func startPostgresServer() (*PostgresServer, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	c := &PostgresServer{bin: bin, password: rand.Text()}
	if c.dir, err = os.MkdirTemp("", "parley-postgres-"); err != nil {
		return nil, err
	}
	if c.procAttr, err = serverProcAttr(); err != nil {
		return nil, err
	}
	if who := c.procAttr.Credential; who != nil {
		if err := os.Chown(c.dir, int(who.Uid), int(who.Gid)); err != nil {
			return nil, err
		}
	}
	if err := c.startGuard(); err != nil {
		return nil, fmt.Errorf("guard PostgreSQL: %w", err)
	}
	return c, c.initialize()
}

// startGuard starts a process that takes the server and its files away when this
// one is gone: its standard input ends with us, even if we are killed.
func (c *PostgresServer) startGuard() error {
	const script = `cat
pid=$(head -n 1 "$2/data/postmaster.pid") && { pkill -CONT -P $pid; kill -CONT $pid; "$1/pg_ctl" stop -D "$2/data" -m immediate; }
rm -rf "$2"`
	cmd := exec.Command("sh", "-c", script, "guard", c.bin, c.dir)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.procAttr.Credential, Setsid: true} // Ctrl-C is not for it
	var err error
	if c.guardStdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	return cmd.Start()
}

func (c *PostgresServer) initialize() error {
	pwfile := filepath.Join(c.dir, "password")
	if err := os.WriteFile(pwfile, []byte(c.password), 0o644); err != nil { // the directory is closed to others
		return err
	}
	if err := c.run("initdb", "-D", c.dataDir(), "-U", "parley", "-A", "scram-sha-256", "--pwfile", pwfile,
		"-E", "UTF8", "--no-locale", "--no-sync"); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	settings := fmt.Sprintf("listen_addresses = '127.0.0.1'\nport = %d\nunix_socket_directories = ''\nfsync = on\nmax_connections = 300\n", c.port)
	if err := os.WriteFile(filepath.Join(c.dataDir(), "postgresql.auto.conf"), []byte(settings), 0o644); err != nil {
		return err
	}
	return c.run("pg_ctl", "start", "-D", c.dataDir(), "-l", c.logFile(), "-w", "-t", "60", "-s")
}

func (c *PostgresServer) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(c.bin, program), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = c.procAttr
	out, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(c.logFile())
		return fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, out, log)
	}
	return nil
}

// findPostgres returns the directory of the newest server's programs.
func findPostgres() (string, error) {
	if p, err := exec.LookPath("pg_ctl"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			return filepath.Dir(p), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl") // Debian keeps them out of PATH
	if len(found) == 0 {
		return "", errNotInstalled
	}
	version := func(p string) int {
		n, _ := strconv.Atoi(strings.Split(p, "/")[4])
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// serverProcAttr says whom the server runs as: PostgreSQL refuses root.
func serverProcAttr() (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root and there is no user postgres: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}
