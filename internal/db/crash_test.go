package db_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"parley/internal/fault"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

const crashEnv = "PARLEY_TEST_CRASH_"

func crashArguments() (url, dir, project string, ok bool) {
	project, ok = os.LookupEnv(crashEnv + "PROJECT")
	return os.Getenv(crashEnv + "URL"), os.Getenv(crashEnv + "DIR"), project, ok
}

// writeUntilKilled is the main function of the child process. It creates rooms
// from many goroutines and prints the id of each after its commit.
func writeUntilKilled(url, dir, project string) {
	ctx := context.Background()
	db, err := store.Open(ctx, url, dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for range 32 {
		go func() {
			for {
				id := storetest.NewID()
				err := db.Write(ctx, insertRoomWork(db, project, id))
				if fault.Is(err, fault.Unavailable) {
					continue // a busy disk; the room is not acknowledged
				}
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Println(id) // one system call, so that no line is incomplete
			}
		}()
	}
	select {}
}

// TestWrite_SurvivesProcessCrash kills a writing process at random points.
func TestWrite_SurvivesProcessCrash(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		db := p.Open(t)
		project := storetest.Project(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			acknowledged := killUnderLoad(t, p, project.ID, 1+rand.IntN(3000))
			db := p.Open(t)
			raw := p.Raw(t)
			for _, id := range acknowledged {
				if !roomExists(t, raw, id) {
					t.Fatalf("committed room %s after the crash: got no row, want one", id)
				}
			}
			if p.URL == "" {
				var result string
				if err := raw.QueryRow(`PRAGMA integrity_check`).Scan(&result); err != nil || result != "ok" {
					t.Fatalf("integrity_check after the crash: got %q, %v, want ok", result, err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// killUnderLoad kills a child process after it has printed some ids and returns
// all ids that it printed.
func killUnderLoad(t *testing.T, p storetest.Database, project string, after int) (acknowledged []string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashEnv+"URL="+p.URL, crashEnv+"DIR="+p.Dir, crashEnv+"PROJECT="+project)
	child.Stderr = os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		acknowledged = append(acknowledged, lines.Text())
		if len(acknowledged) == after {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // it was killed
	if len(acknowledged) < after {
		t.Fatalf("the child exited after %d rooms, want it to run until it is killed after %d", len(acknowledged), after)
	}
	return acknowledged
}

func TestMain(m *testing.M) {
	if url, dir, project, ok := crashArguments(); ok {
		writeUntilKilled(url, dir, project)
	}
	os.Exit(m.Run())
}
