package media

import (
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pion/ice/v4"

	"parley/internal/refusal"
)

// packetLimits keeps the packets of each media connection within the limits, before LiveKit
// receives them. It knows a connection by the ICE user name of the server's side, which is in
// every session description that the server sends.
type packetLimits struct {
	refusals *refusal.Recorder

	mu          sync.Mutex
	connections map[string]*packetFilter
	swept       time.Time
}

// unopenedTimeout is the time after which a connection that has an owner and was never opened
// is forgotten.
const unopenedTimeout = time.Minute

// connection returns the filter of a connection. The owner and the sockets of a connection
// become known in any order.
func (l *packetLimits) connection(user string) *packetFilter {
	f := l.connections[user]
	if f == nil {
		f = newPacketFilter(l.refusals)
		if l.connections == nil {
			l.connections = make(map[string]*packetFilter)
		}
		l.connections[user] = f
	}
	return f
}

// setOwner sets the participant of a connection.
func (l *packetLimits) setOwner(user string, owner *offender) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) > unopenedTimeout {
		l.swept = now
		for user, f := range l.connections {
			if !f.opened && now.Sub(f.created) > unopenedTimeout {
				delete(l.connections, user)
			}
		}
	}
	l.connection(user).setOwner(owner)
}

// open returns the filter of a connection that receives packets from now on.
func (l *packetLimits) open(user string) *packetFilter {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.connection(user)
	f.opened = true
	return f
}

func (l *packetLimits) remove(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.connections, user)
}

// packetFilter decides which packets of one media connection LiveKit receives. Packets are not
// authenticated at this point, but ICE has assigned their address to the connection.
type packetFilter struct {
	refusals *refusal.Recorder
	created  time.Time
	opened   bool // guarded by the lock of packetLimits

	sources, jumps, packets, reportBytes, messageBytes, checks *meter

	mu    sync.Mutex
	owner *offender
	// last has the highest sequence number of each source.
	last map[uint32]uint16
	// isOver is set when the participant was disconnected; then every packet is dropped.
	isOver bool
}

func newPacketFilter(refusals *refusal.Recorder) *packetFilter {
	return &packetFilter{refusals: refusals, created: time.Now(), last: make(map[uint32]uint16),
		sources: newMeter(&sourceLimit), jumps: newMeter(&jumpLimit), packets: newMeter(&packetLimit),
		reportBytes: newMeter(&reportByteLimit), messageBytes: newMeter(&messageByteLimit), checks: newMeter(&checkLimit)}
}

func (f *packetFilter) setOwner(owner *offender) {
	f.mu.Lock()
	f.owner = owner
	f.mu.Unlock()
}

// accept reports whether LiveKit receives a packet. The protocols that share a connection
// differ in the first byte (RFC 7983, section 7), and RTP and RTCP in the second (RFC 5761,
// section 4).
func (f *packetFilter) accept(packet []byte) bool {
	if len(packet) == 0 {
		return false
	}
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isOver {
		return false
	}
	switch first := packet[0]; {
	case first <= 3: // STUN
		return f.allow(f.checks, now, 1)
	case first >= 20 && first <= 63: // DTLS
		return f.allow(f.messageBytes, now, len(packet))
	case first >= 128 && first <= 191:
		if len(packet) >= 2 && packet[1] >= 192 && packet[1] <= 223 { // RTCP
			return f.allow(f.reportBytes, now, len(packet))
		}
		return f.acceptRTP(packet, now)
	}
	return false
}

// acceptRTP checks the header of an RTP packet, which is not encrypted.
func (f *packetFilter) acceptRTP(packet []byte, now time.Time) bool {
	const headerBytes = 12
	if len(packet) < headerBytes || !f.allow(f.packets, now, 1) {
		return false
	}
	number, source := binary.BigEndian.Uint16(packet[2:]), binary.BigEndian.Uint32(packet[8:])
	last, known := f.last[source]
	if !known {
		if !f.allow(f.sources, now, 1) {
			return false
		}
		f.last[source] = number
		return true
	}
	switch step := int16(number - last); {
	case step > maxSequenceStep || step < -maxSequenceStep:
		if !f.allow(f.jumps, now, 1) {
			return false
		}
		f.last[source] = number
	case step > 0:
		f.last[source] = number
	}
	return true
}

// allow reports whether n more are within a limit. Otherwise it counts a refusal, and
// disconnects the participant if there were too many.
func (f *packetFilter) allow(m *meter, now time.Time, n int) bool {
	if m.allow(now, n) {
		return true
	}
	if f.owner == nil {
		f.refusals.Record(m.kind, m.reason())
		return false
	}
	if f.owner.refuse(m, m.reason()) {
		f.isOver = true
		go f.owner.disconnect(m.reason()) // it closes this connection, and so waits for the caller
	}
	return false
}

// limitedUDPMux and limitedTCPMux are LiveKit's media sockets with limits.
type (
	limitedUDPMux struct {
		ice.UDPMux
		limits *packetLimits
	}
	limitedTCPMux struct {
		*ice.TCPMuxDefault
		limits *packetLimits
	}
)

// GetConn returns the socket of one connection, with its limits.
func (m *limitedUDPMux) GetConn(user string, addr net.Addr) (net.PacketConn, error) {
	conn, err := m.UDPMux.GetConn(user, addr)
	if err != nil {
		return nil, err
	}
	return limitPackets(conn, m.limits.open(user)), nil
}

// RemoveConnByUfrag ends a connection.
func (m *limitedUDPMux) RemoveConnByUfrag(user string) {
	m.limits.remove(user)
	m.UDPMux.RemoveConnByUfrag(user)
}

// GetConnByUfrag returns the socket of one connection, with its limits.
func (m *limitedTCPMux) GetConnByUfrag(user string, isIPv6 bool, local net.IP) (net.PacketConn, error) {
	conn, err := m.TCPMuxDefault.GetConnByUfrag(user, isIPv6, local)
	if err != nil {
		return nil, err
	}
	return limitPackets(conn, m.limits.open(user)), nil
}

// RemoveConnByUfrag ends a connection.
func (m *limitedTCPMux) RemoveConnByUfrag(user string) {
	m.limits.remove(user)
	m.TCPMuxDefault.RemoveConnByUfrag(user)
}

// limitPackets returns conn without the packets that the filter refuses. It keeps the faster
// methods of a UDP socket.
func limitPackets(conn net.PacketConn, filter *packetFilter) net.PacketConn {
	limited := &limitedConn{PacketConn: conn, filter: filter}
	if fast, ok := conn.(ice.AddrPortReaderWriter); ok {
		return &limitedAddrPortConn{limitedConn: limited, AddrPortReaderWriter: fast}
	}
	return limited
}

type limitedConn struct {
	net.PacketConn
	filter *packetFilter
}

// ReadFrom returns the next packet within the limits.
func (c *limitedConn) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, addr, err := c.PacketConn.ReadFrom(b)
		if err != nil || c.filter.accept(b[:n]) {
			return n, addr, err
		}
	}
}

type limitedAddrPortConn struct {
	*limitedConn
	ice.AddrPortReaderWriter
}

// ReadFromAddrPort returns the next packet within the limits.
func (c *limitedAddrPortConn) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	for {
		n, addr, err := c.AddrPortReaderWriter.ReadFromAddrPort(b)
		if err != nil || c.filter.accept(b[:n]) {
			return n, addr, err
		}
	}
}
