package edge

import (
	"encoding/binary"
	"net"
)

// protocol is what the first bytes of a connection say.
type protocol int

const (
	protocolTLS protocol = iota
	protocolHTTP
	protocolTURN
	protocolICE
)

const (
	// tlsHandshake begins each connection with TLS (RFC 8446, section 5.1).
	tlsHandshake = 0x16
	// magicCookie is in each message of STUN, after four bytes (RFC 8489, section 5).
	magicCookie = 0x2112A442
	// turnBytes decide that a connection is TURN: the first eight bytes of STUN.
	turnBytes = 8
	// iceBytes decide that it is ICE: the two bytes of length of RFC 4571, and the first eight of STUN.
	iceBytes = 2 + turnBytes
)

// identifyProtocol returns the protocol of a connection from its first bytes, at least one. If they
// do not decide it, it returns the number of bytes that does.
func identifyProtocol(first []byte) (_ protocol, need int, err error) {
	const stunBits = 0x3f // the first two bits of a STUN message are 0
	letter := first[0] | 0x20
	switch {
	case first[0] == tlsHandshake:
		return protocolTLS, 0, nil
	case letter >= 'a' && letter <= 'z':
		return protocolHTTP, 0, nil
	case first[0] > stunBits:
		return 0, 0, errUnknownProtocol
	case len(first) < turnBytes:
		return 0, turnBytes, nil
	case binary.BigEndian.Uint32(first[4:]) == magicCookie:
		return protocolTURN, 0, nil
	case first[2] > stunBits:
		return 0, 0, errUnknownProtocol
	case len(first) < iceBytes:
		return 0, iceBytes, nil
	case binary.BigEndian.Uint32(first[6:]) == magicCookie:
		return protocolICE, 0, nil
	}
	return 0, 0, errUnknownProtocol
}

// peekedConn is a connection whose first bytes were read before.
type peekedConn struct {
	net.Conn
	buffer [iceBytes]byte
	first  []byte // of the buffer; not returned by Read yet
}

// peek reads as many bytes as decide the protocol.
func (c *peekedConn) peek() (protocol, error) {
	need, n := 1, 0
	for {
		for n < need {
			read, err := c.Conn.Read(c.buffer[n:])
			n += read
			if err != nil && n < need {
				return 0, err
			}
		}
		found, more, err := identifyProtocol(c.buffer[:n])
		if err != nil || more == 0 {
			c.first = c.buffer[:n]
			return found, err
		}
		need = more
	}
}

// Read returns the first bytes, and then those of the connection.
func (c *peekedConn) Read(b []byte) (int, error) {
	if len(c.first) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.first)
	c.first = c.first[n:]
	return n, nil
}

// NetConn returns the connection below.
func (c *peekedConn) NetConn() net.Conn { return c.Conn }
