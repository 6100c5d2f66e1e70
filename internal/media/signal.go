package media

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/livekit-server/pkg/telemetry/prometheus"
	"github.com/livekit/livekit-server/pkg/utils"
	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/logger"
	"github.com/livekit/psrpc"
	"google.golang.org/protobuf/proto"

	"parley/internal/media/signalfilter"
	"parley/internal/refusal"
)

// sessionHandler starts the sessions of participants on the process that hosts the room,
// and filters the signaling in both directions.
type sessionHandler struct {
	self   routing.LocalNode
	router routing.Router
	rooms  *service.RoomManager

	announced  []netip.Addr // the addresses of this server that browsers get
	iceServers iceServers
	admissions *admissions
	packets    *packetLimits
	log        *slog.Logger
	refusals   *refusal.Recorder
	sinks      openSinks
}

// Logger returns the logger of the context, as LiveKit's interface requires.
func (s *sessionHandler) Logger(ctx context.Context) logger.Logger { return utils.GetLogger(ctx) }

// HandleSession starts a session as LiveKit's own handler does, and adds the filters of
// requests and responses.
func (s *sessionHandler) HandleSession(
	ctx context.Context,
	pi routing.ParticipantInit,
	_ livekit.ConnectionID,
	source routing.MessageSource,
	sink routing.MessageSink,
) error {
	prometheus.IncrementParticipantRtcInit(1)
	host, err := s.router.GetNodeForRoom(ctx, livekit.RoomName(pi.CreateRoom.Name))
	if err != nil {
		return err
	}
	if livekit.NodeID(host.Id) != s.self.NodeID() {
		return routing.ErrIncorrectRTCNode
	}
	name := livekit.RoomName(pi.CreateRoom.Name)
	exists := func(sid string) bool { return trackExists(s.rooms, name, sid) }
	if refused := checkParticipantInit(&pi); refused != nil {
		s.refusals.Record(refused.Kind, refused.Reason, participantAttrs(name, pi.Identity)...)
		return psrpc.NewError(psrpc.InvalidArgument, refused)
	}
	signalfilter.RemoveUnknownTracksFromState(pi.SyncState, exists)
	sender := &offender{log: s.log, refusals: s.refusals, attrs: participantAttrs(name, pi.Identity),
		remove: func() { disconnect(s.rooms, name, pi.Identity) }}
	requests := newRequestFilter(source, sink, exists, s.announced, sender)
	responses := &responseFilter{
		MessageSink: sink,
		iceServers:  s.iceServers,
		identity:    pi.Identity,
		admissions:  s.admissions,
		packets:     s.packets,
		session:     name,
	}
	if err := s.rooms.StartSession(ctx, pi, requests, responses, false); err != nil {
		requests.Close()
		return err
	}
	s.sinks.add(sink)
	go requests.run()
	return nil
}

// openSinks are the connections on which messages for participants are sent, to this node
// or to the one that has the participant's WebSocket.
type openSinks struct {
	mu  sync.Mutex
	all []routing.MessageSink
}

// sinkPollInterval is the time between two checks of wait, because a sink does not tell
// when it closes.
const sinkPollInterval = 5 * time.Millisecond

// add adds a sink and forgets those that have closed.
func (o *openSinks) add(sink routing.MessageSink) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(slices.DeleteFunc(o.all, routing.MessageSink.IsClosed), sink)
}

// wait returns when all sinks have closed, which they do after the other node has received
// their last message, or when ctx ends.
func (o *openSinks) wait(ctx context.Context) {
	tick := time.NewTicker(sinkPollInterval)
	defer tick.Stop()
	for {
		o.mu.Lock()
		closed := !slices.ContainsFunc(o.all, func(sink routing.MessageSink) bool { return !sink.IsClosed() })
		o.mu.Unlock()
		if closed {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// disconnect disconnects a participant if this process hosts the session. Its page gets
// the reason USER_REJECTED.
func disconnect(rooms *service.RoomManager, name livekit.RoomName, identity livekit.ParticipantIdentity) {
	if rm := rooms.GetRoom(context.Background(), name); rm != nil {
		if p := rm.GetParticipant(identity); p != nil {
			rm.RemoveParticipant(identity, p.ID(), types.ParticipantCloseReasonUserRejected)
		}
	}
}

// trackExists reports whether a participant of a session publishes the track.
func trackExists(rooms *service.RoomManager, name livekit.RoomName, sid string) bool {
	rm := rooms.GetRoom(context.Background(), name)
	return rm != nil && slices.ContainsFunc(rm.GetParticipants(), func(p types.LocalParticipant) bool {
		return p.GetPublishedTrack(livekit.TrackID(sid)) != nil
	})
}

// checkParticipantInit checks the requests that arrived with the connection.
func checkParticipantInit(pi *routing.ParticipantInit) *signalfilter.Refusal {
	return signalfilter.SanitizeJoinRequest(&livekit.JoinRequest{
		ClientInfo:       pi.Client,
		AddTrackRequests: pi.AddTrackRequests,
		PublisherOffer:   pi.PublisherOffer,
		SyncState:        pi.SyncState,
		ParticipantSid:   string(pi.ID),
	})
}

// responseFilter filters the messages of the server to a participant.
type responseFilter struct {
	routing.MessageSink
	iceServers iceServers
	identity   livekit.ParticipantIdentity // of the receiver
	admissions *admissions
	packets    *packetLimits
	session    livekit.RoomName

	mu       sync.Mutex
	lastRoom *livekit.Room // the last update that the participant received
}

// WriteMessage sends a message to the participant with these changes:
//   - ICE servers are those of this service. LiveKit names public STUN servers, and every browser
//     would disclose its address to them. A reachable server needs none.
//   - Participants that are held back are removed.
//   - The counts and the maximum of participants are removed from rooms, because they
//     include hidden participants.
//   - The patch release, the node and the region of the server are removed.
//   - A server shutdown becomes a leave with the action RECONNECT, so that livekit-client
//     reconnects by itself, as it does when the process was killed.
func (r *responseFilter) WriteMessage(msg proto.Message) error {
	if res, ok := msg.(*livekit.SignalResponse); ok {
		switch m := res.Message.(type) {
		case *livekit.SignalResponse_Join:
			m.Join.IceServers = r.iceServers()
			m.Join.ServerInfo = publicServerInfo(m.Join.ServerInfo)
			m.Join.ServerVersion, m.Join.ServerRegion = "", ""
			m.Join.Room, _ = r.roomUpdate(m.Join.Room)
			m.Join.OtherParticipants = r.admissions.visibleParticipants(m.Join.OtherParticipants, r.identity)
		case *livekit.SignalResponse_Offer:
			r.setPacketFilter(m.Offer)
		case *livekit.SignalResponse_Answer:
			r.setPacketFilter(m.Answer)
		case *livekit.SignalResponse_Reconnect:
			m.Reconnect.IceServers = r.iceServers()
			m.Reconnect.ServerInfo = publicServerInfo(m.Reconnect.ServerInfo)
		case *livekit.SignalResponse_Update:
			participants := r.admissions.visibleParticipants(m.Update.Participants, r.identity)
			if len(participants) == 0 {
				return nil
			}
			msg = &livekit.SignalResponse{Message: &livekit.SignalResponse_Update{
				Update: &livekit.ParticipantUpdate{Participants: participants}}}
		case *livekit.SignalResponse_SpeakersChanged:
			speakers := r.admissions.visibleSpeakers(m.SpeakersChanged.Speakers)
			if len(speakers) == 0 {
				return nil
			}
			msg = &livekit.SignalResponse{Message: &livekit.SignalResponse_SpeakersChanged{
				SpeakersChanged: &livekit.SpeakersChanged{Speakers: speakers}}}
		case *livekit.SignalResponse_RoomUpdate:
			// The message is copied, because LiveKit sends the same one to others.
			update, changed := r.roomUpdate(m.RoomUpdate.Room)
			if !changed {
				return nil
			}
			msg = &livekit.SignalResponse{Message: &livekit.SignalResponse_RoomUpdate{
				RoomUpdate: &livekit.RoomUpdate{Room: update}}}
		case *livekit.SignalResponse_Leave:
			if m.Leave.Reason == livekit.DisconnectReason_SERVER_SHUTDOWN {
				m.Leave.Action = livekit.LeaveRequest_RECONNECT
				m.Leave.CanReconnect = true
			}
		}
	}
	return r.MessageSink.WriteMessage(msg)
}

// setPacketFilter makes the limits of the receiver apply to the media connection that a session
// description of the server describes.
func (r *responseFilter) setPacketFilter(description *livekit.SessionDescription) {
	_, after, found := strings.Cut(description.GetSdp(), "a=ice-ufrag:")
	user, _, ended := strings.Cut(after, "\r\n")
	if filter := r.admissions.packetFilter(r.session, r.identity); found && ended && filter != nil {
		r.packets.setFilter(user, filter)
	}
}

// publicServerInfo returns the server information for participants. livekit-client selects
// features by the protocol and by the major and minor version, and rejects a server
// without a version. The patch release, the node and its region are left out.
func publicServerInfo(info *livekit.ServerInfo) *livekit.ServerInfo {
	if info == nil {
		return nil
	}
	version := info.Version
	if i := strings.LastIndexByte(version, '.'); strings.Count(version, ".") == 2 {
		version = version[:i] + ".0"
	}
	return &livekit.ServerInfo{Edition: info.Edition, Version: version, Protocol: info.Protocol}
}

// roomUpdate returns the room without its counts, and reports whether it differs from the
// last update. LiveKit also sends updates when a participant, hidden or not, has joined or
// left, and an unchanged update would disclose that.
func (r *responseFilter) roomUpdate(rm *livekit.Room) (update *livekit.Room, changed bool) {
	update = proto.CloneOf(rm)
	update.NumParticipants, update.NumPublishers, update.MaxParticipants = 0, 0, 0
	r.mu.Lock()
	defer r.mu.Unlock()
	changed = !proto.Equal(r.lastRoom, update)
	r.lastRoom = update
	return update, changed
}
