package media

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

// maxMessage bounds one message of a participant. The largest that browsers
// send are session descriptions, some hundred kilobytes in very full rooms.
// LiveKit reads a message of any size into memory.
const maxMessage = 1 << 20

var (
	errMessageTooLong = errors.New("media: a signalling message is too long")
	errTooManyBytes   = errors.New("media: too many bytes of signaling")
)

// limitedWriter hands out a connection on which messages are bounded, and
// tells taken of it.
type limitedWriter struct {
	http.ResponseWriter
	bytes *rate.Limiter // nil for no limit
	taken func(net.Conn)
}

// Unwrap is for http.ResponseController.
func (w *limitedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack is asked for by the WebSocket upgrade.
func (w *limitedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.taken(conn)
	limited := &limitedConn{Conn: conn, r: rw.Reader, bytes: w.bytes}
	return limited, bufio.NewReadWriter(bufio.NewReader(limited), rw.Writer), nil
}

// limitedConn reads WebSocket frames past and fails on a message that is too
// long, before any of its payload is read.
type limitedConn struct {
	net.Conn
	r     *bufio.Reader // may hold what came with the handshake
	bytes *rate.Limiter // of messages; nil for no limit

	head    []byte // of the frame that is being read, while it is incomplete
	payload uint64 // still to come of that frame
	message uint64 // announced so far of a message in several frames
}

// Read lets through what belongs to acceptable frames.
func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for b := p[:n]; len(b) > 0; {
		if c.payload > 0 {
			skip := min(c.payload, uint64(len(b)))
			c.payload -= skip
			b = b[skip:]
			continue
		}
		c.head = append(c.head, b[0])
		b = b[1:]
		length, complete := frameLength(c.head)
		if !complete {
			continue
		}
		if length > maxMessage {
			return 0, errMessageTooLong
		}
		if c.bytes != nil && !c.bytes.AllowN(time.Now(), int(length)) {
			return 0, errTooManyBytes
		}
		if control := c.head[0]&0x08 != 0; !control {
			c.message += length
			if c.message > maxMessage {
				return 0, errMessageTooLong
			}
			if final := c.head[0]&0x80 != 0; final {
				c.message = 0
			}
		}
		c.payload = length
		c.head = c.head[:0]
	}
	return n, err
}

// frameLength reads the payload's length from a frame's head (RFC 6455, 5.2)
// and reports whether the head is complete.
func frameLength(head []byte) (length uint64, complete bool) {
	if len(head) < 2 {
		return 0, false
	}
	size := 2
	if masked := head[1]&0x80 != 0; masked {
		size += 4
	}
	switch short := head[1] & 0x7f; short {
	case 126:
		size += 2
	case 127:
		size += 8
	default:
		return uint64(short), len(head) == size
	}
	if len(head) < size {
		return 0, false
	}
	if head[1]&0x7f == 126 {
		return uint64(binary.BigEndian.Uint16(head[2:4])), true
	}
	return binary.BigEndian.Uint64(head[2:10]), true
}
