// Package probe joins a session for a moment over one path of media, to find out whether media reaches the
// server from this machine over it.
package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/signalling"
	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/proto"
)

// Path is a path on which media reaches the server.
type Path string

// The paths of media, in the order in which browsers prefer them.
const (
	UDP     Path = "udp"
	ICETCP  Path = "ice_tcp"
	TURNTCP Path = "turn_tcp"
	TURNTLS Path = "turn_tls"
)

// scheme returns the scheme of the TURN servers of a path, or an empty string for a path without one.
func (p Path) scheme() string {
	return map[Path]string{TURNTCP: "turn", TURNTLS: "turns"}[p]
}

// protocol returns the protocol of the server's candidates for a path without a TURN server.
func (p Path) protocol() string {
	return map[Path]string{UDP: "udp", ICETCP: "tcp"}[p]
}

// Result is the outcome of Try.
type Result struct {
	Path    Path
	Offered bool // the server names an address for this path
	Works   bool // media has connected
	// Address is the address of the server that was tried, such as 203.0.113.7:7882. If there were several,
	// it is the one that connected, or else the first.
	Address string
}

// handshakeTimeout bounds the WebSocket handshake.
const handshakeTimeout = 10 * time.Second

// Try joins with a media token at the signaling of baseURL and returns when media has connected, when it
// has failed, or when ctx ends. The error is about the signaling: without it nothing can be said about
// media.
func Try(ctx context.Context, baseURL, token string, path Path) (Result, error) {
	query := url.Values{"protocol": {"16"}, "sdk": {"go"}, "auto_subscribe": {"1"}, "access_token": {token}}
	dialer := websocket.Dialer{HandshakeTimeout: handshakeTimeout, Proxy: http.ProxyFromEnvironment}
	ws, response, err := dialer.DialContext(ctx, strings.Replace(baseURL, "http", "ws", 1)+"/rtc?"+query.Encode(), nil)
	if err != nil {
		if response != nil {
			return Result{}, fmt.Errorf("the signaling responds with status %d", response.StatusCode)
		}
		// Without the URL, which has the token.
		return Result{}, fmt.Errorf("cannot open the signaling: %w", withoutURL(err))
	}
	a := &attempt{ws: ws, path: path, state: make(chan webrtc.PeerConnectionState, 1)}
	defer a.close()
	messages, failed := make(chan *livekit.SignalResponse), make(chan error, 1)
	go a.read(ctx, messages, failed)
	for {
		select {
		case m := <-messages:
			if done, err := a.handle(ctx, m); done || err != nil {
				return a.result(false), err
			}
		case state := <-a.state:
			return a.result(state == webrtc.PeerConnectionStateConnected), nil
		case err := <-failed:
			return Result{}, fmt.Errorf("the signaling ended: %w", err)
		case <-ctx.Done():
			if a.pc == nil {
				return Result{}, errors.New("the signaling does not respond")
			}
			return a.result(false), nil
		}
	}
}

// withoutURL returns the cause of a failed request.
func withoutURL(err error) error {
	var failure *url.Error
	if errors.As(err, &failure) {
		return failure.Err
	}
	return err
}

// attempt is one call of Try. One goroutine uses it, apart from read and send.
type attempt struct {
	ws      *websocket.Conn
	sending sync.Mutex
	path    Path
	servers []webrtc.ICEServer // of this path
	pc      *webrtc.PeerConnection
	state   chan webrtc.PeerConnectionState // the first final state
	remote  []webrtc.ICECandidateInit       // that arrived before pc
	offered []string                        // addresses of the server for this path
}

func (a *attempt) close() {
	_ = a.ws.Close()
	if a.pc != nil {
		// It waits for an attempt to reach a TURN server, which takes minutes if nobody answers.
		go func() { _ = a.pc.Close() }()
	}
}

// read reads the signaling until it ends.
func (a *attempt) read(ctx context.Context, messages chan<- *livekit.SignalResponse, failed chan<- error) {
	for {
		_, data, err := a.ws.ReadMessage()
		m := &livekit.SignalResponse{}
		if err == nil {
			err = proto.Unmarshal(data, m)
		}
		if err != nil {
			failed <- err
			return
		}
		select {
		case messages <- m:
		case <-ctx.Done():
			return
		}
	}
}

// handle handles a message of the server. It reports done if the path is not offered.
func (a *attempt) handle(ctx context.Context, m *livekit.SignalResponse) (done bool, err error) {
	switch m := m.Message.(type) {
	case *livekit.SignalResponse_Join:
		if a.path.scheme() == "" {
			return false, nil
		}
		a.readServers(m.Join.IceServers)
		if len(a.servers) == 0 {
			return true, nil
		}
		return false, checkIPv4(ctx, a.offered[0])
	case *livekit.SignalResponse_Offer:
		return false, a.answer(m.Offer)
	case *livekit.SignalResponse_Trickle:
		candidate, err := signalling.FromProtoTrickle(m.Trickle)
		if err != nil || m.Trickle.Target != livekit.SignalTarget_SUBSCRIBER {
			return false, err
		}
		a.readAddress(candidate.Candidate)
		if m.Trickle.Final && a.path.protocol() != "" && len(a.offered) == 0 {
			return true, nil
		}
		if a.pc == nil {
			a.remote = append(a.remote, candidate)
			return false, nil
		}
		return false, a.pc.AddICECandidate(candidate)
	case *livekit.SignalResponse_Leave:
		return false, fmt.Errorf("the server ended the test: %s", m.Leave.Reason)
	}
	return false, nil
}

// readServers keeps the TURN servers of the path.
func (a *attempt) readServers(servers []*livekit.ICEServer) {
	for _, server := range servers {
		for _, text := range server.Urls {
			address, isPath := strings.CutPrefix(text, a.path.scheme()+":")
			if !isPath {
				continue
			}
			address, _, _ = strings.Cut(address, "?")
			a.offered = append(a.offered, address)
			a.servers = append(a.servers,
				webrtc.ICEServer{URLs: []string{text}, Username: server.Username, Credential: server.Credential})
		}
	}
}

// checkIPv4 returns an error for a TURN server that pion cannot reach (ice v4.4.0, gatherCandidatesRelay).
func checkIPv4(ctx context.Context, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if _, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host); err != nil {
		return fmt.Errorf("this program tests TURN over IPv4 only: %w", err)
	}
	return nil
}

// readAddress keeps the address of a candidate of the server that belongs to the path.
func (a *attempt) readAddress(candidate string) {
	c, err := ice.UnmarshalCandidate(candidate)
	if err != nil || a.path.protocol() != c.NetworkType().NetworkShort() {
		return
	}
	address := net.JoinHostPort(c.Address(), strconv.Itoa(c.Port()))
	if !slices.Contains(a.offered, address) {
		a.offered = append(a.offered, address)
	}
}

// answer creates the connection on which the server sends media, and answers its offer.
func (a *attempt) answer(offer *livekit.SessionDescription) error {
	if a.pc != nil {
		return nil // the offer for later tracks
	}
	var err error
	if a.pc, err = a.newConnection(); err != nil {
		return err
	}
	description, id, _ := signalling.FromProtoSessionDescription(offer)
	for line := range strings.Lines(description.SDP) {
		if candidate, ok := strings.CutPrefix(strings.TrimSpace(line), "a=candidate:"); ok {
			a.readAddress(candidate)
		}
	}
	if err := a.pc.SetRemoteDescription(description); err != nil {
		return err
	}
	for _, candidate := range a.remote {
		if err := a.pc.AddICECandidate(candidate); err != nil {
			return err
		}
	}
	answer, err := a.pc.CreateAnswer(nil)
	if err != nil {
		return err
	}
	if err := a.pc.SetLocalDescription(answer); err != nil {
		return err
	}
	return a.send(&livekit.SignalRequest{Message: &livekit.SignalRequest_Answer{
		Answer: signalling.ToProtoSessionDescription(answer, id, nil)}})
}

// newConnection returns a connection that can only use the path.
func (a *attempt) newConnection() (*webrtc.PeerConnection, error) {
	var settings webrtc.SettingEngine
	settings.SetIncludeLoopbackCandidate(true) // for a server on this machine
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetRelayAcceptanceMinWait(0) // there is nothing better to wait for
	networks := []webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6}
	if a.path == ICETCP {
		networks = []webrtc.NetworkType{webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6}
	}
	settings.SetNetworkTypes(networks)
	codecs := &webrtc.MediaEngine{}
	if err := codecs.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	configuration := webrtc.Configuration{ICEServers: a.servers}
	if a.path.scheme() != "" {
		configuration.ICETransportPolicy = webrtc.ICETransportPolicyRelay
	}
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(codecs)).
		NewPeerConnection(configuration)
	if err != nil {
		return nil, err
	}
	pc.OnICECandidate(func(candidate *webrtc.ICECandidate) {
		if candidate != nil {
			_ = a.send(&livekit.SignalRequest{Message: &livekit.SignalRequest_Trickle{
				Trickle: signalling.ToProtoTrickle(candidate.ToJSON(), livekit.SignalTarget_SUBSCRIBER, false)}})
		}
	})
	pc.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		if state != webrtc.PeerConnectionStateConnected && state != webrtc.PeerConnectionStateFailed {
			return
		}
		select {
		case a.state <- state:
		default:
		}
	})
	return pc, nil
}

func (a *attempt) send(request *livekit.SignalRequest) error {
	data, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	a.sending.Lock()
	defer a.sending.Unlock()
	return a.ws.WriteMessage(websocket.BinaryMessage, data)
}

func (a *attempt) result(works bool) Result {
	// Media can connect before the address of the server arrives, because the server knows this machine's.
	result := Result{Path: a.path, Offered: works || len(a.offered) > 0, Works: works}
	if len(a.offered) > 0 {
		result.Address = a.offered[0]
	}
	if !works || a.path.scheme() != "" {
		return result
	}
	pair, err := a.pc.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
	if err == nil && pair != nil {
		result.Address = net.JoinHostPort(pair.Remote.Address, strconv.Itoa(int(pair.Remote.Port)))
	}
	return result
}
