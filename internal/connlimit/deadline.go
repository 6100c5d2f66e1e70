package connlimit

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"parley/internal/refusal"
)

const (
	// WriteTimeout is the time that a client has to read one chunk of a response.
	WriteTimeout = 30 * time.Second
	// writeChunkSize is the number of bytes with a deadline of their own, so that a
	// slow phone may take minutes for a file as long as it keeps reading.
	writeChunkSize = 32 << 10
)

// Write writes b in chunks of writeChunkSize, each with its own deadline. After a
// timeout the kernel discards unsent data when the connection is closed, instead
// of buffering it for a client that does not read.
func (conn *connection) Write(b []byte) (n int, err error) {
	if conn.hijacked.Load() {
		return conn.Conn.Write(b)
	}
	for {
		conn.extendDeadline()
		written, err := conn.Conn.Write(b[n:min(n+writeChunkSize, len(b))])
		n += written
		if errors.Is(err, os.ErrDeadlineExceeded) {
			conn.limits.refusals.Record(refusal.SlowReaders, "a response was not read in time",
				"client", conn.address.Addr())
			if tcp, ok := conn.Conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
		}
		if err != nil || n == len(b) {
			return n, err
		}
	}
}

// extendDeadline gives the client the write timeout from now. A deadline that is
// still almost as far ahead stays.
func (conn *connection) extendDeadline() {
	now := time.Since(conn.limits.created)
	last := time.Duration(conn.deadlineSet.Load())
	if last != 0 && now-last < conn.limits.writeTimeout/8 {
		return
	}
	conn.deadlineSet.Store(int64(now))
	// The error is ignored because it means that the connection is closed, which
	// the write reports.
	_ = conn.Conn.SetWriteDeadline(conn.limits.created.Add(now + conn.limits.writeTimeout))
}

// SetWriteDeadline does nothing if net/http removes the deadline of extendDeadline after a response, because the
// next write extends it.
func (conn *connection) SetWriteDeadline(t time.Time) error {
	if t.IsZero() && conn.deadlineSet.Load() != 0 && !conn.hijacked.Load() {
		return nil
	}
	conn.deadlineSet.Store(0)
	return conn.Conn.SetWriteDeadline(t)
}

// SetDeadline sets the deadlines of reads and writes at once. It forgets that extendDeadline has set one.
func (conn *connection) SetDeadline(t time.Time) error {
	conn.deadlineSet.Store(0)
	conn.read.mu.Lock()
	defer conn.read.mu.Unlock()
	conn.read.wanted, conn.read.set = t, t
	return conn.Conn.SetDeadline(t)
}

// readDeadline is the deadline of the reads of a connection. net/http sets it six times for each request and reads
// twice, so most of these deadlines never apply. To set them took 3 per cent of the time of a small request.
type readDeadline struct {
	mu          sync.Mutex
	wanted, set time.Time // as net/http has set it, and as the connection below has it
	reads       int       // in progress
}

// SetReadDeadline sets the deadline of the reads in progress, and otherwise leaves that to the next read.
func (conn *connection) SetReadDeadline(t time.Time) error {
	d := &conn.read
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	if d.reads == 0 {
		return nil
	}
	d.set = t
	return conn.Conn.SetReadDeadline(t)
}

// Read reads until the deadline of SetReadDeadline.
func (conn *connection) Read(b []byte) (int, error) {
	if err := conn.beginRead(); err != nil {
		return 0, err
	}
	n, err := conn.Conn.Read(b)
	conn.read.mu.Lock()
	conn.read.reads--
	conn.read.mu.Unlock()
	return n, err
}

// beginRead passes the deadline on to the connection below, and counts the read.
func (conn *connection) beginRead() error {
	d := &conn.read
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.wanted.Equal(d.set) {
		if err := conn.Conn.SetReadDeadline(d.wanted); err != nil {
			return err
		}
		d.set = d.wanted
	}
	d.reads++
	return nil
}
