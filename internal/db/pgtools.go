package db

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// RestorePostgres restores the output of pg_dump into the empty PostgreSQL database at
// url, in one transaction, with pg_restore in PATH.
func RestorePostgres(ctx context.Context, url, file string) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("open PostgreSQL: %w", err)
	}
	conn, err := connectPostgres(ctx, config)
	if err != nil {
		return err
	}
	address := reachedAddress(ctx, conn)
	var version int
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&version)
	closePgx(conn)
	if err != nil {
		return fmt.Errorf("read the version of PostgreSQL: %w", err)
	}
	if err := checkToolVersion(ctx, "pg_restore", version/10000); err != nil {
		return err
	}
	return runPostgresTool(ctx, config, address, "pg_restore", "--single-transaction", "--exit-on-error", "--no-owner",
		"--no-privileges", "--dbname="+config.Database, file)
}

// ExecPostgres runs a statement on the PostgreSQL database at url without migrating it.
func ExecPostgres(ctx context.Context, url, statement string) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("open PostgreSQL: %w", err)
	}
	conn, err := connectPostgres(ctx, config)
	if err != nil {
		return err
	}
	defer closePgx(conn)
	_, err = conn.Exec(ctx, statement)
	return err
}

// AnalyzePostgres collects the statistics of the PostgreSQL database at url, from which the server plans queries. A
// database that has just been filled has none, and the server collects them by itself only after a while.
func AnalyzePostgres(ctx context.Context, url string) error { return ExecPostgres(ctx, url, "ANALYZE") }

// CreateTemporaryPostgres creates an empty database on the server of url and returns its
// URL. drop deletes it, also while it is in use.
func CreateTemporaryPostgres(ctx context.Context, serverURL string) (tempURL string, drop func() error, err error) {
	if _, err := pgx.ParseConfig(serverURL); err != nil {
		return "", nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	u, err := url.Parse(serverURL)
	if err != nil {
		return "", nil, errors.New("open PostgreSQL: the URL is malformed")
	}
	name := "parley_drill_" + strings.ToLower(rand.Text()[:12])
	u.Path = "/" + name
	query := u.Query()
	query.Del("dbname") // both have precedence over the path
	query.Del("database")
	u.RawQuery = query.Encode()
	// A restore into another database must be impossible.
	if temporary, err := pgx.ParseConfig(u.String()); err != nil || temporary.Database != name {
		return "", nil, errors.New("open PostgreSQL: the URL does not let the drill choose another database: " +
			"name the database in the path of the URL")
	}
	if err := ExecPostgres(ctx, serverURL, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		return "", nil, fmt.Errorf("create a temporary database, which needs the right CREATEDB: %w", err)
	}
	return u.String(), func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if err := ExecPostgres(ctx, serverURL, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			return fmt.Errorf("drop the temporary database %s: %w", name, err)
		}
		return nil
	}, nil
}

var toolVersion = regexp.MustCompile(`\) (\d+)`)

// checkToolVersion returns an error if a program of PostgreSQL is missing or older than
// the server.
func checkToolVersion(ctx context.Context, program string, server int) error {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return toolError(program, server, "cannot be run: "+err.Error())
	}
	version := toolVersion.FindSubmatch(out)
	if version == nil {
		return toolError(program, server, fmt.Sprintf("has an unknown version: %q", out))
	}
	if major, _ := strconv.Atoi(string(version[1])); major < server {
		return toolError(program, server, fmt.Sprintf("has version %d", major))
	}
	return nil
}

// ToolError is the error that a program of PostgreSQL is missing, too old, or was killed.
type ToolError struct{ message string }

// Error implements error.
func (e *ToolError) Error() string { return e.message }

func toolError(program string, server int, problem string) error {
	return &ToolError{fmt.Sprintf("%s %s: install the client programs of PostgreSQL %d or newer and put them into PATH "+
		"(Debian: postgresql-client-%d)", program, problem, server, server)}
}

// serverAddress is the address of a PostgreSQL server as libpq has it: the host for the
// certificate, the IP address to connect to (empty for a Unix socket), and the port.
type serverAddress struct{ host, ip, port string }

// reachedAddress returns the address of the server that a connection has reached. It is
// not always the first host of the URL, because a URL may have several, and a name may
// have several addresses.
func reachedAddress(ctx context.Context, conn *pgx.Conn) serverAddress {
	config := conn.Config()
	remote := conn.PgConn().Conn().RemoteAddr()
	servers := append([]*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port}}, config.Fallbacks...)
	for _, s := range servers {
		address := serverAddress{host: s.Host, port: strconv.Itoa(int(s.Port))}
		if _, path := pgconn.NetworkAddress(s.Host, s.Port); path == remote.String() && remote.Network() == "unix" {
			return address
		}
		tcp, ok := remote.(*net.TCPAddr)
		if !ok || tcp.Port != int(s.Port) {
			continue
		}
		ips, _ := config.LookupFunc(ctx, s.Host) // a host that cannot be resolved was not reached
		if slices.Contains(ips, tcp.IP.String()) {
			address.ip = tcp.IP.String()
			return address
		}
	}
	return serverAddress{host: config.Host, port: strconv.Itoa(int(config.Port))}
}

// runPostgresTool runs a program of PostgreSQL on the database of config at an address.
// Everything that it needs for the connection is in its environment, because every user of
// the machine can read a command line. The error contains what the program printed. On
// Linux the program is killed with this process, because nobody would know what it did afterwards.
func runPostgresTool(ctx context.Context, config *pgx.ConnConfig, address serverAddress, program string,
	args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(append(os.Environ(), toolEnvironment(config, address)...), "LC_ALL=C") // see toolFailure
	cmd.SysProcAttr = killedWithParent()
	// The kernel kills the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var printed bytes.Buffer
	cmd.Stderr = &printed
	if err := cmd.Run(); err != nil {
		return toolFailure(program, err, strings.TrimSpace(printed.String()))
	}
	return nil
}

// connectionLost matches what the client programs of PostgreSQL print, in English, if they cannot reach the server or
// lose the connection.
var connectionLost = regexp.MustCompile(`connection to server .*failed|server closed the connection unexpectedly|` +
	`no connection to the server|terminating connection|the database system is |` +
	`could not (receive data from|send data to) server|SSL (SYSCALL )?error|lost synchronization with server`)

// toolFailure returns the error of a program of PostgreSQL that has ended with err. It recognizes by the text what
// IsServerDiskFull, IsDiskFull and IsConnectionLost report, because the program prints no code.
func toolFailure(program string, err error, printed string) error {
	exit, ended := errors.AsType[*exec.ExitError](err)
	failure := fmt.Errorf("%s: %w: %s", program, err, printed[:min(len(printed), 1000)])
	switch {
	case ended && exit.ExitCode() < 0: // for example by the kernel, which is out of memory
		return &ToolError{failure.Error()}
	case strings.Contains(printed, "ERROR:") && strings.Contains(printed, "No space left on device"):
		return fmt.Errorf("%w: %w", errServerDiskFull, failure)
	case connectionLost.MatchString(printed):
		return fmt.Errorf("%w: %w", errConnectionLost, failure)
	case strings.Contains(printed, "No space left on device"): // of the program itself, on this machine
		return fmt.Errorf("%w: %w", syscall.ENOSPC, failure)
	}
	return failure
}

// tlsVariables are the variables of libpq for the parameters of a URL that pgx does not
// keep.
var tlsVariables = map[string]string{"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT",
	"sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY", "sslnegotiation": "PGSSLNEGOTIATION"}

// toolEnvironment returns the variables of libpq for a connection.
func toolEnvironment(config *pgx.ConnConfig, address serverAddress) []string {
	env := []string{"PGHOST=" + address.host, "PGHOSTADDR=" + address.ip, "PGPORT=" + address.port,
		"PGUSER=" + config.User, "PGPASSWORD=" + config.Password, "PGDATABASE=" + config.Database}
	if u, err := url.Parse(config.ConnString()); err == nil {
		for name, variable := range tlsVariables {
			if value := u.Query().Get(name); value != "" {
				env = append(env, variable+"="+value)
			}
		}
	}
	var options []string
	escape := strings.NewReplacer(`\`, `\\`, " ", `\ `)
	for name, value := range config.RuntimeParams {
		switch name {
		case "application_name":
		case "options":
			options = append(options, value)
		default:
			options = append(options, "-c "+name+"="+escape.Replace(value))
		}
	}
	return append(env, "PGOPTIONS="+strings.Join(options, " "))
}
