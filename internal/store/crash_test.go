package store_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"parley/internal/store"
	"parley/internal/store/storetest"
)

const crashEnv = "PARLEY_TEST_CRASH_"

func crashArguments() (url, dir, project string, ok bool) {
	project, ok = os.LookupEnv(crashEnv + "PROJECT")
	return os.Getenv(crashEnv + "URL"), os.Getenv(crashEnv + "DIR"), project, ok
}

// writeUntilKilled is the child's life: it makes rooms from many goroutines and
// prints the id of each that was acknowledged.
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
				if err := db.Write(ctx, insertRoomWork(db, project, id)); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Println(id) // one write, so that a line is there whole or not at all
			}
		}()
	}
	select {}
}

// What was acknowledged is there, whenever the process dies.
func TestWrite_SurvivesProcessCrash(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		db := p.open(t)
		project := storetest.Project(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			acknowledged := killUnderLoad(t, p, project.ID, 1+rand.IntN(3000))
			db := p.open(t)
			raw := p.raw(t)
			for _, id := range acknowledged {
				if !roomExists(t, raw, id) {
					t.Fatalf("room %s was acknowledged and is gone", id)
				}
			}
			if p.url == "" {
				var verdict string
				if err := raw.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
					t.Fatalf("the file is damaged: %s %v", verdict, err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// killUnderLoad kills a child after some acknowledgements and returns all that
// it gave.
func killUnderLoad(t *testing.T, p testDatabase, project string, after int) (acknowledged []string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashEnv+"URL="+p.url, crashEnv+"DIR="+p.dir, crashEnv+"PROJECT="+project)
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
		t.Fatalf("the child ended by itself after %d rooms", len(acknowledged))
	}
	return acknowledged
}
