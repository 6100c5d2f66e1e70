// Command bench measures the project's performance goals and prints each figure with its
// goal: durable room creation on SQLite and on PostgreSQL compared with a bare net/http
// server and with LiveKit, signed reads and their access log, a refusal for a known and for an
// unknown key, webhooks on both databases, the time to start, memory, the cost of operations
// with many past meetings, the upgrade of an earlier release, the requests of the console,
// allocations, the time until a joining participant hears and sees others in a browser, and the
// processor time of the page. It starts the real program (bin/parley), loads it over loopback
// and stops all processes that it started.
//
// A missed goal is not a failure. The exit status is 1 if a figure could not be measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// These are the roles of this program when it starts itself as a server.
const (
	roleVariable     = "BENCH_ROLE"
	argumentVariable = "BENCH_ARGUMENT"

	roleBare     = "bare"
	roleLiveKit  = "livekit"
	roleUnshared = "each"
)

var roles = map[string]func(argument string) error{
	roleBare: serveBare, roleLiveKit: serveLiveKit, roleUnshared: serveUnshared,
}

// errUnavailable means that the measured feature or a program for the measurement is missing,
// which is not a failure of the run.
var errUnavailable = errors.New("not available")

func main() {
	if serve, ok := roles[os.Getenv(roleVariable)]; ok {
		exitWith(serve(os.Getenv(argumentVariable)))
	}
	exitWith(run())
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// bench is one run.
type bench struct {
	binary string
	joins  []string // the join scenarios to measure
	dir    string   // for all files; removed after the run
	pairs  int
	slice  time.Duration
	// meetings are the numbers of past meetings that growth compares, spread over years.
	meetings []int
	years    int
	// consoleMeetings is the number of past meetings over which console measures.
	consoleMeetings int
	// databases are those that growth, upgrade and console measure.
	databases []string
	// upgradeMeetings is the number of past meetings that upgrade upgrades.
	upgradeMeetings int
	// beside is the program of another version that is compared with binary. It is empty for none.
	beside string
	// through is the program of an earlier commit that opens these meetings first. It is empty for none.
	through string
}

// experiments are the parts of a run, in order.
var experiments = []struct {
	name string
	run  func(*bench, context.Context) ([]figure, error)
}{
	{"read", (*bench).read},
	{"refuse", (*bench).refuse},
	{"sqlite", (*bench).sqlite},
	{"beside-read", (*bench).besideReads},
	{"beside-sqlite", (*bench).besideSQLite},
	{"postgres", (*bench).postgres},
	{"livekit", (*bench).livekit},
	{"webhooks", (*bench).webhooks},
	{"media", (*bench).media},
	{"attack", (*bench).attack},
	{"start", (*bench).start},
	{"idle", (*bench).idle},
	{"growth", (*bench).growth},
	{"upgrade", (*bench).upgrade},
	{"console", (*bench).console},
	{"allocations", (*bench).allocations},
	{"page", (*bench).page},
	{"tiles", (*bench).tiles},
}

func run() error {
	testing.Init() // testing.Benchmark counts the allocations
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	only := flags.String("only", "", "Comma-separated experiments to run: "+strings.Join(names(), ", ")+".")
	joins := flags.String("joins", "", "Comma-separated join scenarios to measure: "+strings.Join(joinNames(), ", ")+".")
	pairs := flags.Int("pairs", 6, "Even number of pairs of slices in each comparison; below 6 the noise is high.")
	slice := flags.Duration("slice", time.Second, "Length of a slice; below 1s the noise is high.")
	meetings := flags.String("meetings", "1000,20000", "Comma-separated numbers of past meetings that growth compares.")
	consoleMeetings := flags.Int("console-meetings", 100_000, "Number of past meetings over which console measures.")
	databases := flags.String("databases", "", "Comma-separated databases that growth, upgrade and console measure: "+
		strings.Join(growthDatabases, ", ")+".")
	upgradeMeetings := flags.Int("upgrade-meetings", 100_000, "Number of past meetings that upgrade upgrades.")
	through := flags.String("through", "",
		"Path of the program of an earlier commit that rolls up the usage before upgrade begins.")
	beside := flags.String("beside", "",
		"Path of the program of another version, with which beside-read and beside-sqlite compare that of -bin.")
	years := flags.Int("years", 1, "Number of years over which growth spreads the past meetings.")
	asJSON := flags.Bool("json", false, "Output in JSON.")
	binary := flags.String("bin", "bin/parley", "Path of the program to measure.")
	_ = flags.Parse(os.Args[1:]) // exits on errors
	wanted, err := choose("-only", *only, names())
	if err != nil {
		return err
	}
	joinsWanted, err := choose("-joins", *joins, joinNames())
	if err != nil {
		return err
	}
	if *pairs < 2 || *pairs%2 != 0 || *slice < 100*time.Millisecond || *slice > time.Minute {
		return errors.New("-pairs must be even and at least 2, and -slice must be between 100ms and 1m")
	}
	sizes, err := parseMeetings(*meetings)
	if err != nil {
		return err
	}
	databasesWanted, err := choose("-databases", *databases, growthDatabases)
	if err != nil {
		return err
	}
	if *years < 1 || *years > 20 {
		return errors.New("-years must be between 1 and 20")
	}
	if *upgradeMeetings < 100 || *upgradeMeetings > 1_000_000 {
		return errors.New("-upgrade-meetings must be between 100 and 1000000")
	}
	if *consoleMeetings < 1 {
		return errors.New("-console-meetings must be at least 1")
	}
	b := &bench{
		pairs:           *pairs,
		slice:           *slice,
		joins:           joinsWanted,
		meetings:        sizes,
		years:           *years,
		consoleMeetings: *consoleMeetings,
		databases:       databasesWanted,
		upgradeMeetings: *upgradeMeetings,
	}
	if b.binary, err = filepath.Abs(*binary); err != nil {
		return err
	}
	if _, err := os.Stat(b.binary); err != nil {
		return fmt.Errorf("-bin: build the program first (make build): %w", err)
	}
	if b.through, err = existingFile("-through", *through); err != nil {
		return err
	}
	if b.beside, err = existingFile("-beside", *beside); err != nil {
		return err
	}
	if b.beside == "" && *only == "" {
		wanted = slices.DeleteFunc(wanted, func(name string) bool { return strings.HasPrefix(name, "beside-") })
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends this process, and the kernel its children
	if b.dir, err = os.MkdirTemp("", "parley-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	if inMemory(b.dir) {
		return fmt.Errorf("%s is in memory, where durable writes are free: set TMPDIR to a directory on a disk",
			os.TempDir())
	}
	r := report{Pairs: b.pairs, Slice: b.slice.String()}
	if r.Machine, err = describeMachine(b.dir); err != nil {
		return err
	}
	failed := false
	for _, e := range experiments {
		if !slices.Contains(wanted, e.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring: %s\n", e.name)
		figures, err := e.run(b, ctx)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		r.Figures = append(r.Figures, figures...)
		if err != nil {
			r.Unmeasured = append(r.Unmeasured, fmt.Sprintf("%s: %v", e.name, err))
			failed = failed || !errors.Is(err, errUnavailable)
		}
	}
	if *asJSON {
		err = r.json(os.Stdout)
	} else {
		err = r.text(os.Stdout)
	}
	if err == nil && failed {
		err = errors.New("some experiments could not be measured")
	}
	return err
}

// existingFile returns the absolute path of the file in the value of a flag. An empty value names none.
func existingFile(flagName, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("%s: %w", flagName, err)
	}
	return filepath.Abs(file)
}

func names() []string {
	var all []string
	for _, e := range experiments {
		all = append(all, e.name)
	}
	return all
}

// choose returns the names in the list of a flag, or all if the list is empty.
func choose(flagName, list string, all []string) ([]string, error) {
	if list == "" {
		return all, nil
	}
	wanted := strings.Split(list, ",")
	for _, name := range wanted {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("%s: unknown name %q, must be one of %s", flagName, name, strings.Join(all, ", "))
		}
	}
	return wanted, nil
}
