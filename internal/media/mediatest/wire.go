package mediatest

import (
	"fmt"
	"net"
	"sync/atomic"

	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"
)

// wire is the one UDP socket of a participant, on loopback. It can be cut, so
// that nothing leaves any more, not even a goodbye.
type wire struct {
	net.PacketConn
	mux  *ice.UDPMuxDefault
	gone atomic.Bool
}

func newWire() (*wire, error) {
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("mediatest: a socket: %w", err)
	}
	w := &wire{PacketConn: conn}
	w.mux = ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: w})
	return w, nil
}

// WriteTo drops what is sent over a wire that is cut.
func (w *wire) WriteTo(b []byte, to net.Addr) (int, error) {
	if w.gone.Load() {
		return len(b), nil
	}
	return w.PacketConn.WriteTo(b, to)
}

func (w *wire) cut() { w.gone.Store(true) }

func (w *wire) close() {
	_ = w.mux.Close()
	_ = w.Close()
}

func (w *wire) peer() (*webrtc.PeerConnection, error) {
	var se webrtc.SettingEngine
	se.SetICEUDPMux(w.mux)
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
