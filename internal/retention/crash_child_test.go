package retention_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/retention"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// crashVariable contains the crashArguments of the child process, as JSON.
const crashVariable = "PARLEY_TEST_CRASH_MAINTENANCE"

type crashArguments struct {
	Database storetest.Database
	Now      time.Time
	Periods  retention.Periods

	// At most one is set. If none is, the process rolls up the usage and sweeps.
	Erase              retention.Person
	DeleteOrganization string // ID

	KillIn int // the process kills itself in this transaction of the retention, the first is 1; 0 for none
	// KillAtLogSize is the size of the write-ahead log of SQLite at which the process kills itself during a compaction; 0
	// for never.
	KillAtLogSize int64
}

// These are the lines that the child process prints.
const (
	rolledUpLine = "rolled up"
	sweptLine    = "swept"
	finishedLine = "finished"
)

// Before the last line, the child process prints the receipt of an erasure or of the deletion of an organization.
type crashReceipt struct {
	Erased     retention.Erased
	UsageHours int
}

// transactions counts the transactions of the retention. The process kills itself at the end of one of them.
type transactions struct{ begun, killIn int }

// compactingStore is a store whose process kills itself during a compaction.
type compactingStore struct {
	retention.Store
	log         string // file of the write-ahead log
	killAtBytes int64
}

func (s compactingStore) Compact(ctx context.Context, log *slog.Logger) (bool, error) {
	go func() {
		for {
			if info, err := os.Stat(s.log); err == nil && info.Size() >= s.killAtBytes {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return s.Store.Compact(ctx, log)
}

// announcingStore prints a line after each commit of a rollup and of a sweep.
type announcingStore struct {
	*store.DB
	transactions *transactions
}

func (s announcingStore) SaveUsageRollup(ctx context.Context, r usage.Rollup) error {
	err := s.DB.SaveUsageRollup(ctx, r)
	fmt.Println(rolledUpLine)
	return err
}

func (s announcingStore) WriteInBackground(ctx context.Context, work func(ctx context.Context) error) error {
	s.transactions.begun++
	err := s.DB.WriteInBackground(ctx, func(ctx context.Context) error {
		err := work(ctx)
		if s.transactions.begun == s.transactions.killIn {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal has arrived
		}
		return err
	})
	fmt.Println(sweptLine)
	return err
}

// maintain is the main function of the child process. It rolls up the usage and sweeps at the
// same time, as the service does, until there is nothing left to do.
func maintain(a crashArguments) error {
	ctx := audit.WithOrigin(context.Background(), audit.Origin{Kind: audit.KindService, Node: "n"})
	db, err := store.Open(ctx, a.Database.URL, a.Database.Dir)
	if err != nil {
		return err
	}
	clock := func() time.Time { return a.Now }
	s := announcingStore{db, &transactions{killIn: a.KillIn}}
	var stored retention.Store = s
	if a.KillAtLogSize > 0 {
		stored = compactingStore{s, a.Database.File() + "-wal", a.KillAtLogSize}
	}
	sweeper := retention.NewService(stored, a.Periods, noRooms{}, func(string) {}, clock, slog.New(slog.DiscardHandler))
	if a.Erase.ProjectID != "" || a.DeleteOrganization != "" {
		return printReceipt(ctx, a, db, sweeper)
	}
	var rolledUp atomic.Bool
	rollup := make(chan error, 1)
	go func() {
		rollup <- usage.NewService(s, usage.NoProvider{}, clock).RollUp(ctx)
		rolledUp.Store(true)
	}()
	for last := false; !last; {
		last = rolledUp.Load()
		if _, err := sweeper.Sweep(ctx); err != nil {
			return err
		}
	}
	if err := <-rollup; err != nil {
		return err
	}
	fmt.Println(finishedLine)
	return db.Close()
}

// noRooms has no rooms to end.
type noRooms struct{}

func (noRooms) EndAllRooms(context.Context, string) error { return nil }

// printReceipt erases a person or deletes an organization and prints the receipt.
func printReceipt(ctx context.Context, a crashArguments, db *store.DB, service *retention.Service) error {
	var receipt crashReceipt
	var err error
	if a.DeleteOrganization == "" {
		receipt.Erased, err = service.Erase(ctx, a.Erase)
	} else {
		var done retention.OrganizationDeletion
		done, err = service.DeleteOrganization(ctx, a.DeleteOrganization)
		receipt.UsageHours = done.UsageHours
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(receipt)
	fmt.Printf("%s\n%s\n", text, finishedLine)
	return errors.Join(err, db.Close())
}

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(crashVariable); ok {
		var a crashArguments
		err := json.Unmarshal([]byte(text), &a)
		if err == nil {
			err = maintain(a)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// maintainInChild runs maintain in a child process, which is killed at a random moment after
// it has printed some lines; zero means that it is not killed. It returns the lines.
func (f *fixture) maintainInChild(killAfter int) (lines []string) {
	f.t.Helper()
	return f.runChild(crashArguments{}, killAfter)
}

// runChild is maintainInChild for some work.
func (f *fixture) runChild(a crashArguments, killAfter int) (lines []string) {
	f.t.Helper()
	a.Database, a.Now, a.Periods = f.Database, f.now, f.periods
	arguments, err := json.Marshal(a)
	if err != nil {
		f.t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashVariable+"="+string(arguments))
	child.Stderr = os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := child.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		f.t.Fatal(err)
	}
	for printed := bufio.NewScanner(out); printed.Scan(); {
		if lines = append(lines, printed.Text()); len(lines) == killAfter {
			time.AfterFunc(rand.N(5*time.Millisecond), func() { _ = child.Process.Kill() })
		}
	}
	killed := killAfter > 0 || a.KillIn > 0 || a.KillAtLogSize > 0
	if err := child.Wait(); err != nil && (!killed || child.ProcessState.ExitCode() >= 0) {
		f.t.Fatalf("the child: got %v after the lines %q, want no error but that of a kill", err, lines)
	}
	return lines
}
