package media

import (
	"context"
	"slices"
	"strings"
	"sync"

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

// sessionHandler starts the session of a participant on the process that hosts the
// room, and stands between the two in both directions.
type sessionHandler struct {
	self   routing.LocalNode
	router routing.Router
	rooms  *service.RoomManager

	admissions *admissions
	refusals   *refusal.Recorder
}

// Logger is asked for by LiveKit.
func (s *sessionHandler) Logger(ctx context.Context) logger.Logger { return utils.GetLogger(ctx) }

// HandleSession does what LiveKit's own handler does, with filters on what
// the participant and the server say to each other.
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
		s.refusals.Record(refused.Kind, refused.Reason, "session", string(name), "identity", string(pi.Identity))
		return psrpc.NewError(psrpc.InvalidArgument, refused)
	}
	signalfilter.RemoveUnknownTracksFromState(pi.SyncState, exists)
	requests := newRequestFilter(source, sink, exists, s.refusals, "session", string(name), "identity", string(pi.Identity))
	if err := s.rooms.StartSession(ctx, pi, requests, &responseFilter{MessageSink: sink, identity: pi.Identity, admissions: s.admissions}, false); err != nil {
		requests.Close()
		return err
	}
	go requests.run(func() { disconnect(s.rooms, name, pi.Identity) })
	return nil
}

// disconnect disconnects a participant if this process hosts the session. The
// reason that its page reads is USER_REJECTED.
func disconnect(rooms *service.RoomManager, name livekit.RoomName, identity livekit.ParticipantIdentity) {
	if rm := rooms.GetRoom(context.Background(), name); rm != nil {
		if p := rm.GetParticipant(identity); p != nil {
			rm.RemoveParticipant(identity, p.ID(), types.ParticipantCloseReasonUserRejected)
		}
	}
}

// trackExists reports whether anybody in a session sends the track.
func trackExists(rooms *service.RoomManager, name livekit.RoomName, sid string) bool {
	rm := rooms.GetRoom(context.Background(), name)
	return rm != nil && slices.ContainsFunc(rm.GetParticipants(), func(p types.LocalParticipant) bool {
		return p.GetPublishedTrack(livekit.TrackID(sid)) != nil
	})
}

// checkParticipantInit holds what came with the connection to the rules for requests.
func checkParticipantInit(pi *routing.ParticipantInit) *signalfilter.Refusal {
	return signalfilter.SanitizeJoinRequest(&livekit.JoinRequest{ClientInfo: pi.Client, AddTrackRequests: pi.AddTrackRequests,
		PublisherOffer: pi.PublisherOffer, SyncState: pi.SyncState, ParticipantSid: string(pi.ID)})
}

// responseFilter is what the server says to a participant.
type responseFilter struct {
	routing.MessageSink
	identity   livekit.ParticipantIdentity // who is told
	admissions *admissions

	mu       sync.Mutex
	lastRoom *livekit.Room // as the participant was told last
}

// WriteMessage changes some things. Without TURN of our own LiveKit names
// public STUN servers of others, and every browser would tell them its
// address; a server that is reachable needs none. Nothing is told of other
// participants who are held back. LiveKit's counts of a room include hidden
// participants and would give them away; its bound of a room counts them too.
// Its patch release and node are nobody's business. And a stopping server
// says goodbye in a way that makes livekit-client come back by itself, as it
// does when the process was killed.
func (r *responseFilter) WriteMessage(msg proto.Message) error {
	if res, ok := msg.(*livekit.SignalResponse); ok {
		switch m := res.Message.(type) {
		case *livekit.SignalResponse_Join:
			m.Join.IceServers = nil
			m.Join.ServerInfo = publicServerInfo(m.Join.ServerInfo)
			m.Join.ServerVersion, m.Join.ServerRegion = "", ""
			m.Join.Room, _ = r.roomUpdate(m.Join.Room)
			m.Join.OtherParticipants = r.admissions.visibleParticipants(m.Join.OtherParticipants, r.identity)
		case *livekit.SignalResponse_Reconnect:
			m.Reconnect.IceServers = nil
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
			// The same message goes to others too.
			told, isNews := r.roomUpdate(m.RoomUpdate.Room)
			if !isNews {
				return nil
			}
			msg = &livekit.SignalResponse{Message: &livekit.SignalResponse_RoomUpdate{
				RoomUpdate: &livekit.RoomUpdate{Room: told}}}
		case *livekit.SignalResponse_Leave:
			if m.Leave.Reason == livekit.DisconnectReason_SERVER_SHUTDOWN {
				m.Leave.Action = livekit.LeaveRequest_RECONNECT
				m.Leave.CanReconnect = true
			}
		}
	}
	return r.MessageSink.WriteMessage(msg)
}

// publicServerInfo is what a participant is told of the server: livekit-client chooses
// features by the protocol and by the major and minor version, and refuses a server
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

// roomUpdate returns what the participant shall be told of the room, and whether it
// is anything new: LiveKit tells of a room now and then when somebody, hidden
// or not, has come or gone.
func (r *responseFilter) roomUpdate(rm *livekit.Room) (told *livekit.Room, isNews bool) {
	told = proto.CloneOf(rm)
	told.NumParticipants, told.NumPublishers, told.MaxParticipants = 0, 0, 0
	r.mu.Lock()
	defer r.mu.Unlock()
	isNews = !proto.Equal(r.lastRoom, told)
	r.lastRoom = told
	return told, isNews
}
