package storetest

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	"parley/internal/testkit"
)

// minMemoryBytes is the free space that a file system in memory needs for the servers
// of all test processes.
const minMemoryBytes = 2 << 30

// errNotInstalled fails a test if PostgreSQL is not installed. The test is not
// skipped, because a suite that skips half of its tests proves little.
var errNotInstalled = errors.New(
	"PostgreSQL is not installed, and the tests that need it are never skipped: run `make test-setup`")

// Postgres returns the URL of a new, empty database on a PostgreSQL server that
// only this test process uses. The first call starts the server. The server is
// removed when the process ends, even if it is killed.
func Postgres(t testing.TB) string {
	t.Helper()
	c, err := sharedServer()
	if err != nil {
		t.Fatal(err)
	}
	return c.NewDatabase(t)
}

var sharedServer = sync.OnceValues(func() (*PostgresServer, error) { return startPostgresServer(serverParentDir()) })

// PostgresServer is a PostgreSQL server with its own data directory. It syncs its
// writes as in production (fsync is on).
type PostgresServer struct {
	bin        string
	dir        string
	procAttr   *syscall.SysProcAttr // the user that the server runs as
	password   string
	port       int
	databases  atomic.Int64
	guardStdin io.Closer // closed by the end of this process, which stops the server
}

// NewPostgresServer starts a server that only the test uses, so that the test may
// stop or freeze it. It is stopped at the end of the test.
func NewPostgresServer(t testing.TB) *PostgresServer {
	t.Helper()
	return newPostgresServerIn(t, serverParentDir())
}

// NewPostgresServerIn is NewPostgresServer with the data directory of the server in a directory that a test has made,
// such as a disk of its own.
func NewPostgresServerIn(t testing.TB, dir string) *PostgresServer {
	t.Helper()
	letOthersEnter(t, dir)
	return newPostgresServerIn(t, dir)
}

func newPostgresServerIn(t testing.TB, parent string) *PostgresServer {
	t.Helper()
	c, err := startPostgresServer(parent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.pgctl(t, "stop", "-m", "immediate") })
	return c
}

// letOthersEnter allows the user of the server to enter a directory of testing.TB.TempDir, which only its owner can.
func letOthersEnter(t testing.TB, dir string) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
}

// NewStandby starts a server that follows s and accepts no writes. It is stopped at the end of the
// test.
func (s *PostgresServer) NewStandby(t testing.TB) *PostgresServer {
	t.Helper()
	c, err := newPostgresServer(serverParentDir())
	if err == nil {
		c.password = s.password
		err = c.follow(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.pgctl(t, "stop", "-m", "immediate") })
	return c
}

// Corresponding returns the URL of a database of another server, on this one.
func (s *PostgresServer) Corresponding(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	return s.url(strings.TrimPrefix(u.Path, "/"))
}

// NewDatabase creates a database and returns its URL. It is dropped at the end of
// the test.
func (s *PostgresServer) NewDatabase(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", s.databases.Add(1))
	s.execAsAdmin(t, "CREATE DATABASE "+name)
	t.Cleanup(func() { s.execAsAdmin(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	return s.url(name)
}

// NewDatabaseIn creates a database whose tables are in an empty directory, such as a disk of its own, and
// returns its URL. It is dropped at the end of the test.
func (s *PostgresServer) NewDatabaseIn(t testing.TB, dir string) string {
	t.Helper()
	if user := s.procAttr.Credential; user != nil {
		if err := os.Chown(dir, int(user.Uid), int(user.Gid)); err != nil {
			t.Fatal(err)
		}
		letOthersEnter(t, dir)
	}
	name := fmt.Sprintf("test_%d", s.databases.Add(1))
	s.execAsAdmin(t, "CREATE TABLESPACE "+name+" LOCATION '"+dir+"'")
	t.Cleanup(func() { s.execAsAdmin(t, "DROP TABLESPACE "+name) })
	s.execAsAdmin(t, "CREATE DATABASE "+name+" TABLESPACE "+name)
	t.Cleanup(func() { s.execAsAdmin(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	return s.url(name)
}

// Stop stops the server at once, as a power failure would.
func (s *PostgresServer) Stop(t testing.TB) { t.Helper(); s.pgctl(t, "stop", "-m", "immediate") }

// Start starts a stopped server and waits until it accepts connections.
func (s *PostgresServer) Start(t testing.TB) { t.Helper(); s.pgctl(t, "start") }

// FilesWith returns the files of the server that contain a text, relative to its directory.
func (s *PostgresServer) FilesWith(t testing.TB, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(s.dataDir(), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the server has deleted it
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(raw, []byte(text)) {
			files = append(files, strings.TrimPrefix(path, s.dataDir()+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Freeze suspends the server: connections stay open and do not respond. It lasts
// until Thaw or the end of the test.
func (s *PostgresServer) Freeze(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
	t.Cleanup(func() { s.signal(t, syscall.SIGCONT) })
}

// Thaw resumes a frozen server.
func (s *PostgresServer) Thaw(t testing.TB) { t.Helper(); s.signal(t, syscall.SIGCONT) }

func (s *PostgresServer) url(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("parley", s.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:     database,
		RawQuery: "sslmode=disable",
	} // because a refused attempt to use TLS costs another process of the server
	return u.String()
}

func (s *PostgresServer) execAsAdmin(t testing.TB, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", s.url("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(patient(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (s *PostgresServer) pgctl(t testing.TB, args ...string) {
	t.Helper()
	if err := s.run("pg_ctl", append(args, "-D", s.dataDir(), "-l", s.logFile(), "-w", "-t", "60", "-s")...); err != nil {
		t.Fatal(err)
	}
}

// signal sends a signal to each process of the server.
func (s *PostgresServer) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	pids, err := s.processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // fails if the process has ended
	}
}

// processes returns the ids of all processes of the server: the postmaster and
// its children.
func (s *PostgresServer) processes() ([]int, error) {
	pidFile, err := os.ReadFile(filepath.Join(s.dataDir(), "postmaster.pid"))
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

// CPUTime returns the processor time that this process and its PostgreSQL server
// have used so far. Benchmarks report it because, unlike elapsed time, it hardly
// depends on the load of the machine.
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
			continue // it has ended, and the postmaster includes its time
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		for _, field := range strings.Fields(rest)[11:15] { // utime, stime, cutime, cstime
			ticks, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			sum += time.Duration(ticks) * (time.Second / 100)
		}
	}
	return sum
}

func (s *PostgresServer) dataDir() string { return filepath.Join(s.dir, "data") }
func (s *PostgresServer) logFile() string { return filepath.Join(s.dir, "log") }

func startPostgresServer(parent string) (*PostgresServer, error) {
	c, err := newPostgresServer(parent)
	if err != nil {
		return nil, err
	}
	return c, c.initialize()
}

// newPostgresServer returns a server with an empty directory in parent. It does not run.
func newPostgresServer(parent string) (*PostgresServer, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	c := &PostgresServer{bin: bin, password: rand.Text()}
	if c.dir, err = os.MkdirTemp(parent, "parley-postgres-"); err != nil {
		return nil, err
	}
	if c.procAttr, err = serverProcAttr(); err != nil {
		return nil, err
	}
	if user := c.procAttr.Credential; user != nil {
		if err := os.Chown(c.dir, int(user.Uid), int(user.Gid)); err != nil {
			return nil, err
		}
	}
	if err := c.startGuard(); err != nil {
		return nil, fmt.Errorf("guard PostgreSQL: %w", err)
	}
	return c, nil
}

// serverParentDir returns a directory in memory if the machine has one, because on
// a disk that other tests keep busy a commit takes up to half a second, which is too
// close to the write timeout of the service. No test cuts the power of the machine, so
// that the data is as safe there: it survives the end of the server's processes.
func serverParentDir() string {
	const shared = "/dev/shm"
	var fs syscall.Statfs_t
	if syscall.Statfs(shared, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= minMemoryBytes {
		return shared
	}
	return os.TempDir()
}

// startGuard starts a process that stops the server and deletes its files when
// this process ends. It notices the end by the end of its standard input.
func (s *PostgresServer) startGuard() error {
	const script = `cat
pid=$(head -n 1 "$2/data/postmaster.pid") && {
	pkill -CONT -P $pid; kill -CONT $pid; "$1/pg_ctl" stop -D "$2/data" -m immediate; }
rm -rf "$2"`
	cmd := exec.Command("sh", "-c", script, "guard", s.bin, s.dir)
	cmd.Dir = s.dir
	// Setsid, so that Ctrl-C does not reach the guard.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.procAttr.Credential, Setsid: true}
	var err error
	if s.guardStdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	return cmd.Start()
}

func (s *PostgresServer) initialize() error {
	pwfile := filepath.Join(s.dir, "password")
	// The directory is private. The mode is set afterwards, because a service in this process may have set the umask.
	if err := errors.Join(os.WriteFile(pwfile, []byte(s.password), 0o600), os.Chmod(pwfile, 0o644)); err != nil {
		return err
	}
	if err := s.run("initdb", "-D", s.dataDir(), "-U", "parley", "-A", "scram-sha-256", "--pwfile", pwfile,
		"-E", "UTF8", "--no-locale", "--no-sync"); err != nil {
		return err
	}
	return s.start("listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nfsync = on\nmax_connections = 300\n")
}

// follow copies another server and starts as its standby.
func (s *PostgresServer) follow(primary *PostgresServer) error {
	err := s.run("pg_basebackup", "--pgdata", s.dataDir(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
		"--dbname", primary.url("postgres"))
	if err != nil {
		return err
	}
	return s.start("")
}

// start starts a server with a free port and more settings than those it has.
func (s *PostgresServer) start(settings string) error {
	port, err := testkit.PickTCPPort()
	if err != nil {
		return err
	}
	s.port = port
	file, err := os.OpenFile(filepath.Join(s.dataDir(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "%sport = %d\n", settings, s.port)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return s.run("pg_ctl", "start", "-D", s.dataDir(), "-l", s.logFile(), "-w", "-t", "60", "-s")
}

func (s *PostgresServer) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = s.procAttr
	out, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(s.logFile())
		return fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, out, log)
	}
	return nil
}

// findPostgres returns the program directory of the newest installed server.
func findPostgres() (string, error) {
	if p, err := exec.LookPath("pg_ctl"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			return filepath.Dir(p), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl") // not in PATH on Debian
	if len(found) == 0 {
		return "", errNotInstalled
	}
	version := func(p string) int {
		n, _ := strconv.Atoi(strings.Split(p, "/")[4])
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// serverProcAttr returns the attributes of the server processes. A test that runs
// as root starts the server as user postgres, because PostgreSQL refuses root.
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
