package media

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"parley/internal/media/signalfilter"
	"parley/internal/refusal"
)

// maxMessage bounds one message of a participant. The largest that browsers
// send are session descriptions, some hundred kilobytes in very full rooms.
// LiveKit reads a message of any size into memory.
const maxMessage = 1 << 20

// limitedWriter hands out a connection on which messages are bounded, and
// tells taken of it.
type limitedWriter struct {
	http.ResponseWriter
	bytes   *rate.Limiter
	taken   func(net.Conn)
	refused func(*signalfilter.Refusal)
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
	limited := &limitedConn{Conn: conn, r: rw.Reader, bytes: w.bytes, refused: w.refused}
	return limited, bufio.NewReadWriter(bufio.NewReader(limited), rw.Writer), nil
}

// limitedConn reads WebSocket frames past and fails on a message that LiveKit
// must not parse: one that is too long, before any of its payload is read, and
// one that is not binary or has too many fields, before its end is read.
type limitedConn struct {
	net.Conn
	r       *bufio.Reader               // may hold what came with the handshake
	bytes   *rate.Limiter               // of messages
	refused func(*signalfilter.Refusal) // told, once, why reading fails

	head    []byte             // of the frame that is being read, while it is incomplete
	payload uint64             // still to come of that frame
	control bool               // that frame is between the frames of a message
	mask    [4]byte            // of that frame
	masked  int                // bytes of that frame that were unmasked
	message uint64             // announced so far of a message in several frames
	scan    *signalfilter.Scan // of that message
}

// The opcodes of frames (RFC 6455, 5.2); those of control frames have the
// highest bit of the four.
const (
	continued    = 0x0
	binaryData   = 0x2
	controlFrame = 0x8
	opcodes      = 0xf
	finalFrame   = 0x80
)

// Read lets through what belongs to acceptable messages.
func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if no := c.check(p[:n]); no != nil {
		c.refused(no)
		return 0, fmt.Errorf("media: refuse signaling: %w", no)
	}
	return n, err
}

func (c *limitedConn) check(b []byte) *signalfilter.Refusal {
	for len(b) > 0 {
		if c.payload > 0 {
			n := min(c.payload, uint64(len(b)))
			if !c.control {
				if no := c.parts(b[:n]); no != nil {
					return no
				}
			}
			c.payload -= n
			b = b[n:]
			continue
		}
		c.head = append(c.head, b[0])
		b = b[1:]
		if length, complete := frameLength(c.head); complete {
			if no := c.begin(length); no != nil {
				return no
			}
		}
	}
	return nil
}

// begin begins a frame whose head is complete.
func (c *limitedConn) begin(length uint64) *signalfilter.Refusal {
	if length > maxMessage {
		return tooLong()
	}
	if !c.bytes.AllowN(time.Now(), int(length)) {
		return &signalfilter.Refusal{Kind: refusal.SignalRate, Reason: "too many bytes of signaling", Malformed: true}
	}
	opcode := c.head[0] & opcodes
	c.control = opcode&controlFrame != 0
	if !c.control {
		if opcode != continued && opcode != binaryData {
			return &signalfilter.Refusal{Kind: refusal.SignalRequest, Reason: "a message that is not binary", Malformed: true}
		}
		if opcode != continued || c.scan == nil {
			c.scan = signalfilter.NewScan()
		}
		if c.message += length; c.message > maxMessage {
			return tooLong()
		}
		if c.head[0]&finalFrame != 0 {
			c.message = 0
		}
		c.masked = 0
		copy(c.mask[:], c.head[len(c.head)-len(c.mask):]) // a server accepts no frame without
	}
	c.payload = length
	c.head = c.head[:0]
	return nil
}

// parts has the fields of a message counted in a piece of its payload.
func (c *limitedConn) parts(payload []byte) *signalfilter.Refusal {
	var plain [512]byte
	for len(payload) > 0 {
		n := copy(plain[:], payload)
		payload = payload[n:]
		for i := range plain[:n] {
			plain[i] ^= c.mask[c.masked%len(c.mask)]
			c.masked++
		}
		if no := c.scan.Write(plain[:n]); no != nil {
			return no
		}
	}
	return nil
}

func tooLong() *signalfilter.Refusal {
	return &signalfilter.Refusal{Kind: refusal.SignalRequest, Reason: fmt.Sprintf("a message of more than %d bytes", maxMessage), Malformed: true}
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
