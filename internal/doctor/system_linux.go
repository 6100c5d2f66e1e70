package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix" // the system calls that package syscall does not have

	"parley/internal/config"
	"parley/internal/connlimit"
)

// udpBufferBytes is the size of the buffer with which the media engine loses no packets at peaks.
// LiveKit asks for as much.
const udpBufferBytes = 5_000_000

func checkOpenFiles(_ context.Context, cfg config.Config) Result {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return unknown("the system does not say: %v", err)
	}
	need := connlimit.FilesFor(cfg.MaxConnections, cfg.ServesTLS())
	if limit.Cur >= need {
		return fine("at most %d", limit.Cur)
	}
	return found("open_files", Warning, fmt.Sprintf("LimitNOFILE=%d in the unit of systemd, or ulimit -n %d", need, need),
		"At most %d files can be open, and --max-connections needs %d, so the server accepts fewer connections.",
		limit.Cur, need)
}

func checkUDPBuffers(context.Context, config.Config) Result {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return unknown("cannot open a socket: %v", err)
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.SyscallConn()
	if err != nil {
		return unknown("cannot read the size: %v", err)
	}
	size := 0
	err = raw.Control(func(fd uintptr) {
		if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, udpBufferBytes) == nil {
			size, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
		}
	})
	size /= 2 // Linux doubles the value for its own use (socket(7))
	if err != nil || size == 0 {
		return unknown("the system does not say how large the buffer of a socket is")
	}
	return udpBufferResult(size)
}

func udpBufferResult(size int) Result {
	if size >= udpBufferBytes {
		return fine("%d bytes", size)
	}
	return found("udp_receive_buffer", Warning, fmt.Sprintf("echo net.core.rmem_max=%d > "+
		"/etc/sysctl.d/parley.conf && sysctl --system, and restart Parley", udpBufferBytes),
		"A socket has a buffer of at most %d bytes, and media needs %d, so packets are lost at peaks.", size,
		udpBufferBytes)
}

func checkProc(context.Context, config.Config) Result {
	if _, err := os.ReadFile("/proc/stat"); err != nil {
		return found("proc_stat", Error, "Remove ProcSubset=pid from the unit of systemd, or mount /proc.",
			"The media engine cannot read /proc/stat, so the server does not start: %v.", err)
	}
	return fine("/proc/stat can be read")
}

// These are the state and the status bit of a clock that nothing synchronizes (adjtimex(2)).
const (
	clockError     = 5
	statusUnsynced = 0x40
)

func checkClock(context.Context, config.Config) Result {
	var state unix.Timex
	code, err := unix.Adjtimex(&state)
	if err != nil {
		return unknown("the system does not say whether the clock is synchronized: %v", err)
	}
	return clockResult(code, state.Status, state.Maxerror/1000)
}

func clockResult(code int, status int32, maxErrorMillis int64) Result {
	if code == clockError || status&statusUnsynced != 0 {
		return found("clock_unsynchronized", Warning, "timedatectl set-ntp true",
			"The kernel does not report a synchronized clock, and signatures are valid only while the clock is right.")
	}
	return fine("synchronized, at most %d ms off", maxErrorMillis)
}

// networkFileSystems are file systems on which SQLite may lose data, by their magic numbers
// (statfs(2)). Those of mayBeNetwork may also be local.
var (
	networkFileSystems = map[uint32]string{0x6969: "NFS", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x00c36400: "Ceph"}
	mayBeNetwork       = map[uint32]string{0x65735546: "FUSE", 0x01021997: "9P"}
)

const (
	minFreeBytes   = 1 << 30
	minFreePercent = 10
	// enoughFreeBytes are enough, whatever their part of the disk.
	enoughFreeBytes = 10 << 30
)

// diskBusy is set while the system looks at the disk, which never ends on a network disk that is gone.
var diskBusy atomic.Bool

func checkDisk(_ context.Context, cfg config.Config) Result {
	if !diskBusy.CompareAndSwap(false, true) {
		return unknown("the disk of %s does not respond", cfg.DataDir)
	}
	defer diskBusy.Store(false)
	var fs syscall.Statfs_t
	if err := syscall.Statfs(existingDirectory(cfg.DataDir), &fs); err != nil {
		return unknown("cannot read the file system of %s: %v", cfg.DataDir, err)
	}
	block := uint64(fs.Frsize)
	if block == 0 {
		block = uint64(fs.Bsize)
	}
	result := diskResult(cfg, uint32(fs.Type), fs.Bavail*block, fs.Blocks*block)
	if int64(fs.Flags)&unix.ST_RDONLY != 0 {
		const change = "Mount the file system again so that it can be written, or change --data-dir."
		result.add("data_dir_read_only", Error, change,
			"The file system of %s is read-only, so the server cannot write to it, and does not start on it.", cfg.DataDir)
	}
	return result
}

// existingDirectory returns the directory, or before the first start the one above it that exists.
func existingDirectory(dir string) string {
	for {
		above := filepath.Dir(dir)
		if _, err := os.Stat(dir); above == dir || !errors.Is(err, os.ErrNotExist) {
			return dir
		}
		dir = above
	}
}

// diskWrites is how many writes are measured, and slowDisk the median above which a disk is slow. Every
// change waits for one write.
const (
	diskWrites = 20
	slowDisk   = 50 * time.Millisecond
)

func checkDiskSpeed(ctx context.Context, cfg config.Config) Result {
	if cfg.DatabaseURL != "" {
		return fine("the database is elsewhere")
	}
	file, err := os.CreateTemp(cfg.DataDir, ".doctor-*.tmp")
	if errors.Is(err, os.ErrNotExist) {
		return unknown("%s does not exist: the first start creates it", cfg.DataDir)
	}
	if errors.Is(err, os.ErrPermission) {
		return unknown("this user cannot write to %s: run the command as the user of the server", cfg.DataDir)
	}
	if err != nil {
		return unknown("cannot write to %s: %v", cfg.DataDir, err)
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	took := make([]time.Duration, diskWrites)
	for i := range took {
		if err := ctx.Err(); err != nil {
			return diskSpeedResult(slowDisk + 1)
		}
		began := time.Now()
		_, err := file.WriteAt(make([]byte, 4096), 0)
		if err := errors.Join(err, file.Sync()); err != nil {
			return unknown("cannot write to %s: %v", cfg.DataDir, err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return diskSpeedResult(took[len(took)/2])
}

func diskSpeedResult(median time.Duration) Result {
	if median <= slowDisk {
		return fine("a write takes %s", median.Round(100*time.Microsecond))
	}
	return found("disk_slow", Warning, "--data-dir on a faster disk, or --database-url",
		"A write to the disk of the database takes more than %s, and every change waits for one.", slowDisk)
}

func diskResult(cfg config.Config, kind uint32, free, size uint64) Result {
	var result Result
	if cfg.DatabaseURL == "" {
		const change = "--data-dir on a local disk, or --database-url"
		if name, ok := networkFileSystems[kind]; ok {
			result.add("network_file_system", Error, change,
				"The database is on a network file system (%s), on which SQLite can lose data.", name)
		} else if name, ok := mayBeNetwork[kind]; ok {
			result.add("network_file_system", Warning, change,
				"The file system of the database (%s) may be one of a network, on which SQLite can lose data.", name)
		}
	}
	if free < minFreeBytes || free < enoughFreeBytes && free*100 < size*minFreePercent {
		result.add("disk_space", Warning, "Delete files of other programs or old backups, or enlarge the disk.",
			"The disk of %s has only %d MiB free, and the server cannot write when it is full.", cfg.DataDir, free>>20)
	}
	if len(result.Findings) == 0 {
		result.Detail = fmt.Sprintf("%d MiB free", free>>20)
	}
	return result
}
