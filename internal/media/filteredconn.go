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

// maxMessageBytes is the maximum size of one signaling message of a participant, because
// LiveKit reads a message of any size into memory. The largest messages of browsers are
// session descriptions, which have a few hundred kilobytes in very full rooms.
const maxMessageBytes = 1 << 20

// frameBytes is what each frame counts in addition to its payload, because an empty one takes
// time too. A browser sends few frames a second.
const frameBytes = 256

// filteredWriter returns a filtered connection when the WebSocket upgrade takes over the
// connection.
type filteredWriter struct {
	http.ResponseWriter
	bytes     *rate.Limiter
	onHijack  func(net.Conn)
	onRefusal func(*signalfilter.Refusal)
}

// Unwrap returns the underlying writer for http.ResponseController.
func (w *filteredWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack takes over the connection for the WebSocket upgrade and returns it filtered.
func (w *filteredWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.onHijack(conn)
	limited := &filteredConn{Conn: conn, r: rw.Reader, bytes: w.bytes, onRefusal: w.onRefusal}
	return limited, bufio.NewReadWriter(bufio.NewReader(limited), rw.Writer), nil
}

// filteredConn inspects the WebSocket frames that are read from it. Reading fails at a
// message that LiveKit must not parse: a message that is too long fails before any of
// its payload is read, and a message that is not binary or has too many fields fails
// before its end is read.
type filteredConn struct {
	net.Conn
	r         *bufio.Reader               // may hold bytes that arrived with the handshake
	bytes     *rate.Limiter               // of the message bytes and frames
	onRefusal func(*signalfilter.Refusal) // called once, before reading fails

	frameHead    []byte                // incomplete head of the current frame
	payloadLeft  uint64                // unread payload bytes of the current frame
	isControl    bool                  // the current frame is a control frame
	mask         [4]byte               // of the current frame
	unmasked     int                   // unmasked bytes of the current frame
	messageBytes uint64                // payload bytes of all frames of the current message so far
	scanner      *signalfilter.Scanner // of the current message
}

// These are the opcodes of frames (RFC 6455, section 5.2). The highest of the four bits
// is set in the opcodes of control frames.
const (
	opContinuation = 0x0
	opBinary       = 0x2
	opControlBit   = 0x8
	opcodeMask     = 0xf
	finBit         = 0x80
)

// Read reads bytes of acceptable messages. At a message that is not acceptable it returns
// an error.
func (c *filteredConn) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if refused := c.inspect(p[:n]); refused != nil {
		c.onRefusal(refused)
		return 0, fmt.Errorf("media: refuse signaling: %w", refused)
	}
	return n, err
}

func (c *filteredConn) inspect(b []byte) *signalfilter.Refusal {
	for len(b) > 0 {
		if c.payloadLeft > 0 {
			n := min(c.payloadLeft, uint64(len(b)))
			if !c.isControl {
				if refused := c.scanPayload(b[:n]); refused != nil {
					return refused
				}
			}
			c.payloadLeft -= n
			b = b[n:]
			continue
		}
		c.frameHead = append(c.frameHead, b[0])
		b = b[1:]
		if length, complete := frameLength(c.frameHead); complete {
			if refused := c.beginFrame(length); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// beginFrame checks a frame whose head is complete and prepares for its payload.
func (c *filteredConn) beginFrame(length uint64) *signalfilter.Refusal {
	if length > maxMessageBytes {
		return messageTooLong()
	}
	if !c.bytes.AllowN(time.Now(), int(length)+frameBytes) {
		return &signalfilter.Refusal{Kind: refusal.SignalRate, Reason: "too many bytes of signaling", Malformed: true}
	}
	opcode := c.frameHead[0] & opcodeMask
	c.isControl = opcode&opControlBit != 0
	if !c.isControl {
		if opcode != opContinuation && opcode != opBinary {
			return &signalfilter.Refusal{Kind: refusal.SignalRequest,
				Reason: "a message that is not binary", Malformed: true}
		}
		if opcode != opContinuation || c.scanner == nil {
			c.scanner = signalfilter.NewScanner()
		}
		if c.messageBytes += length; c.messageBytes > maxMessageBytes {
			return messageTooLong()
		}
		if c.frameHead[0]&finBit != 0 {
			c.messageBytes = 0
		}
		c.unmasked = 0
		copy(c.mask[:], c.frameHead[len(c.frameHead)-len(c.mask):]) // servers only accept masked frames
	}
	c.payloadLeft = length
	c.frameHead = c.frameHead[:0]
	return nil
}

// scanPayload counts the protobuf fields in a piece of a message's payload.
func (c *filteredConn) scanPayload(payload []byte) *signalfilter.Refusal {
	var plain [512]byte
	for len(payload) > 0 {
		n := copy(plain[:], payload)
		payload = payload[n:]
		for i := range plain[:n] {
			plain[i] ^= c.mask[c.unmasked%len(c.mask)]
			c.unmasked++
		}
		if refused := c.scanner.Write(plain[:n]); refused != nil {
			return refused
		}
	}
	return nil
}

func messageTooLong() *signalfilter.Refusal {
	return &signalfilter.Refusal{Kind: refusal.SignalRequest,
		Reason: fmt.Sprintf("a message of more than %d bytes", maxMessageBytes), Malformed: true}
}

// frameLength returns the payload's length from a frame's head (RFC 6455, section 5.2),
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
