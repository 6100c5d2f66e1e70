package media_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/signalling"
	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/proto"
)

// client is a raw participant: LiveKit's protocol on a WebSocket and two
// peer connections on loopback. Unlike a page it can lie.
type client struct {
	t    *testing.T
	ws   *websocket.Conn
	send sync.Mutex

	mu      sync.Mutex
	join    *livekit.JoinResponse
	pub     *webrtc.PeerConnection
	sub     *webrtc.PeerConnection
	others  map[string]*livekit.ParticipantInfo // by sid
	tracks  map[string]*livekit.TrackInfo       // published, by cid
	refused []livekit.RequestResponse_Reason    // announcements
	// The server's answer leaves no place for a track that was offered.
	rejected bool
	leave    *livekit.LeaveRequest
	refresh  string
	packets  map[webrtc.RTPCodecType]int
	early    map[livekit.SignalTarget][]webrtc.ICECandidateInit
	closed   bool
	stop     context.CancelFunc
	ctx      context.Context
}

// dial opens the signalling only.
func dial(base, token, query string) (*websocket.Conn, *http.Response, error) {
	at := strings.Replace(base, "http://", "ws://", 1) +
		"/rtc?protocol=16&sdk=go&auto_subscribe=1&access_token=" + url.QueryEscape(token) + query
	return websocket.DefaultDialer.Dial(at, nil)
}

// connect joins and waits until media is connected.
func connect(t *testing.T, base, token string) *client {
	t.Helper()
	ws, res, err := dial(base, token, "")
	if err != nil {
		t.Fatalf("join: %v (%v)", err, res)
	}
	c := newClient(t, ws)
	eventually(t, "media connected", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.sub != nil && c.sub.ConnectionState() == webrtc.PeerConnectionStateConnected
	})
	return c
}

func newClient(t *testing.T, ws *websocket.Conn) *client {
	c := &client{
		t: t, ws: ws,
		others:  make(map[string]*livekit.ParticipantInfo),
		tracks:  make(map[string]*livekit.TrackInfo),
		packets: make(map[webrtc.RTPCodecType]int),
		early:   make(map[livekit.SignalTarget][]webrtc.ICECandidateInit),
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	go c.read()
	t.Cleanup(c.close)
	return c
}

func (c *client) read() {
	for {
		_, data, err := c.ws.ReadMessage()
		if err != nil {
			c.mu.Lock()
			c.closed = true
			c.mu.Unlock()
			return
		}
		res := &livekit.SignalResponse{}
		if err := proto.Unmarshal(data, res); err != nil {
			c.t.Errorf("unreadable response: %v", err)
			return
		}
		c.mu.Lock()
		err = c.handle(res)
		// Whoever is told to leave finds the connections closed under them.
		over := c.leave != nil || errors.Is(err, webrtc.ErrConnectionClosed)
		c.mu.Unlock()
		if err != nil && !over && c.ctx.Err() == nil {
			c.t.Errorf("client: %v", err)
		}
	}
}

func (c *client) handle(res *livekit.SignalResponse) error {
	switch m := res.Message.(type) {
	case *livekit.SignalResponse_Join:
		c.join = m.Join
		for _, p := range m.Join.OtherParticipants {
			c.others[p.Sid] = p
		}
	case *livekit.SignalResponse_Update:
		for _, p := range m.Update.Participants {
			c.others[p.Sid] = p
		}
	case *livekit.SignalResponse_Offer:
		return c.answer(m.Offer)
	case *livekit.SignalResponse_Answer:
		desc, _, _ := signalling.FromProtoSessionDescription(m.Answer)
		if err := c.pub.SetRemoteDescription(desc); errors.Is(err, webrtc.ErrUnsupportedCodec) {
			c.rejected = true
			return nil
		} else if err != nil {
			return err
		}
		return c.addEarly(c.pub, livekit.SignalTarget_PUBLISHER)
	case *livekit.SignalResponse_Trickle:
		candidate, err := signalling.FromProtoTrickle(m.Trickle)
		if err != nil {
			return err
		}
		pc := c.sub
		if m.Trickle.Target == livekit.SignalTarget_PUBLISHER {
			pc = c.pub
		}
		if pc == nil || pc.RemoteDescription() == nil {
			c.early[m.Trickle.Target] = append(c.early[m.Trickle.Target], candidate)
			return nil
		}
		return pc.AddICECandidate(candidate)
	case *livekit.SignalResponse_TrackPublished:
		c.tracks[m.TrackPublished.Cid] = m.TrackPublished.Track
	case *livekit.SignalResponse_RequestResponse:
		c.refused = append(c.refused, m.RequestResponse.Reason)
	case *livekit.SignalResponse_RefreshToken:
		c.refresh = m.RefreshToken
	case *livekit.SignalResponse_Leave:
		c.leave = m.Leave
	}
	return nil
}

func (c *client) answer(offer *livekit.SessionDescription) error {
	if c.sub == nil {
		var err error
		if c.sub, err = c.peer(livekit.SignalTarget_SUBSCRIBER); err != nil {
			return err
		}
		c.sub.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
			for {
				if _, _, err := track.ReadRTP(); err != nil {
					return
				}
				c.mu.Lock()
				c.packets[track.Kind()]++
				c.mu.Unlock()
			}
		})
	}
	desc, id, _ := signalling.FromProtoSessionDescription(offer)
	if err := c.sub.SetRemoteDescription(desc); err != nil {
		return err
	}
	if err := c.addEarly(c.sub, livekit.SignalTarget_SUBSCRIBER); err != nil {
		return err
	}
	answer, err := c.sub.CreateAnswer(nil)
	if err != nil {
		return err
	}
	if err := c.sub.SetLocalDescription(answer); err != nil {
		return err
	}
	return c.say(&livekit.SignalRequest{Message: &livekit.SignalRequest_Answer{
		Answer: signalling.ToProtoSessionDescription(answer, id, nil)}})
}

func (c *client) addEarly(pc *webrtc.PeerConnection, target livekit.SignalTarget) error {
	for _, candidate := range c.early[target] {
		if err := pc.AddICECandidate(candidate); err != nil {
			return err
		}
	}
	delete(c.early, target)
	return nil
}

// peer makes a peer connection that knows loopback and nobody else.
func (c *client) peer(target livekit.SignalTarget) (*webrtc.PeerConnection, error) {
	var se webrtc.SettingEngine
	se.SetIncludeLoopbackCandidate(true)
	se.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	me := &webrtc.MediaEngine{}
	if err := me.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(se), webrtc.WithMediaEngine(me)).
		NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	pc.OnICECandidate(func(candidate *webrtc.ICECandidate) {
		if candidate == nil {
			return
		}
		_ = c.say(&livekit.SignalRequest{Message: &livekit.SignalRequest_Trickle{
			Trickle: signalling.ToProtoTrickle(candidate.ToJSON(), target, false)}})
	})
	return pc, nil
}

func (c *client) say(req *livekit.SignalRequest) error {
	data, err := proto.Marshal(req)
	if err != nil {
		return err
	}
	c.send.Lock()
	defer c.send.Unlock()
	return c.ws.WriteMessage(websocket.BinaryMessage, data)
}

func (c *client) announced(cid string) *livekit.TrackInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tracks[cid]
}

func (c *client) received(kind webrtc.RTPCodecType) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.packets[kind]
}

// sees returns how many tracks the identity has published, as this client
// was told, or -1 when it is not there.
func (c *client) sees(identity string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.others {
		if p.Identity == identity && p.State != livekit.ParticipantInfo_DISCONNECTED {
			return len(p.Tracks)
		}
	}
	return -1
}

func (c *client) sid() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.join.Participant.Sid
}

func (c *client) left() *livekit.LeaveRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leave
}

func (c *client) awaitLeave(reason livekit.DisconnectReason) *livekit.LeaveRequest {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("told %s", reason), func() bool { return c.left() != nil })
	if got := c.left().Reason; got != reason {
		c.t.Fatalf("told %s, want %s", got, reason)
	}
	return c.left()
}

// goodbye leaves like a page whose user pressed the button.
func (c *client) goodbye() {
	c.t.Helper()
	if err := c.say(&livekit.SignalRequest{Message: &livekit.SignalRequest_Leave{Leave: &livekit.LeaveRequest{
		Reason: livekit.DisconnectReason_CLIENT_INITIATED}}}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) close() {
	c.stop()
	_ = c.ws.Close()
	c.mu.Lock()
	pub, sub := c.pub, c.sub
	c.mu.Unlock()
	for _, pc := range []*webrtc.PeerConnection{pub, sub} {
		if pc != nil {
			_ = pc.Close()
		}
	}
}
