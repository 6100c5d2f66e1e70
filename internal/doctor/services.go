package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"parley/internal/cluster"
	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/instance"
	"parley/internal/media"
	"parley/internal/shell"
	"parley/internal/store"
)

// connectTimeout is how long a database may take to respond. It is less than checkTimeout.
const connectTimeout = 5 * time.Second

// maxClockOffset is how much two clocks may differ. The deadlines of leases and tokens have more time.
const maxClockOffset = 2 * time.Second

// maxLatency is how long the fastest query to a database may take. In one data center it takes less than 2 ms.
const maxLatency = 10 * time.Millisecond

// roundLatency returns a time in milliseconds, with two digits after the point.
func roundLatency(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

func checkEnvironment(context.Context, config.Config) Result {
	names := config.UnknownEnv(os.Environ())
	if len(names) == 0 {
		return fine("all variables are known")
	}
	return found("unknown_variable", Warning, "unset "+strings.Join(names, " ")+", where the server gets its environment",
		"These variables have no effect, because there are no such settings: %s.", strings.Join(names, ", "))
}

// lowPortChange allows a server without root to open a port below 1024.
const lowPortChange = "AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit of systemd"

func checkPorts(ctx context.Context, cfg config.Config) (result Result) {
	running, sockets, err := instance.CheckSockets(ctx, cfg)
	switch { // with an error, the server may run and have its ports
	case running:
		return fine("the server runs")
	case errors.Is(err, fs.ErrPermission):
		return unknown(otherUser, cfg.DataDir)
	case err != nil:
		return unknown("%v", err)
	}
	result.Findings = SocketFindings(cfg, sockets)
	ports, err := media.CheckPorts(cfg.NodeIPs(), IsLocal(cfg), cfg.RTCUDPPort, cfg.SeparateTCPPort())
	result.Findings = append(result.Findings, MediaPortFindings(cfg, ports)...)
	switch {
	case len(result.Findings) > 0:
		return result
	case err != nil:
		return unknown("%v", err)
	}
	return fine("free")
}

// SocketFindings returns the findings about the listening sockets that a server cannot open.
func SocketFindings(cfg config.Config, failures []*instance.SocketError) []Finding {
	var result Result
	for _, failure := range failures {
		level := Error
		if failure.Optional {
			level = Warning
		}
		change := "--" + failure.Flag + " HOST:PORT"
		if !errors.Is(failure, syscall.EADDRINUSE) {
			change += ", with an address of this machine"
		}
		result.addPort(failure, level, change, forwardChange(cfg, failure), "")
	}
	return result.Findings
}

// MediaPortFindings returns the findings about the ports for media, all that a server cannot open.
func MediaPortFindings(cfg config.Config, failures []*media.PortError) []Finding {
	var result Result
	for _, failure := range failures {
		flag, _, _ := strings.Cut(failure.Setting, " ")
		level, effect := withoutMediaPort(cfg, failure, failures)
		if failure.Free {
			result.add("port", level, "Restart the server: systemctl restart parley",
				"%s port %d of %s was in use when the server started, and is free now.%s", failure.Protocol, failure.Port,
				failure.Setting, effect)
			continue
		}
		result.addPort(failure, level, flag+" PORT", "", effect)
	}
	return result.Findings
}

// addPort adds a finding about a port that cannot be opened. It suggests forward in place of change unless that is
// empty.
func (r *Result) addPort(failure error, level Level, change, forward, effect string) {
	switch {
	case errors.Is(failure, fs.ErrPermission):
		change = lowPortChange + ", or " + cmp.Or(forward, "a port above 1023")
	case errors.Is(failure, syscall.EADDRINUSE) && forward != "":
		change = "Stop the program that has the port (sudo ss -ltnp), or " + forward
	case errors.Is(failure, syscall.EADDRINUSE):
		change += ", with a port that is free"
	}
	r.add("port", level, change, "The server cannot open its ports: %s.%s", oneLine(failure), effect)
}

// withoutMediaPort says how bad it is for people that a port for media cannot be opened, and what it means for them.
// all has all such ports.
func withoutMediaPort(
	cfg config.Config, failure *media.PortError, all []*media.PortError,
) (level Level, effect string) {
	without := " Without it, until the next start, "
	if failure.Retried {
		without = " Without it, "
	}
	withTURN, separate := cfg.ServesTLS() && cfg.TURN, cfg.SeparateTCPPort() != 0
	isTCP := func(f *media.PortError) bool { return f.Protocol == "TCP" }
	withTCP := cfg.ServesTLS() && !separate || separate && !slices.ContainsFunc(all, isTCP)
	switch {
	case isTCP(failure) && withTURN:
		return Warning, without + "people whose network blocks UDP use TURN."
	case isTCP(failure):
		return Warning, without + "people whose network blocks UDP cannot hear anybody."
	case withTURN || withTCP:
		return Warning, without + "media uses TCP, with more delay."
	}
	return Error, without + "people hear each other only if no firewall is between them and the server."
}

// forwardChange returns how the server gets the connections to the port of a socket without opening it; empty if
// another port is as good. Browsers and ACME authorities use ports 443 and 80 without being told.
func forwardChange(cfg config.Config, socket *instance.SocketError) string {
	_, port, _ := net.SplitHostPort(socket.Address)
	switch {
	case socket.Flag == "listen" && port == "443" && cfg.ServesTLS():
		change := "forward TCP port 443 unchanged to --listen :8443"
		if cfg.PublicURL == "" { // it would have the port of --listen
			change += " and set --public-url " + cfg.BaseURL("")
		}
		return change
	case socket.Flag == "http-listen" && port == "80":
		return "forward TCP port 80 to --http-listen :8080, or leave --http-listen out"
	}
	return ""
}

func checkDatabase(ctx context.Context, cfg config.Config) Result {
	if cfg.DatabaseURL == "" {
		return fine("SQLite")
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	state, err := db.InspectPostgres(ctx, cfg.DatabaseURL.Reveal())
	if err != nil {
		return found("database_unavailable", Error, "Start PostgreSQL, or correct --database-url.",
			"PostgreSQL cannot be used: %v.", oneLine(err))
	}
	var result Result
	if state.Version < db.MinPostgres {
		result.add("database_version", Error, fmt.Sprintf("--database-url URL, of PostgreSQL %d or newer", db.MinPostgres),
			"PostgreSQL %d is too old for this server, which needs %d or newer.", state.Version, db.MinPostgres)
	}
	if state.Standby {
		result.add("database_standby", Error, "--database-url URL, of the primary",
			"PostgreSQL is a standby, which accepts no writes.")
	}
	if len(state.Unsafe) > 0 {
		var change strings.Builder
		for _, name := range state.Unsafe {
			fmt.Fprintf(&change, "ALTER SYSTEM SET %s = on; ", name)
		}
		result.add("database_durability", Warning, "In psql as superuser: "+change.String()+"SELECT pg_reload_conf();",
			"PostgreSQL can lose what it has committed when it crashes, because %s is off, unless its storage prevents that.",
			strings.Join(state.Unsafe, ", "))
	}
	if state.Pooled {
		result.add("database_pooler", Error, "--database-url URL, of PostgreSQL itself",
			"A connection pooler assigns connections of PostgreSQL for each transaction, so locks of the nodes do not hold.")
	}
	result.addClock("database_clock", "PostgreSQL", state.ClockOffset)
	if state.Latency > maxLatency {
		result.add("database_slow", Warning, "--database-url URL, of PostgreSQL in the same data center",
			"A query to PostgreSQL takes %s, and a join needs several in a row, so people wait for the room.",
			roundLatency(state.Latency))
	}
	if len(result.Findings) == 0 {
		return fine("PostgreSQL %d responds in %s", state.Version, roundLatency(state.Latency))
	}
	return result
}

const (
	// maxCheckedBytes is the size of the largest database in which damage is looked for, so that the check ends in time.
	maxCheckedBytes = 1 << 30
	// maxLogBytes is the size up to which a write-ahead log is usual. A larger one is also larger than the database.
	maxLogBytes = 64 << 20
)

func checkDatabaseFile(ctx context.Context, cfg config.Config) Result {
	file := store.SQLiteFile(cfg.DataDir)
	if cfg.DatabaseURL != "" {
		return fine("none: PostgreSQL")
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	state, err := db.InspectSQLite(ctx, file, maxCheckedBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return unknown("%s does not exist: the first start creates it", file)
	case errors.Is(err, fs.ErrPermission):
		return unknown(otherUser, file)
	case err != nil:
		return unknown("%s", oneLine(err))
	}
	var result Result
	if state.Damage != "" {
		result.add("database_damaged", Error, "Stop the server, move "+file+"* away, and restore a backup: "+
			"parley restore FILE --data-dir "+shell.Quote(cfg.DataDir),
			"The database is damaged, so data is lost or the server stops: %s.",
			strings.Join(strings.Fields(strings.TrimRight(state.Damage, ".")), " "))
	}
	if state.LogBytes > max(maxLogBytes, state.Bytes) {
		result.add("database_log", Warning, "Restart the server, which empties the log.",
			"The write-ahead log of the database has %d MiB, so reads are slow and the disk fills.", state.LogBytes>>20)
	}
	if len(result.Findings) > 0 {
		return result
	}
	size := fmt.Sprintf("%d MiB, and a write-ahead log of %d MiB", state.Bytes>>20, state.LogBytes>>20)
	if !state.Checked {
		return fine("%s; it is too large to look for damage here: parley backup verify looks at a backup", size)
	}
	return fine("no damage; %s", size)
}

func checkRedis(ctx context.Context, cfg config.Config) Result {
	if cfg.RedisURL == "" {
		return fine("none: a single process")
	}
	state, reached, err := cluster.InspectRedis(ctx, cfg.RedisURL.Reveal())
	switch {
	case !reached:
		return found("redis_unavailable", Error, "Start Redis, or correct --redis-url.", "Redis cannot be used: %v.",
			oneLine(err))
	case err != nil:
		return unknown("%v", err)
	}
	var result Result
	if state.Major > 0 && state.Major < cluster.MinRedis {
		result.add("redis_version", Error, fmt.Sprintf("--redis-url URL, of Redis %d or newer", cluster.MinRedis),
			"Redis %s is too old for this server, which needs %d or newer.", state.Version, cluster.MinRedis)
	}
	if policy := state.EvictionPolicy; policy != "" && policy != "noeviction" {
		result.add("redis_eviction", Warning, "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf",
			"Redis forgets on which node a meeting is when its memory is full (%s), so people in one room do not meet.", policy)
	}
	result.addClock("redis_clock", "Redis", state.ClockOffset)
	if state.Latency > maxLatency {
		result.add("redis_slow", Warning, "--redis-url URL, of Redis in the same data center",
			"A command to Redis takes %s, and a join needs several in a row, so people wait for the room.",
			roundLatency(state.Latency))
	}
	if len(result.Findings) == 0 {
		return fine("Redis %s responds in %s", state.Version, roundLatency(state.Latency))
	}
	return result
}

// addClock adds a finding if the clock of another machine differs from the clock of this one.
func (r *Result) addClock(id, name string, offset time.Duration) {
	if offset.Abs() > maxClockOffset {
		r.add(id, Warning, "timedatectl set-ntp true, on both machines",
			"The clock of %s differs from the clock of this machine by %.1f s.", name, offset.Seconds())
	}
}

// oneLine returns the text of an error without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
