package mediatest

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"
)

// wires are the UDP sockets of a participant, on loopback, one for each peer
// connection: a server with one port cannot be told apart by address. They can
// be cut, so that nothing leaves any more, not even a goodbye.
type wires struct {
	gone atomic.Bool

	mu   sync.Mutex
	open []io.Closer
}

// wire is one of them.
type wire struct {
	net.PacketConn
	gone *atomic.Bool
}

// WriteTo drops what is sent over a wire that is cut.
func (w wire) WriteTo(b []byte, to net.Addr) (int, error) {
	if w.gone.Load() {
		return len(b), nil
	}
	return w.PacketConn.WriteTo(b, to)
}

func (w *wires) cut() { w.gone.Store(true) }

func (w *wires) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

// peer makes a peer connection over a wire of its own and nothing else.
func (w *wires) peer() (*webrtc.PeerConnection, error) {
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("mediatest: a socket: %w", err)
	}
	mux := ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: wire{conn, &w.gone}})
	w.mu.Lock()
	w.open = append(w.open, mux, conn)
	w.mu.Unlock()

	var se webrtc.SettingEngine
	se.SetICEUDPMux(mux)
	se.SetIncludeLoopbackCandidate(true)
	se.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	me := &webrtc.MediaEngine{}
	if err := me.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	return webrtc.NewAPI(webrtc.WithSettingEngine(se), webrtc.WithMediaEngine(me)).
		NewPeerConnection(webrtc.Configuration{})
}
