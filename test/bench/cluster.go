package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// cluster is a PostgreSQL cluster with default settings.
type cluster struct {
	*child
	address string
}

// startCluster creates a new cluster in a new directory of dir and starts it.
func startCluster(ctx context.Context, dir, name string) (*cluster, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	own, err := owner()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, name)
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	if own != nil {
		if err := errors.Join(os.Chown(data, int(own.Uid), int(own.Gid)), os.Chmod(dir, 0o711)); err != nil {
			return nil, err
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = data, &syscall.SysProcAttr{Credential: own}
		return cmd
	}
	out, err := command("initdb", "-D", data, "-U", "parley", "--auth=trust", "--encoding=UTF8", "--no-locale",
		"--no-sync").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	c := &cluster{}
	if c.address, err = freeAddress(); err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(c.address)
	if err != nil {
		return nil, err
	}
	cmd := command("postgres", "-D", data, "-h", host, "-p", port, "-c", "unix_socket_directories=",
		// The server with a store for each writer needs many connections.
		"-c", "max_connections=500")
	if c.child, err = start(dir, name, cmd); err != nil {
		return nil, err
	}
	if err := c.await(ctx, 20*time.Millisecond, func() bool { return c.query(ctx, "SELECT 1") == nil }); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

// end stops the cluster with SIGINT, which is PostgreSQL's fast shutdown.
func (c *cluster) end() { _ = c.stop(os.Interrupt) }

// create creates a database and returns its URL.
func (c *cluster) create(ctx context.Context, name string) (string, error) {
	return c.url(name), c.query(ctx, "CREATE DATABASE "+name)
}

func (c *cluster) url(database string) string {
	return "postgres://parley@" + c.address + "/" + database + "?sslmode=disable"
}

func (c *cluster) query(ctx context.Context, q string) error {
	db, err := sql.Open("pgx", c.url("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, q)
	return err
}

// postgresBin returns the directory of the newest PostgreSQL's programs.
func postgresBin() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.New("no PostgreSQL server programs (initdb, postgres) in PATH or /usr/lib/postgresql: " +
			"install PostgreSQL")
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

// owner returns the credentials of the user postgres if this program runs as root, because
// PostgreSQL refuses to run as root. Otherwise it returns nil.
func owner() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL refuses to run as root and needs the user postgres: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}
