// Package mediatest gives tests participants who really join: LiveKit's
// protocol on a WebSocket, and WebRTC over loopback. They reach an engine in
// the same process and one in another the same way, by the address of its
// signalling. Unlike a page, they can lie about what they send, and vanish
// without a word.
package mediatest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/livekit/protocol/livekit"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/proto"

	"parley/internal/room"
)

// WaitTimeout is what Join and the methods that wait take at most when their
// context has no earlier end.
const WaitTimeout = 15 * time.Second

// RefusedError is the error of Join when the server answered that it will not.
type RefusedError struct{ Status int }

func (r *RefusedError) Error() string {
	return fmt.Sprintf("mediatest: refused with status %d", r.Status)
}

// Participant is somebody in a session. It has to Leave or Vanish in the end.
// Its methods may be called from any goroutine.
type Participant struct {
	ws     *websocket.Conn
	sendMu sync.Mutex
	ctx    context.Context // ends with Leave or Vanish
	stop   context.CancelFunc

	reading sync.WaitGroup // the signalling
	tasks   sync.WaitGroup // media

	mu                 sync.Mutex
	closed             bool // the signalling is over
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

	raw              *RawOptions // nil for a participant who keeps to the protocol
	resumed          bool        // an earlier connection
	lastOffer        *livekit.SessionDescription
	lastAnswer       string
	requestResponses []*livekit.RequestResponse
}

// End is what the server said when it ended the connection.
type End struct {
	Reason    string // LiveKit's name of it, as ROOM_DELETED or PARTICIPANT_REMOVED
	Reconnect bool   // the page is to come back by itself
}

// DataMessage is one message among participants, or one of the server.
type DataMessage struct {
	Topic string
	From  string // the sender's identity; empty is the server
	Text  string
}

// Join opens the signalling at baseURL+"/rtc" with a media token, and returns
// when media is connected. The participant outlives ctx.
func Join(ctx context.Context, baseURL, token string) (*Participant, error) {
	ctx, cancel := context.WithTimeout(ctx, WaitTimeout)
	defer cancel()
	p, err := openSignaling(ctx, baseURL, token, "/rtc", defaultQuery(), nil)
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

// defaultQuery is the query of a participant who keeps to the protocol, without
// the token.
func defaultQuery() url.Values {
	return url.Values{"protocol": {"16"}, "sdk": {"go"}, "auto_subscribe": {"1"}}
}

// openSignaling opens the signaling and starts to read it.
func openSignaling(
	ctx context.Context, baseURL, token, path string, query url.Values, raw *RawOptions,
) (*Participant, error) {
	if token != "" {
		query.Set("access_token", token)
	}
	at := strings.Replace(baseURL, "http", "ws", 1) + path + "?" + query.Encode()
	ws, res, err := websocket.DefaultDialer.DialContext(ctx, at, nil)
	switch {
	case err != nil && res != nil && res.StatusCode != http.StatusSwitchingProtocols:
		return nil, &RefusedError{Status: res.StatusCode}
	case err != nil:
		return nil, fmt.Errorf("mediatest: join: %w", err)
	}
	p := &Participant{
		ws:                 ws,
		pendingCandidates:  make(map[livekit.SignalTarget][]webrtc.ICECandidateInit),
		remoteParticipants: make(map[string]*livekit.ParticipantInfo),
		packetsByTrack:     make(map[string]int),
		packetsByType:      make(map[TrackType]int),
		publications:       make(map[string]*publication),
		raw:                raw,
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.reading.Go(p.read)
	return p, nil
}

// subscriberConnected reports whether the subscriber connection is up.
func (p *Participant) subscriberConnected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sub != nil && p.sub.ConnectionState() == webrtc.PeerConnectionStateConnected
}

// Leave says goodbye, as a page does whose user presses the button, and
// returns when the server has hung up.
func (p *Participant) Leave() {
	err := p.sendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Leave{Leave: &livekit.LeaveRequest{
		Reason: livekit.DisconnectReason_CLIENT_INITIATED}}})
	if err == nil {
		_ = p.Wait(context.Background(), "the server hangs up", p.Closed)
	}
	p.Abort()
}

// Abort closes the sockets without a word, as a killed browser does. It takes
// the server some twenty seconds to notice.
func (p *Participant) Abort() {
	p.stop()
	_ = p.ws.Close()
	p.reading.Wait() // it makes connections
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

// Wait returns when done reports true; what says what it waits for. It is an
// error when ctx or the patience ends first, or the participant has met
// something that should not happen.
func (p *Participant) Wait(ctx context.Context, what string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, WaitTimeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if done() {
			return nil
		}
		p.mu.Lock()
		fault, over := p.err, p.raw != nil && p.closed
		p.mu.Unlock()
		switch {
		case over && done():
			return nil
		case over:
			return fmt.Errorf("mediatest: waiting: %s: %w", what, ErrClosed)
		case fault != nil && p.raw == nil:
			return fmt.Errorf("mediatest: waiting: %s: %w", what, fault)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("mediatest: waited in vain: %s", what)
		}
	}
}

// Identity is who the participant is in the session.
func (p *Participant) Identity() string { return p.localParticipant().Identity }

// SID is the server's id of this connection.
func (p *Participant) SID() string { return p.localParticipant().Sid }

func (p *Participant) localParticipant() *livekit.ParticipantInfo {
	return p.JoinResponse().Participant
}

// JoinResponse is what the server said first.
func (p *Participant) JoinResponse() *livekit.JoinResponse {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.joinResponse
}

// Description is the session description of the connection that sends, with
// its password.
func (p *Participant) Description() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pub == nil {
		return ""
	}
	return p.pub.LocalDescription().SDP
}

// Token is the last fresh token the server sent, or empty.
func (p *Participant) Token() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.token
}

// End is what the server said at the end, or nil.
func (p *Participant) End() *End {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

// AwaitEnd waits to be disconnected with a reason.
func (p *Participant) AwaitEnd(ctx context.Context) (End, error) {
	if err := p.Wait(ctx, "disconnected with a reason", func() bool { return p.End() != nil }); err != nil {
		return End{}, err
	}
	return *p.End(), nil
}

// Closed reports whether the signalling is over.
func (p *Participant) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Info is what pages read of the session, as told last.
func (p *Participant) Info() room.Metadata {
	all := p.Infos()
	if len(all) == 0 {
		return room.Metadata{}
	}
	return all[len(all)-1]
}

// Infos is everything the participant was told of the session, in order; the
// first came with the answer to joining.
func (p *Participant) Infos() []room.Metadata {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]room.Metadata(nil), p.infos...)
}

// AwaitInfo waits until the session is as wanted.
func (p *Participant) AwaitInfo(ctx context.Context, wanted func(room.Metadata) bool) (room.Metadata, error) {
	err := p.Wait(ctx, "info of the session", func() bool { return wanted(p.Info()) })
	return p.Info(), err
}

// ServerMessages are those of the server, as a page takes them: nothing that a
// participant sent is among them.
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

// AwaitMessage waits for a message of the server of that kind.
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

// DataMessages is every message that arrived, in order.
func (p *Participant) DataMessages() []DataMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]DataMessage(nil), p.dataMessages...)
}

// RemoteParticipant is somebody else in the session, as this participant is told.
type RemoteParticipant struct {
	Identity, SID, Name string
	Attributes          map[string]string
	Tracks              []Source
	TrackSIDs           []string // in the order of Tracks
}

// RemoteParticipant returns what this participant is told of another, and whether it is
// told of them at all.
func (p *Participant) RemoteParticipant(identity string) (RemoteParticipant, bool) {
	for _, o := range p.RemoteParticipants() {
		if o.Identity == identity {
			return o, true
		}
	}
	return RemoteParticipant{}, false
}

// EverSaw reports whether this participant was ever told of another.
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

// RemoteParticipants are those this participant is told of; it is not among them.
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

// Received counts the packets of a kind that have arrived, whoever sent them.
func (p *Participant) Received(kind TrackType) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.packetsByType[kind]
}

// ReceivedFrom counts the packets that have arrived of the tracks another
// participant publishes now under a label.
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

// AwaitPacketsFrom waits until more packets arrive of another's tracks under a label.
func (p *Participant) AwaitPacketsFrom(ctx context.Context, identity string, source Source) error {
	before := p.ReceivedFrom(identity, source)
	return p.Wait(ctx, fmt.Sprintf("%s arrives from %s", source, identity), func() bool {
		return p.ReceivedFrom(identity, source) > before
	})
}

// SendRequest sends a raw request of LiveKit's signalling.
func (p *Participant) SendRequest(req *livekit.SignalRequest) error { return p.sendRequest(req) }

func (p *Participant) sendRequest(req *livekit.SignalRequest) error {
	data, err := proto.Marshal(req)
	if err != nil {
		return err
	}
	return p.Write(data)
}

// Write sends any bytes as one message of the signalling.
func (p *Participant) Write(data []byte) error {
	p.sendMu.Lock()
	defer p.sendMu.Unlock()
	return p.ws.WriteMessage(websocket.BinaryMessage, data)
}

// read is the one reader of the signalling.
func (p *Participant) read() {
	for {
		_, data, err := p.ws.ReadMessage()
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
			// Whoever is told to leave finds the connections closed under them.
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
