// Package mediatest provides participants for tests that really join a session, with
// LiveKit's protocol on a WebSocket and WebRTC over loopback. They reach an engine in this
// or another process by the URL of its signaling. Unlike a page, they can announce wrong
// track types and abort their connections.
package mediatest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"github.com/livekit/protocol/livekit"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/proto"

	"parley/internal/room"
)

// WaitTimeout is the maximum duration of Join and of the methods that wait, unless their
// context ends earlier.
const WaitTimeout = time.Minute

// RefusedError is the error of Join when the server refuses the connection.
type RefusedError struct{ Status int }

func (r *RefusedError) Error() string {
	return fmt.Sprintf("mediatest: refused with status %d", r.Status)
}

// Participant is a participant of a session. Call Leave or Abort at the end. Its methods
// may be called from any goroutine.
type Participant struct {
	network Network
	ws      *websocket.Conn
	sendMu  sync.Mutex
	ctx     context.Context // ends with Leave or Abort
	stop    context.CancelFunc

	reading sync.WaitGroup              // the goroutine that reads the signaling
	tasks   sync.WaitGroup              // the goroutines that send and receive media
	sent    map[TrackType]*atomic.Int64 // packets; the map does not change

	mu                 sync.Mutex
	closed             bool // the signaling has ended
	err                error
	joinResponse       *livekit.JoinResponse
	pub, sub           *webrtc.PeerConnection
	pendingCandidates  map[livekit.SignalTarget][]webrtc.ICECandidateInit
	reliable           *webrtc.DataChannel
	remoteParticipants map[string]*livekit.ParticipantInfo // by sid
	packetsByTrack     map[string]int                      // packets, by the track's sid
	packetsByType      map[TrackType]int                   // packets
	publications       map[string]*publication             // by name
	infos              []room.Metadata
	dataMessages       []DataMessage
	rejected           bool
	token              string
	end                *End

	raw              *RawOptions // nil for a participant that follows the protocol
	resumed          bool        // the server has resumed an earlier connection
	lastOffer        *livekit.SessionDescription
	lastAnswer       string
	requestResponses []*livekit.RequestResponse
}

// End is the server's leave request at the end of a connection.
type End struct {
	Reason    string // LiveKit's name of the reason, such as ROOM_DELETED
	Reconnect bool   // the client is told to reconnect
}

// DataMessage is a data message of a participant or of the server.
type DataMessage struct {
	Topic string
	From  string // the sender's identity; empty for the server
	Text  string
}

// Network is how a participant connects. The zero value is media over UDP, and HTTPS with the
// authorities of the system.
type Network struct {
	TLS   *tls.Config // of the signaling
	TCP   bool        // media over TCP, not over UDP
	Relay string      // media through the TURN servers of this scheme, turn or turns; empty for all paths
}

// Join opens the signaling at baseURL+"/rtc" with a media token, and returns when media is
// connected. The end of ctx does not end the participant.
func Join(ctx context.Context, baseURL, token string) (*Participant, error) {
	return Network{}.Join(ctx, baseURL, token)
}

// Join is the function Join over this network.
func (n Network) Join(ctx context.Context, baseURL, token string) (*Participant, error) {
	ctx, cancel := context.WithTimeout(ctx, WaitTimeout)
	defer cancel()
	p, err := n.openSignaling(ctx, baseURL, token, "/rtc", defaultQuery(), nil)
	if err != nil {
		return nil, err
	}
	err = p.Wait(ctx, "media connected", p.subscriberConnected)
	if err != nil {
		p.Abort()
		return nil, err
	}
	return p, nil
}

// defaultQuery returns the query of a participant that follows the protocol, without the
// token.
func defaultQuery() url.Values {
	return url.Values{"protocol": {"16"}, "sdk": {"go"}, "auto_subscribe": {"1"}}
}

// openSignaling opens the signaling and starts the goroutine that reads it.
func (n Network) openSignaling(
	ctx context.Context, baseURL, token, path string, query url.Values, raw *RawOptions,
) (*Participant, error) {
	ws, err := n.dial(ctx, baseURL, token, path, query)
	if err != nil {
		return nil, err
	}
	p := &Participant{
		network:            n,
		ws:                 ws,
		pendingCandidates:  make(map[livekit.SignalTarget][]webrtc.ICECandidateInit),
		remoteParticipants: make(map[string]*livekit.ParticipantInfo),
		packetsByTrack:     make(map[string]int),
		packetsByType:      make(map[TrackType]int),
		sent:               map[TrackType]*atomic.Int64{Audio: {}, Video: {}},
		publications:       make(map[string]*publication),
		raw:                raw,
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.reading.Go(func() { p.read(ws) })
	return p, nil
}

// dial opens a WebSocket for the signaling.
func (n Network) dial(ctx context.Context, baseURL, token, path string, query url.Values) (*websocket.Conn, error) {
	if token != "" {
		query.Set("access_token", token)
	}
	wsURL := strings.Replace(baseURL, "http", "ws", 1) + path + "?" + query.Encode()
	dialer := websocket.Dialer{TLSClientConfig: n.TLS}
	ws, res, err := dialer.DialContext(ctx, wsURL, nil)
	switch {
	case err != nil && res != nil && res.StatusCode != http.StatusSwitchingProtocols:
		return nil, &RefusedError{Status: res.StatusCode}
	case err != nil:
		return nil, fmt.Errorf("mediatest: join: %w", err)
	}
	return ws, nil
}

// Resume opens the signaling again after it has ended, through any node, and keeps the media, as a page
// does. It returns an error if the server ends the connection instead.
func (p *Participant) Resume(ctx context.Context, baseURL, token string) error {
	query := defaultQuery()
	query.Set("reconnect", "1")
	query.Set("sid", p.SID())
	ws, err := p.network.dial(ctx, baseURL, token, "/rtc", query)
	if err != nil {
		return err
	}
	p.sendMu.Lock()
	p.ws = ws
	p.sendMu.Unlock()
	p.mu.Lock()
	p.closed, p.resumed = false, false
	p.mu.Unlock()
	p.reading.Go(func() { p.read(ws) })
	return p.Wait(ctx, "the connection is resumed", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.resumed || p.closed || p.end != nil
	})
}

// subscriberConnected reports whether the subscriber connection is connected.
func (p *Participant) subscriberConnected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sub != nil && p.sub.ConnectionState() == webrtc.PeerConnectionStateConnected
}

// MediaConnected reports whether the participant can receive media. It takes some seconds until they notice that they
// can not any more.
func (p *Participant) MediaConnected() bool { return p.subscriberConnected() }

// Leave sends a leave request, as a page does when its user leaves, and returns when the
// server has closed the connection.
func (p *Participant) Leave() {
	err := p.sendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Leave{Leave: &livekit.LeaveRequest{
		Reason: livekit.DisconnectReason_CLIENT_INITIATED}}})
	if err == nil {
		_ = p.Wait(context.Background(), "the server closes the connection", p.Closed)
	}
	p.Abort()
}

// Abort closes the sockets without a leave request, like a killed browser. The server
// notices after about twenty seconds.
func (p *Participant) Abort() {
	p.stop()
	p.sendMu.Lock()
	_ = p.ws.Close()
	p.sendMu.Unlock()
	p.reading.Wait() // the reader creates peer connections
	p.mu.Lock()
	pub, sub := p.pub, p.sub
	p.mu.Unlock()
	for _, pc := range []*webrtc.PeerConnection{pub, sub} {
		if pc != nil {
			_ = pc.Close()
		}
	}
	p.tasks.Wait()
}

// Wait returns when done reports true. The description of the condition is part of the
// error. Wait returns an error if ctx or WaitTimeout ends first, or if handling a message
// of the server has failed.
func (p *Participant) Wait(ctx context.Context, condition string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, WaitTimeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if done() {
			return nil
		}
		p.mu.Lock()
		failure, ended := p.err, p.raw != nil && p.closed
		p.mu.Unlock()
		switch {
		case ended && done():
			return nil
		case ended:
			return fmt.Errorf("mediatest: waiting: %s: %w", condition, ErrClosed)
		case failure != nil && p.raw == nil:
			return fmt.Errorf("mediatest: waiting: %s: %w", condition, failure)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("mediatest: timed out waiting for: %s", condition)
		}
	}
}

// Identity returns the identity of the participant in the session.
func (p *Participant) Identity() string { return p.localParticipant().Identity }

// SID returns the server's id of this connection.
func (p *Participant) SID() string { return p.localParticipant().Sid }

func (p *Participant) localParticipant() *livekit.ParticipantInfo {
	return p.JoinResponse().Participant
}

// JoinResponse returns the server's first message.
func (p *Participant) JoinResponse() *livekit.JoinResponse {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.joinResponse
}

// Description returns the local session description of the publisher connection, which
// contains the ICE password.
func (p *Participant) Description() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pub == nil {
		return ""
	}
	return p.pub.LocalDescription().SDP
}

// Token returns the last fresh token that the server sent, or an empty string.
func (p *Participant) Token() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.token
}

// End returns the server's leave request, or nil.
func (p *Participant) End() *End {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

// AwaitEnd waits until the server disconnects the participant with a reason.
func (p *Participant) AwaitEnd(ctx context.Context) (End, error) {
	if err := p.Wait(ctx, "disconnected with a reason", func() bool { return p.End() != nil }); err != nil {
		return End{}, err
	}
	return *p.End(), nil
}

// Closed reports whether the signaling has ended.
func (p *Participant) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Info returns the last metadata of the session.
func (p *Participant) Info() room.Metadata {
	all := p.Infos()
	if len(all) == 0 {
		return room.Metadata{}
	}
	return all[len(all)-1]
}

// Infos returns all metadata of the session that the participant received, in order. The
// first arrived with the join response.
func (p *Participant) Infos() []room.Metadata {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]room.Metadata(nil), p.infos...)
}

// AwaitInfo waits until the metadata of the session is as wanted, and returns it.
func (p *Participant) AwaitInfo(ctx context.Context, wanted func(room.Metadata) bool) (room.Metadata, error) {
	err := p.Wait(ctx, "metadata of the session", func() bool { return wanted(p.Info()) })
	return p.Info(), err
}

// ServerMessages returns the messages of the server, without those of participants.
func (p *Participant) ServerMessages() []room.Message {
	var all []room.Message
	for _, s := range p.DataMessages() {
		var m room.Message
		if s.Topic == "parley" && s.From == "" && json.Unmarshal([]byte(s.Text), &m) == nil {
			all = append(all, m)
		}
	}
	return all
}

// AwaitMessage waits for a message of the server with the given kind.
func (p *Participant) AwaitMessage(ctx context.Context, kind room.MessageKind) (room.Message, error) {
	var found room.Message
	err := p.Wait(ctx, fmt.Sprintf("a message %q", kind), func() bool {
		for _, m := range p.ServerMessages() {
			if m.Kind == kind {
				found = m
				return true
			}
		}
		return false
	})
	return found, err
}

// DataMessages returns all messages that arrived, in order.
func (p *Participant) DataMessages() []DataMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]DataMessage(nil), p.dataMessages...)
}

// RemoteParticipant is another participant of the session, as this participant sees it.
type RemoteParticipant struct {
	Identity, SID, Name string
	Attributes          map[string]string
	Tracks              []Source
	TrackSIDs           []string // in the order of Tracks
}

// RemoteParticipant returns another participant, and whether this participant sees it.
func (p *Participant) RemoteParticipant(identity string) (RemoteParticipant, bool) {
	for _, o := range p.RemoteParticipants() {
		if o.Identity == identity {
			return o, true
		}
	}
	return RemoteParticipant{}, false
}

// EverSaw reports whether this participant ever saw another.
func (p *Participant) EverSaw(identity string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.remoteParticipants {
		if o.Identity == identity {
			return true
		}
	}
	return false
}

// RemoteParticipants returns the other participants that this participant sees.
func (p *Participant) RemoteParticipants() []RemoteParticipant {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []RemoteParticipant
	for sid, o := range p.remoteParticipants {
		if sid == p.joinResponse.Participant.Sid || o.State == livekit.ParticipantInfo_DISCONNECTED {
			continue
		}
		other := RemoteParticipant{Identity: o.Identity, SID: o.Sid, Name: o.Name, Attributes: o.Attributes}
		for _, t := range o.Tracks {
			other.Tracks = append(other.Tracks, sourceFromProto(t.Source))
			other.TrackSIDs = append(other.TrackSIDs, t.Sid)
		}
		all = append(all, other)
	}
	return all
}

// Sent returns the number of packets of a type that the participant has sent. It counts also those that the server has
// dropped, and those of a track that is not negotiated, which never leave the participant.
func (p *Participant) Sent(kind TrackType) int { return int(p.sent[kind].Load()) }

// Received returns the number of packets of a type that have arrived from all
// participants.
func (p *Participant) Received(kind TrackType) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.packetsByType[kind]
}

// ReceivedFrom returns the number of packets that have arrived from the tracks of a source
// that another participant publishes now.
func (p *Participant) ReceivedFrom(identity string, source Source) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, o := range p.remoteParticipants {
		if o.Identity != identity {
			continue
		}
		for _, t := range o.Tracks {
			if sourceFromProto(t.Source) == source {
				n += p.packetsByTrack[t.Sid]
			}
		}
	}
	return n
}

// AwaitPacketsFrom waits until more packets arrive from another participant's tracks of a
// source.
func (p *Participant) AwaitPacketsFrom(ctx context.Context, identity string, source Source) error {
	before := p.ReceivedFrom(identity, source)
	return p.Wait(ctx, fmt.Sprintf("%s arrives from %s", source, identity), func() bool {
		return p.ReceivedFrom(identity, source) > before
	})
}

// SendRequest sends a signal request without changes.
func (p *Participant) SendRequest(req *livekit.SignalRequest) error { return p.sendRequest(req) }

func (p *Participant) sendRequest(req *livekit.SignalRequest) error {
	data, err := proto.Marshal(req)
	if err != nil {
		return err
	}
	return p.Write(data)
}

// Write sends bytes as one signaling message.
func (p *Participant) Write(data []byte) error {
	p.sendMu.Lock()
	defer p.sendMu.Unlock()
	return p.ws.WriteMessage(websocket.BinaryMessage, data)
}

// read reads a connection of the signaling until it ends. It runs in one goroutine.
func (p *Participant) read(ws *websocket.Conn) {
	for {
		_, data, err := ws.ReadMessage()
		if err != nil {
			p.mu.Lock()
			p.closed = true
			p.mu.Unlock()
			return
		}
		res := &livekit.SignalResponse{}
		if err = proto.Unmarshal(data, res); err == nil {
			p.mu.Lock()
			err = p.handleResponse(res)
			// After a leave request, errors of closed connections are expected.
			if p.end != nil || p.ctx.Err() != nil || errors.Is(err, webrtc.ErrConnectionClosed) {
				err = nil
			}
			p.mu.Unlock()
		}
		if err != nil {
			p.mu.Lock()
			p.err = err
			p.mu.Unlock()
		}
	}
}
