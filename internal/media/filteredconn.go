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

// maxMessageBytes bounds one message of a participant. The largest that browsers
// send are session descriptions, some hundred kilobytes in very full rooms.
// LiveKit reads a message of any size into memory.
const maxMessageBytes = 1 << 20

// filteredWriter hands out a connection on which messages are bounded, and
// tells taken of it.
type filteredWriter struct {
	http.ResponseWriter
	bytes     *rate.Limiter
	onHijack  func(net.Conn)
	onRefusal func(*signalfilter.Refusal)
}

// Unwrap is for http.ResponseController.
func (w *filteredWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack is asked for by the WebSocket upgrade.
func (w *filteredWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.onHijack(conn)
	limited := &filteredConn{Conn: conn, r: rw.Reader, bytes: w.bytes, onRefusal: w.onRefusal}
	return limited, bufio.NewReadWriter(bufio.NewReader(limited), rw.Writer), nil
}

// filteredConn reads WebSocket frames past and fails on a message that LiveKit
// must not parse: one that is too long, before any of its payload is read, and
// one that is not binary or has too many fields, before its end is read.
type filteredConn struct {
	net.Conn
	r         *bufio.Reader               // may hold what came with the handshake
	bytes     *rate.Limiter               // of messages
	onRefusal func(*signalfilter.Refusal) // told, once, why reading fails

	frameHead    []byte                // of the frame that is being read, while it is incomplete
	payloadLeft  uint64                // still to come of that frame
	isControl    bool                  // that frame is between the frames of a message
	mask         [4]byte               // of that frame
	unmasked     int                   // bytes of that frame that were unmasked
	messageBytes uint64                // announced so far of a message in several frames
	scanner      *signalfilter.Scanner // of that message
}

// The opcodes of frames (RFC 6455, 5.2); those of control frames have the
// highest bit of the four.
const (
	opContinuation = 0x0
	opBinary       = 0x2
	opControlBit   = 0x8
	opcodeMask     = 0xf
	finBit         = 0x80
)

// Read lets through what belongs to acceptable messages.
func (c *filteredConn) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if no := c.inspect(p[:n]); no != nil {
		c.onRefusal(no)
		return 0, fmt.Errorf("media: refuse signaling: %w", no)
	}
	return n, err
}

func (c *filteredConn) inspect(b []byte) *signalfilter.Refusal {
	for len(b) > 0 {
		if c.payloadLeft > 0 {
			n := min(c.payloadLeft, uint64(len(b)))
			if !c.isControl {
				if no := c.scanPayload(b[:n]); no != nil {
					return no
				}
			}
			c.payloadLeft -= n
			b = b[n:]
			continue
		}
		c.frameHead = append(c.frameHead, b[0])
		b = b[1:]
		if length, complete := frameLength(c.frameHead); complete {
			if no := c.beginFrame(length); no != nil {
				return no
			}
		}
	}
	return nil
}

// beginFrame begins a frame whose head is complete.
func (c *filteredConn) beginFrame(length uint64) *signalfilter.Refusal {
	if length > maxMessageBytes {
		return messageTooLong()
	}
	if !c.bytes.AllowN(time.Now(), int(length)) {
		return &signalfilter.Refusal{Kind: refusal.SignalRate, Reason: "too many bytes of signaling", Malformed: true}
	}
	opcode := c.frameHead[0] & opcodeMask
	c.isControl = opcode&opControlBit != 0
	if !c.isControl {
		if opcode != opContinuation && opcode != opBinary {
			return &signalfilter.Refusal{Kind: refusal.SignalRequest, Reason: "a message that is not binary", Malformed: true}
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
		copy(c.mask[:], c.frameHead[len(c.frameHead)-len(c.mask):]) // a server accepts no frame without
	}
	c.payloadLeft = length
	c.frameHead = c.frameHead[:0]
	return nil
}

// scanPayload has the fields of a message counted in a piece of its payload.
func (c *filteredConn) scanPayload(payload []byte) *signalfilter.Refusal {
	var plain [512]byte
	for len(payload) > 0 {
		n := copy(plain[:], payload)
		payload = payload[n:]
		for i := range plain[:n] {
			plain[i] ^= c.mask[c.unmasked%len(c.mask)]
			c.unmasked++
		}
		if no := c.scanner.Write(plain[:n]); no != nil {
			return no
		}
	}
	return nil
}

func messageTooLong() *signalfilter.Refusal {
	return &signalfilter.Refusal{Kind: refusal.SignalRequest, Reason: fmt.Sprintf("a message of more than %d bytes", maxMessageBytes), Malformed: true}
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
