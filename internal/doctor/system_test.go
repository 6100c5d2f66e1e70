package doctor

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"parley/internal/config"
)

// What cannot be caused on every machine is decided from what the system says.
func TestSystemResults(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	onPostgres := cfg
	onPostgres.DatabaseURL = "postgres://x"
	for _, c := range []struct {
		name   string
		result Result
		id     string
		want   Level
	}{
		{"a small buffer", udpBufferResult(212_992), "udp_receive_buffer", Warning},
		{"a large buffer", udpBufferResult(5_000_000), "", ""},
		{"a clock with an error", clockResult(5, 0, 0), "clock_unsynchronized", Warning},
		{"a clock that nothing sets", clockResult(0, 0x40, 0), "clock_unsynchronized", Warning},
		{"a clock", clockResult(0, 0, 16), "", ""},
		{"NFS", diskResult(cfg, 0x6969, 1<<40, 1<<40), "network_file_system", Error},
		{"FUSE", diskResult(cfg, 0x65735546, 1<<40, 1<<40), "network_file_system", Warning},
		{"NFS beside PostgreSQL", diskResult(onPostgres, 0x6969, 1<<40, 1<<40), "", ""},
		{"less than 1 GiB", diskResult(cfg, 0, 1<<29, 1<<30), "disk_space", Warning},
		{"less than 10 %", diskResult(cfg, 0, 5<<30, 100<<30), "disk_space", Warning},
		{"a fast disk", diskSpeedResult(50 * time.Millisecond), "", ""},
		{"a slow disk", diskSpeedResult(51 * time.Millisecond), "disk_slow", Warning},
		{"the clock of the server", serverClockResult(-3*time.Second, time.Second), "", ""},
		{"a slow answer about it", serverClockResult(9*time.Second, 8*time.Second), "", ""},
		{"a wrong clock of the server", serverClockResult(-4*time.Second, time.Second), "server_clock", Warning},
		{"300 GiB of 4 TiB", diskResult(cfg, 0, 300<<30, 4<<40), "", ""},
	} {
		var ids []string
		for _, f := range c.result.Findings {
			ids = append(ids, f.ID)
		}
		if got := (Report{[]Result{c.result}}).Worst(); got != c.want || strings.Join(ids, " ") != c.id {
			t.Errorf("%s: got %+v, want %q of the level %q", c.name, c.result, c.id, c.want)
		}
	}
}

// Before the first start, the disk on which the data directory will be is checked. Not parallel, because one check
// looks at the disk at a time.
func TestCheckDisk_BeforeFirstStart(t *testing.T) {
	cfg := config.Default()
	existing := t.TempDir()
	cfg.DataDir = existing
	want := checkDisk(t.Context(), cfg)
	cfg.DataDir = filepath.Join(existing, "var", "parley")
	if got := checkDisk(t.Context(), cfg); got.Unknown != "" || len(got.Findings) != len(want.Findings) {
		t.Errorf("disk: got %+v, want a result as for %s: %+v", got, existing, want)
	}
	speed := checkDiskSpeed(t.Context(), cfg)
	if !strings.HasSuffix(speed.Unknown, "/var/parley does not exist: the first start creates it") {
		t.Errorf("speed: got %+v, want that the first start creates the directory", speed)
	}
}

// setOpenFiles sets the limit of open files until the test ends.
func setOpenFiles(t *testing.T, limit uint64) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if limit > before.Max {
		t.Skipf("this machine allows only %d open files", before.Max)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) })
}

// mountDisk gives a directory a disk of its own until the test ends, or changes its size.
func mountDisk(t *testing.T, dir string, flags uintptr, size string) {
	t.Helper()
	err := syscall.Mount("tmpfs", dir, "tmpfs", flags, "size="+size)
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may mount a file system")
	}
	if err != nil {
		t.Fatal(err)
	}
	if flags&syscall.MS_REMOUNT == 0 {
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	}
}

// A /proc that hides the machine is found, and not found after it was mounted again.
func TestCheckProc(t *testing.T) {
	var hidden, mounted Result
	var mountErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlock it: the thread ends, and its mounts with it
		if mountErr = unix.Unshare(unix.CLONE_NEWNS); mountErr != nil {
			return
		}
		if mountErr = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); mountErr != nil {
			return
		}
		if mountErr = unix.Mount("tmpfs", "/proc", "tmpfs", 0, ""); mountErr != nil {
			return
		}
		hidden = checkProc(t.Context(), config.Config{})
		mountErr = unix.Unmount("/proc", 0)
		mounted = checkProc(t.Context(), config.Config{})
	}()
	<-done
	if errors.Is(mountErr, syscall.EPERM) {
		t.Skip("only root may mount a file system")
	}
	if mountErr != nil {
		t.Fatal(mountErr)
	}
	if len(hidden.Findings) != 1 || hidden.Findings[0].ID != "proc_stat" || hidden.Findings[0].Level != Error {
		t.Errorf("without /proc/stat: got %+v, want the finding proc_stat", hidden)
	}
	if len(mounted.Findings) != 0 {
		t.Errorf("with /proc/stat: got %+v, want no finding", mounted)
	}
}
