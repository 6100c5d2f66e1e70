package media

import (
	"encoding/binary"
	"maps"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/ice/v4"

	"parley/internal/refusal"
)

// packetLimits keeps the packets of each participant within the limits, before LiveKit receives
// them. It knows a media connection by the ICE user name of the server's side, which is in every
// session description that the server sends.
type packetLimits struct {
	refusals *refusal.Recorder

	mu    sync.Mutex
	users map[string]*mediaUser
	swept time.Time
}

// mediaUser is one ICE user name. A participant has one for each media connection, and a new one
// after each ICE restart.
type mediaUser struct {
	filter  atomic.Pointer[packetFilter]
	created time.Time
	opened  bool // guarded by the lock of packetLimits
}

// unopenedTimeout is the time after which a user name that was never opened is forgotten.
const unopenedTimeout = time.Minute

// user returns a user name. Its participant and its sockets become known in any order.
func (l *packetLimits) user(name string) *mediaUser {
	u := l.users[name]
	if u == nil {
		u = &mediaUser{created: time.Now()}
		u.filter.Store(newPacketFilter(l.refusals, nil))
		if l.users == nil {
			l.users = make(map[string]*mediaUser)
		}
		l.users[name] = u
	}
	return u
}

// setFilter makes the filter of a participant decide about the packets of a user name.
func (l *packetLimits) setFilter(name string, filter *packetFilter) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) > unopenedTimeout {
		l.swept = now
		maps.DeleteFunc(l.users, func(_ string, u *mediaUser) bool {
			return !u.opened && now.Sub(u.created) > unopenedTimeout
		})
	}
	l.user(name).filter.Store(filter)
}

// open returns a user name that receives packets from now on.
func (l *packetLimits) open(name string) *mediaUser {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.user(name)
	u.opened = true
	return u
}

func (l *packetLimits) remove(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.users, name)
}

// packetFilter decides which packets of a participant LiveKit receives. Packets are not
// authenticated at this point, but ICE has assigned their address to a user name.
type packetFilter struct {
	refusals *refusal.Recorder
	owner    *offender // nil while the participant is not known

	sources, jumps, packets, reportBytes, messageBytes, checks *meter

	mu sync.Mutex
	// last has the number of the latest packet of each source.
	last map[uint32]uint16
	// isOver is set when the participant was disconnected; then every packet is dropped.
	isOver bool
}

func newPacketFilter(refusals *refusal.Recorder, owner *offender) *packetFilter {
	return &packetFilter{
		refusals:     refusals,
		owner:        owner,
		last:         make(map[uint32]uint16),
		sources:      newMeter(&sourceLimit),
		jumps:        newMeter(&jumpLimit),
		packets:      newMeter(&packetLimit),
		reportBytes:  newMeter(&reportByteLimit),
		messageBytes: newMeter(&dtlsByteLimit),
		checks:       newMeter(&checkLimit),
	}
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
		go f.owner.disconnect(m.reason()) // it takes locks of LiveKit
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

// GetAllConns returns the socket of GetConnByUfrag, or none before the port is open. Then browsers get no address for
// TCP, and pion logs no warning.
func (m *limitedTCPMux) GetAllConns(user string, isIPv6 bool, local net.IP) ([]net.PacketConn, error) {
	if _, open := m.LocalAddr().(*net.TCPAddr); !open {
		return nil, nil
	}
	conn, err := m.GetConnByUfrag(user, isIPv6, local)
	if err != nil {
		return nil, err
	}
	return []net.PacketConn{conn}, nil
}

// RemoveConnByUfrag ends a connection.
func (m *limitedTCPMux) RemoveConnByUfrag(user string) {
	m.limits.remove(user)
	m.TCPMuxDefault.RemoveConnByUfrag(user)
}

// limitPackets returns conn without the packets that are refused. It keeps the faster
// methods of a UDP socket.
func limitPackets(conn net.PacketConn, user *mediaUser) net.PacketConn {
	limited := &limitedConn{PacketConn: conn, user: user}
	if fast, ok := conn.(ice.AddrPortReaderWriter); ok {
		return &limitedAddrPortConn{limitedConn: limited, AddrPortReaderWriter: fast}
	}
	return limited
}

type limitedConn struct {
	net.PacketConn
	user *mediaUser
}

// ReadFrom returns the next packet within the limits.
func (c *limitedConn) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, addr, err := c.PacketConn.ReadFrom(b)
		if err != nil || c.user.filter.Load().accept(b[:n]) {
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
		if err != nil || c.user.filter.Load().accept(b[:n]) {
			return n, addr, err
		}
	}
}
