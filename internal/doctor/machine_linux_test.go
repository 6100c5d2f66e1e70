package doctor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"parley/internal/cluster/clustertest"
	"parley/internal/config"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// rootOnly skips a test that changes the machine for a moment, unless root runs it with all tests.
func rootOnly(t *testing.T) {
	t.Helper()
	testkit.Slow(t)
	if os.Geteuid() != 0 {
		t.Skip("only root may change the machine")
	}
}

// A small buffer of the machine is found, and not found after the line of the finding was applied. The setting is that
// of the machine, also in a network namespace, so the test restores it at once.
func TestCheckUDPBuffers(t *testing.T) {
	rootOnly(t)
	const file = "/proc/sys/net/core/rmem_max"
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := func(value string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(value), 0); err != nil {
			t.Errorf("set net.core.rmem_max to %s: %v", value, err)
		}
	}
	if err := os.WriteFile(file, before, 0); err != nil {
		t.Skipf("this machine does not let net.core.rmem_max be set: %v", err)
	}
	defer set(string(before))
	set("212992")
	cfg, run := newConfig(t), check(checkUDPBuffers)
	found := run.findings(t, cfg)["udp_receive_buffer"]
	_, value, ok := strings.Cut(found.Change, "echo net.core.rmem_max=")
	value, _, isFile := strings.Cut(value, " > ")
	if found.Level != Warning || !ok || !isFile {
		t.Fatalf("got the finding %+v, want udp_receive_buffer with a value for the setting", found)
	}
	set(value)
	if after := run.findings(t, cfg); len(after) > 0 {
		t.Errorf("after the change: got the findings %v, want none", after)
	}
}

// isolated runs a test in a network namespace without interfaces that are up, in a process of its own. It reports
// whether this is that process.
func isolated(t *testing.T) bool {
	t.Helper()
	const own = "PARLEY_TEST_OWN_PROCESS"
	if os.Getenv(own) != "" {
		return true
	}
	rootOnly(t)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), own+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	output, err := child.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this machine lets nobody create a network namespace")
	}
	if err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
		t.Errorf("in its own process: got %v, want a pass; its output:\n%s", err, output)
	}
	return false
}

// A machine that does not have its network yet has no address for media, and has one after it got the address.
func TestCheckMediaAddress_NoNetwork(t *testing.T) {
	if !isolated(t) {
		return
	}
	run := check(checkMediaAddress)
	public := config.Config{PublicURL: "https://203.0.113.7"}
	explicit := public
	explicit.RTCNodeIP = "203.0.113.7"
	for _, cfg := range []config.Config{public, explicit} {
		f := run.findings(t, cfg)["node_ip"]
		if f.Level != Error || !strings.HasPrefix(f.Change, "Connect this machine to the network") {
			t.Errorf("node IP %q: got the finding %+v, want node_ip about the network", cfg.RTCNodeIP, f)
		}
	}
	if after := run.findings(t, config.Config{PublicURL: "http://localhost:8080"}); len(after) > 0 {
		t.Errorf("a server for this machine only: got the findings %v, want none", after)
	}
	runLine(t, nil, "ip link set lo up && ip addr add 203.0.113.7/32 dev lo")
	if after := run.findings(t, explicit); len(after) > 0 {
		t.Errorf("with the address: got the findings %v, want none", after)
	}
	both := explicit
	both.RTCNodeIP += ",2001:db8::7"
	f := run.findings(t, both)["node_ip"]
	if f.Level != Warning || f.Change != "--rtc-node-ip 203.0.113.7" || !strings.Contains(f.Text, "2001:db8::7") {
		t.Errorf("with one of two addresses: got the finding %+v, want a warning about the other", f)
	}
}

// A machine with an IPv6 address of its own and a public IPv4 address that a router translates announces both, because
// browsers have IPv4, IPv6 or both.
func TestCheckMediaAddress_DualStack(t *testing.T) {
	if !isolated(t) {
		return
	}
	runLine(t, nil, "ip link set lo up && ip addr add 10.0.0.4/32 dev lo && ip addr add 2001:db8::7/128 dev lo && "+
		"ip addr add fd00::7/128 dev lo && ip route add default dev lo src 10.0.0.4")
	run := check(checkMediaAddress)
	for _, c := range []struct {
		name, nodeIP string
		host         []string // its addresses in the DNS
		level        Level    // empty without a finding
		change       string
	}{
		{"no setting", "", []string{"203.0.113.7", "2001:db8::7"}, Error, "--rtc-node-ip 203.0.113.7,2001:db8::7"},
		{"IPv6 alone", "2001:db8::7", []string{"203.0.113.7", "2001:db8::7"}, Error,
			"--rtc-node-ip 203.0.113.7,2001:db8::7"},
		{"both", "203.0.113.7,2001:db8::7", []string{"203.0.113.7", "2001:db8::7"}, "", ""},
		{"IPv4 alone", "203.0.113.7", []string{"203.0.113.7", "2001:db8::7"}, "", ""},
		{"several IPv4 addresses", "", []string{"203.0.113.7", "203.0.113.8", "2001:db8::7"}, Error,
			"--rtc-node-ip ADDRESS,2001:db8::7, with the public IPv4 address of this machine"},
		{"a proxy", "2001:db8::7", []string{"203.0.113.7", "2001:db8::99"}, Error,
			"--rtc-node-ip ADDRESS,2001:db8::7, with the public IPv4 address of this machine"},
		{"a name with IPv6 alone", "", []string{"2001:db8::7"}, Error, "--rtc-node-ip 2001:db8::7"},
		{"a local IPv6 address", "203.0.113.7,fd00::7", []string{"203.0.113.7", "2001:db8::7"}, Warning,
			"--rtc-node-ip 203.0.113.7,2001:db8::7"},
	} {
		serveDNS(t, "meet.example.test", c.host...)
		f := run.findings(t, config.Config{PublicURL: "https://meet.example.test", RTCNodeIP: c.nodeIP})["node_ip"]
		if f.Level != c.level || f.Change != c.change {
			t.Errorf("%s: got the finding %+v, want the level %q and the change %q", c.name, f, c.level, c.change)
		}
	}
}

// A server that alone serves its name should announce the address that the name has.
func TestCheckMediaAddress_OtherMachine(t *testing.T) {
	if !isolated(t) {
		return
	}
	runLine(t, nil, "ip link set lo up && ip addr add 10.0.0.4/32 dev lo && ip addr add 203.0.113.4/32 dev lo && "+
		"ip route add default dev lo src 10.0.0.4")
	const domain = "meet.example.test"
	alone := config.Config{TLSDomain: []string{domain}}
	for _, c := range []struct {
		name   string
		cfg    config.Config
		nodeIP string
		host   []string
		change string // empty without a finding
	}{
		{"the same", alone, "203.0.113.7", []string{"203.0.113.7"}, ""},
		{"one of several", alone, "203.0.113.7", []string{"203.0.113.8", "203.0.113.7"}, ""},
		{"an earlier address", alone, "203.0.113.9", []string{"203.0.113.7"}, "--rtc-node-ip 203.0.113.7"},
		{"none of several", alone, "203.0.113.9", []string{"203.0.113.8", "203.0.113.7"},
			"--rtc-node-ip ADDRESS, with the public IPv4 address of this machine"},
		{"its own second address", alone, "203.0.113.4", []string{"203.0.113.7"}, ""},
		{"a proxy", config.Config{PublicURL: "https://" + domain}, "203.0.113.9", []string{"203.0.113.7"}, ""},
		{"several nodes", config.Config{TLSDomain: []string{domain}, RedisURL: "redis://127.0.0.1"}, "203.0.113.9",
			[]string{"203.0.113.7"}, ""},
	} {
		serveDNS(t, domain, c.host...)
		c.cfg.RTCNodeIP = c.nodeIP
		f := check(checkMediaAddress).findings(t, c.cfg)["node_ip"]
		if f.Change != c.change || (f.Level == Warning) != (c.change != "") {
			t.Errorf("%s: got the finding %+v, want the change %q", c.name, f, c.change)
		}
	}
}

// A clock that the kernel does not consider synchronized is found, and not found after a program like that of
// timedatectl has synchronized it. The test changes the status of the clock, and not its time.
func TestCheckClock(t *testing.T) {
	rootOnly(t)
	var before unix.Timex
	if _, err := unix.Adjtimex(&before); err != nil {
		t.Fatal(err)
	}
	const adjustMaxError, adjustEstimatedError, adjustStatus = 0x4, 0x8, 0x10 // ADJ_* of adjtimex(2)
	set := func(status int32, maxError, estimated int64) {
		t.Helper()
		change := unix.Timex{
			Modes:    adjustStatus | adjustMaxError | adjustEstimatedError,
			Status:   status,
			Maxerror: maxError,
			Esterror: estimated,
		}
		if _, err := unix.Adjtimex(&change); errors.Is(err, syscall.EPERM) {
			t.Skip("this machine does not let its clock be set")
		} else if err != nil {
			t.Fatal(err)
		}
	}
	defer set(before.Status, before.Maxerror, before.Esterror)
	cfg, run := newConfig(t), check(checkClock)
	set(before.Status|statusUnsynced, before.Maxerror, before.Esterror)
	if f := run.findings(t, cfg)["clock_unsynchronized"]; f.Level != Warning {
		t.Errorf("a clock that nothing sets: got the finding %+v, want clock_unsynchronized", f)
	}
	set(before.Status&^statusUnsynced, 16_000, 16_000)
	if after := run.findings(t, cfg); len(after) > 0 {
		t.Errorf("a clock that is set: got the findings %v, want none", after)
	}
}

// wrongClock is a library that makes the clock of a program 10.5 seconds late. A program loads it by LD_PRELOAD.
const wrongClock = `
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
	int failed = syscall(SYS_clock_gettime, clock, now);
	if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
		now->tv_sec -= now->tv_nsec < 500000000 ? 11 : 10;
		now->tv_nsec += now->tv_nsec < 500000000 ? 500000000 : -500000000;
	}
	return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
	struct timespec exact;
	int failed = clock_gettime(CLOCK_REALTIME, &exact);
	now->tv_sec = exact.tv_sec;
	now->tv_usec = exact.tv_nsec / 1000;
	return failed;
}

time_t time(time_t *result) {
	struct timespec exact;
	clock_gettime(CLOCK_REALTIME, &exact);
	if (result) *result = exact.tv_sec;
	return exact.tv_sec;
}
`

// A PostgreSQL and a Redis server whose clocks are wrong are found, and not found after their clocks are right.
func TestCheckClocksOfServers(t *testing.T) {
	testkit.Slow(t)
	dir, err := os.MkdirTemp("", "parley-clock-") // which the user of PostgreSQL can read, too
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	library := filepath.Join(dir, "clock.so")
	compiler := exec.Command("gcc", "-shared", "-fPIC", "-o", library, "-x", "c", "-")
	compiler.Stdin = strings.NewReader(wrongClock)
	if text, err := compiler.CombinedOutput(); err != nil {
		t.Fatalf("compile the library: got %v, want no error: %s", err, text)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	database, cache := storetest.NewPostgresServer(t), clustertest.NewRedis(t)
	cfg := newConfig(t)
	cfg.DatabaseURL, cfg.RedisURL = seal.Secret(database.NewDatabase(t)), seal.Secret(cache.URL())
	restart := func() {
		t.Helper()
		database.Stop(t)
		database.Start(t)
		cache.Kill()
		cache.Start()
	}
	findings := func() string {
		t.Helper()
		var all []string
		for _, c := range []check{checkDatabase, checkRedis} {
			for _, f := range c.findings(t, cfg) {
				all = append(all, f.ID+" "+f.Text)
			}
		}
		return strings.Join(all, "\n")
	}
	t.Setenv("LD_PRELOAD", library)
	restart()
	got := findings()
	for _, want := range []string{
		"database_clock The clock of PostgreSQL differs from the clock of this machine by -10.",
		"redis_clock The clock of Redis differs from the clock of this machine by -10.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got the findings\n%s\nwant %q", got, want)
		}
	}
	if err := os.Unsetenv("LD_PRELOAD"); err != nil {
		t.Fatal(err)
	}
	restart()
	if got := findings(); got != "" {
		t.Errorf("with the right clock: got the findings\n%s\nwant none", got)
	}
}

// A disk that needs long for each write, and a file system of a program (FUSE), as those of many networks are, are
// found, and not found with the data directory on a local disk.
func TestCheckDisk_FUSE(t *testing.T) {
	rootOnly(t)
	cfg := newConfig(t)
	local, err := os.MkdirTemp("/dev/shm", "parley-disk-") // in memory, so that it is fast on any machine
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(local) })
	cfg.DataDir = mountFUSE(t, slowDisk+10*time.Millisecond)
	slow, kind := check(checkDiskSpeed), check(checkDisk)
	if f := slow.findings(t, cfg)["disk_slow"]; f.Level != Warning {
		t.Errorf("a slow disk: got the finding %+v, want disk_slow", f)
	}
	if f := kind.findings(t, cfg)["network_file_system"]; f.Level != Warning || !strings.Contains(f.Text, "FUSE") {
		t.Errorf("FUSE: got the finding %+v, want network_file_system", f)
	}
	cfg.DataDir = local
	if after := slow.findings(t, cfg); len(after) > 0 {
		t.Errorf("a local disk: got the findings %v, want none", after)
	}
	if _, found := kind.findings(t, cfg)["network_file_system"]; found {
		t.Error("a local disk: got network_file_system, want no such finding")
	}
}

// Parts of the protocol of FUSE (linux/fuse.h).
const (
	fuseLookup, fuseForget, fuseGetattr, fuseUnlink = 1, 2, 3, 10
	fuseWrite, fuseStatfs, fuseRelease, fuseFsync   = 16, 17, 18, 20
	fuseFlush, fuseInit, fuseCreate, fuseDestroy    = 25, 26, 35, 38
	fuseBatchForget                                 = 42

	fuseRoot, fuseFile = 1, 2 // numbers of the two inodes
)

// mountFUSE mounts a file system on a new directory and returns it. It keeps one file, without its content, whose
// fsync takes a time.
func mountFUSE(t *testing.T, fsync time.Duration) (dir string) {
	t.Helper()
	dir = t.TempDir()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Mount("test", dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40755,user_id=0,group_id=0", fd))
	}
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOENT) {
		t.Skipf("this machine mounts no FUSE: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for request := make([]byte, 1<<18); ; {
			n, err := unix.Read(fd, request)
			if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.ENOENT) { // it was interrupted
				continue
			}
			if err != nil { // ENODEV after the unmount
				return
			}
			if response := respondFUSE(request[:n], fsync); response != nil {
				_, _ = unix.Write(fd, response)
			}
		}
	}()
	t.Cleanup(func() {
		_ = unix.Unmount(dir, unix.MNT_DETACH)
		<-done
		_ = unix.Close(fd)
	})
	return dir
}

// respondFUSE returns the response to a request, or nil if there is none.
func respondFUSE(request []byte, fsync time.Duration) []byte {
	const headerBytes = 40
	order := binary.NativeEndian
	code, body := order.Uint32(request[4:]), request[headerBytes:]
	var out bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&out, order, v) // cannot fail: the values have fixed sizes
		}
	}
	attributes := func(inode uint64) {
		mode := uint32(unix.S_IFREG | 0o600)
		if inode == fuseRoot {
			mode = unix.S_IFDIR | 0o755
		}
		put(inode, [5]uint64{}, [3]uint32{}, mode, uint32(1), [5]uint32{}) // also size, times, links, owner
	}
	failure := syscall.Errno(0)
	switch code {
	case fuseInit:
		put(uint32(7), uint32(31), uint32(0), uint32(0), uint32(0), uint32(1<<17), uint32(1), [9]uint32{})
	case fuseStatfs:
		const blocks = 1 << 40 / 4096
		put([5]uint64{blocks, blocks, blocks, 100, 100}, [4]uint32{4096, 255, 4096, 0}, [6]uint32{})
	case fuseGetattr:
		put(uint64(0), uint64(0))
		attributes(order.Uint64(request[16:]))
	case fuseCreate:
		const direct = 1
		put([5]uint64{fuseFile})
		attributes(fuseFile)
		put(uint64(0), uint32(direct), uint32(0))
	case fuseWrite:
		put(order.Uint32(body[16:]), uint32(0))
	case fuseFsync:
		time.Sleep(fsync)
	case fuseLookup:
		failure = syscall.ENOENT
	case fuseUnlink, fuseFlush, fuseRelease, fuseDestroy:
	case fuseForget, fuseBatchForget:
		return nil
	default:
		failure = syscall.ENOSYS
	}
	var head bytes.Buffer
	_ = binary.Write(&head, order, struct {
		Length uint32
		Error  int32
		Unique uint64
	}{uint32(16 + out.Len()), -int32(failure), order.Uint64(request[8:])})
	return append(head.Bytes(), out.Bytes()...)
}
