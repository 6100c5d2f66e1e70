package mediatest

import (
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/signalling"
	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/proto"

	"parley/internal/room"
)

// handleResponse handles one message of the server. The caller holds p.mu.
func (p *Participant) handleResponse(res *livekit.SignalResponse) error {
	switch m := res.Message.(type) {
	case *livekit.SignalResponse_Join:
		p.joinResponse = m.Join
		for _, o := range m.Join.OtherParticipants {
			p.updateRemoteParticipant(o)
		}
		return p.updateInfo(m.Join.Room)
	case *livekit.SignalResponse_Reconnect:
		p.resumed = true
	case *livekit.SignalResponse_RoomUpdate:
		return p.updateInfo(m.RoomUpdate.Room)
	case *livekit.SignalResponse_Update:
		for _, o := range m.Update.Participants {
			p.updateRemoteParticipant(o)
		}
	case *livekit.SignalResponse_Offer:
		p.lastOffer = m.Offer
		if p.raw != nil && p.raw.HalfConnected {
			return nil
		}
		return p.answer(m.Offer)
	case *livekit.SignalResponse_Answer:
		p.lastAnswer = m.Answer.Sdp
		if p.pub == nil { // a raw participant can send an offer without a connection
			return nil
		}
		desc, _, _ := signalling.FromProtoSessionDescription(m.Answer)
		if err := p.pub.SetRemoteDescription(desc); errors.Is(err, webrtc.ErrUnsupportedCodec) {
			p.rejected = true
			return nil
		} else if err != nil {
			return err
		}
		return p.addPendingCandidates(p.pub, livekit.SignalTarget_PUBLISHER)
	case *livekit.SignalResponse_Trickle:
		candidate, err := signalling.FromProtoTrickle(m.Trickle)
		if err != nil {
			return err
		}
		pc := p.sub
		if m.Trickle.Target == livekit.SignalTarget_PUBLISHER {
			pc = p.pub
		}
		if pc == nil || pc.RemoteDescription() == nil {
			p.pendingCandidates[m.Trickle.Target] = append(p.pendingCandidates[m.Trickle.Target], candidate)
			return nil
		}
		return pc.AddICECandidate(candidate)
	case *livekit.SignalResponse_TrackPublished:
		if pub := p.publications[m.TrackPublished.Cid]; pub != nil {
			pub.sid = m.TrackPublished.Track.Sid
		}
	case *livekit.SignalResponse_TrackUnpublished:
		for _, pub := range p.publications {
			if pub.sid == m.TrackUnpublished.TrackSid {
				pub.unpublished = true
			}
		}
	case *livekit.SignalResponse_RequestResponse:
		p.requestResponses = append(p.requestResponses, m.RequestResponse)
		if add := m.RequestResponse.GetAddTrack(); add != nil {
			if pub := p.publications[add.Cid]; pub != nil {
				pub.refusal = m.RequestResponse.Reason.String()
			}
		}
	case *livekit.SignalResponse_RefreshToken:
		p.token = m.RefreshToken
	case *livekit.SignalResponse_Leave:
		p.end = &End{Reason: m.Leave.Reason.String(), Reconnect: m.Leave.Action == livekit.LeaveRequest_RECONNECT}
	}
	return nil
}

// updateRemoteParticipant applies an update of a participant. LiveKit sends the updates of
// one participant from several goroutines, so that an older version can arrive last; its
// JavaScript client ignores that, and so does this one.
func (p *Participant) updateRemoteParticipant(latest *livekit.ParticipantInfo) {
	known := p.remoteParticipants[latest.Sid]
	if known != nil && known.Version > latest.Version && latest.State != livekit.ParticipantInfo_DISCONNECTED {
		return
	}
	p.remoteParticipants[latest.Sid] = latest
}

func (p *Participant) updateInfo(rm *livekit.Room) error {
	if rm.Metadata == "" { // of LiveKit's own server
		return nil
	}
	var info room.Metadata
	if err := json.Unmarshal([]byte(rm.Metadata), &info); err != nil {
		return err
	}
	p.infos = append(p.infos, info)
	return nil
}

func (p *Participant) answer(offer *livekit.SessionDescription) error {
	if p.sub == nil {
		var err error
		if p.sub, err = p.newPeerConnection(livekit.SignalTarget_SUBSCRIBER); err != nil {
			return err
		}
		p.sub.OnTrack(func(track *webrtc.TrackRemote,
			_ *webrtc.RTPReceiver) {
			p.tasks.Go(func() { p.receive(track) })
		})
		p.sub.OnDataChannel(func(channel *webrtc.DataChannel) { channel.OnMessage(p.onDataMessage) })
	}
	desc, id, _ := signalling.FromProtoSessionDescription(offer)
	if err := p.sub.SetRemoteDescription(desc); err != nil {
		return err
	}
	if err := p.addPendingCandidates(p.sub, livekit.SignalTarget_SUBSCRIBER); err != nil {
		return err
	}
	answer, err := p.sub.CreateAnswer(nil)
	if err != nil {
		return err
	}
	if err := p.sub.SetLocalDescription(answer); err != nil {
		return err
	}
	return p.sendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Answer{
		Answer: signalling.ToProtoSessionDescription(answer, id, nil)}})
}

func (p *Participant) addPendingCandidates(pc *webrtc.PeerConnection, target livekit.SignalTarget) error {
	for _, candidate := range p.pendingCandidates[target] {
		if err := pc.AddICECandidate(candidate); err != nil {
			return err
		}
	}
	delete(p.pendingCandidates, target)
	return nil
}

// receive counts the packets of a track until the connection is closed.
func (p *Participant) receive(track *webrtc.TrackRemote) {
	kind := Audio
	if track.Kind() == webrtc.RTPCodecTypeVideo {
		kind = Video
	}
	for {
		if _, _, err := track.ReadRTP(); err != nil {
			return
		}
		p.mu.Lock()
		p.packetsByTrack[track.ID()]++
		p.packetsByType[kind]++
		p.mu.Unlock()
	}
}

func (p *Participant) onDataMessage(msg webrtc.DataChannelMessage) {
	if p.raw != nil && p.raw.Stalled {
		<-p.ctx.Done()
		return
	}
	packet := &livekit.DataPacket{}
	if proto.Unmarshal(msg.Data, packet) != nil || packet.GetUser() == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dataMessages = append(p.dataMessages, DataMessage{
		Topic: packet.GetUser().GetTopic(), From: packet.ParticipantIdentity, Text: string(packet.GetUser().Payload)})
}

// newPeerConnection creates a peer connection that uses loopback only.
func (p *Participant) newPeerConnection(target livekit.SignalTarget) (*webrtc.PeerConnection, error) {
	var se webrtc.SettingEngine
	se.SetIncludeLoopbackCandidate(true)
	se.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	network := webrtc.NetworkTypeUDP4
	if p.network.TCP {
		network = webrtc.NetworkTypeTCP4
	}
	se.SetNetworkTypes([]webrtc.NetworkType{network})
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	se.SetRelayAcceptanceMinWait(0) // there is no better way to wait for
	me := &webrtc.MediaEngine{}
	if err := me.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	options := []func(*webrtc.API){webrtc.WithSettingEngine(se), webrtc.WithMediaEngine(me)}
	if p.raw != nil && target == livekit.SignalTarget_PUBLISHER {
		if err := p.raw.register(me); err != nil {
			return nil, err
		}
		// Interceptors would change the packets, so a raw participant uses none.
		options = append(options, webrtc.WithInterceptorRegistry(&interceptor.Registry{}))
	}
	pc, err := webrtc.NewAPI(options...).NewPeerConnection(p.configuration())
	if err != nil {
		return nil, err
	}
	pc.OnICECandidate(func(candidate *webrtc.ICECandidate) {
		if candidate == nil {
			return
		}
		_ = p.sendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Trickle{
			Trickle: signalling.ToProtoTrickle(candidate.ToJSON(), target, false)}})
	})
	return pc, nil
}

// configuration returns the ICE servers that the participant uses.
func (p *Participant) configuration() (c webrtc.Configuration) {
	if p.network.Relay == "" {
		return c
	}
	c.ICETransportPolicy = webrtc.ICETransportPolicyRelay
	for _, server := range p.joinResponse.IceServers {
		isOther := func(url string) bool { return !strings.HasPrefix(url, p.network.Relay+":") }
		urls := slices.DeleteFunc(slices.Clone(server.Urls), isOther)
		c.ICEServers = append(c.ICEServers,
			webrtc.ICEServer{URLs: urls, Username: server.Username, Credential: server.Credential})
	}
	return c
}
