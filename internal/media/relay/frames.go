package relay

import (
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/time/rate" // the token bucket of the Go project
)

const (
	// maxFrameBytes is the most that follows the header of a message or of channel data. A packet of a
	// browser has at most 1,200 bytes.
	maxFrameBytes = 1500
	// frameBurst and framesPerSecond are the limit of frames on one connection. The media port accepts
	// 1,500 packets of media a second, and a burst of 5,000.
	frameBurst, framesPerSecond = 10_000, 3000
	// requestBurst and requestsPerSecond are the limit of messages that are not packets.
	requestBurst, requestsPerSecond = 500, 100
)

// These are the parts of frames (RFC 8489, section 5, and RFC 8656, section 12.4).
const (
	lengthEnd          = 4 // of the type or channel, and of the length
	cookieEnd          = 8 // of the magic cookie of a message
	messageHeaderBytes = 20
	frameTypeBits      = 0xc0
	channelType        = 0x40
	channelDataPadding = 4
	magicCookie        = 0x2112A442
	sendIndication     = 0x0016 // a packet; Firefox uses no channels
)

var errFrame = errors.New("relay: a frame that is not accepted, or too many frames")

// frames checks the frames of a TURN connection before pion's TURN server reads them. Version 5.0.12 of
// it computes the length of a frame in 16 bits, so that a length near 65,535 becomes 0 and the
// server reads the same frame forever. It also takes channel data with the cookie of messages for a
// message. Channel data without data is refused, because nobody sends it.
type frames struct {
	head          [cookieEnd]byte
	headLen       int
	left          int // unread bytes of the current frame
	all, requests *rate.Limiter
}

func newFrames() *frames {
	return &frames{
		all:      rate.NewLimiter(framesPerSecond, frameBurst),
		requests: rate.NewLimiter(requestsPerSecond, requestBurst),
	}
}

// check checks the next bytes of the connection.
func (f *frames) check(b []byte) error {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, len(b))
			f.left -= n
			b = b[n:]
			continue
		}
		n := copy(f.head[f.headLen:], b)
		f.headLen += n
		b = b[n:]
		if f.headLen < cookieEnd {
			continue
		}
		if err := f.begin(time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// begin begins a frame whose head is complete.
func (f *frames) begin(now time.Time) error {
	f.headLen = 0
	length := int(binary.BigEndian.Uint16(f.head[2:]))
	hasCookie := binary.BigEndian.Uint32(f.head[lengthEnd:]) == magicCookie
	if length > maxFrameBytes || !f.all.AllowN(now, 1) {
		return errFrame
	}
	switch f.head[0] & frameTypeBits {
	case 0:
		isPacket := binary.BigEndian.Uint16(f.head[:]) == sendIndication
		if !hasCookie || !isPacket && !f.requests.AllowN(now, 1) {
			return errFrame
		}
		f.left = messageHeaderBytes + length - cookieEnd
		return nil
	case channelType:
		if hasCookie || length == 0 {
			return errFrame
		}
		padded := (length + channelDataPadding - 1) / channelDataPadding * channelDataPadding
		f.left = lengthEnd + padded - cookieEnd
		return nil
	}
	return errFrame
}
