package media

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/livekit/livekit-server/pkg/rtc"
	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/protocol/livekit"
	"go.uber.org/atomic" // LiveKit keeps a participant's listener in its Pointer
	"golang.org/x/time/rate"
	"google.golang.org/protobuf/proto"

	"parley/internal/refusal"
)

// connectTimeout is how long a participant may take until media is connected.
// LiveKit itself waits a minute, and only for some of the ways to fail.
const connectTimeout = 15 * time.Second

// The limits of what one participant sends in messages: a burst, and what comes
// back each second. A chat message has some hundred bytes.
const (
	messageBurst, messagesPerSecond          = 200, 50
	messageBytesBurst, messageBytesPerSecond = 1 << 20, 128 << 10
	// maxDroppedMessages is how many messages are dropped before the participant is
	// disconnected.
	maxDroppedMessages = 200
)

// admissions hold back what participants send until Admit is called for their
// connection, and disconnect those that are not fully connected in time.
//
// LiveKit forwards tracks and messages of a participant in state JOINED, which
// lasts for as long as the participant does not answer the server's offer.
// Such a participant would be heard by everybody without being in the
// attendance records.
type admissions struct {
	log            *slog.Logger
	refusals       *refusal.Recorder
	rooms          *service.RoomManager // set once, before the first session
	connectTimeout time.Duration

	mu   sync.RWMutex
	held map[livekit.ParticipantID]*heldListener
}

// hold is called with a participant that has joined a session, before LiveKit
// handles any of its requests.
func (a *admissions) hold(name livekit.RoomName, sid livekit.ParticipantID) {
	rm := a.rooms.GetRoom(context.Background(), name)
	if rm == nil {
		return
	}
	p := rm.GetParticipantByID(sid)
	if p == nil {
		return
	}
	l := &heldListener{participant: p, messages: rate.NewLimiter(messagesPerSecond, messageBurst),
		bytes: rate.NewLimiter(messageBytesPerSecond, messageBytesBurst)}
	l.refuse = func(reason string, disconnect bool) {
		a.refusals.Record(refusal.DataRate, reason, "session", string(name), "identity", string(p.Identity()))
		if disconnect {
			rm.RemoveParticipant(p.Identity(), sid, types.ParticipantCloseReasonUserRejected)
		}
	}
	l.timeout = time.AfterFunc(a.connectTimeout, func() { a.expire(rm, l) })
	// The map comes first: nobody may be told of the participant from here on.
	a.mu.Lock()
	if a.held == nil {
		a.held = make(map[livekit.ParticipantID]*heldListener)
	}
	a.held[sid] = l
	a.mu.Unlock()
	if err := l.install(); err != nil {
		a.log.Error("hold back a participant failed, disconnecting",
			"session", string(name), "identity", string(p.Identity()), "error", err)
		rm.RemoveParticipant(p.Identity(), sid, types.ParticipantCloseReasonJoinFailed)
	}
}

// expire disconnects a participant that is not fully connected by now. One
// that is stays held back until its attendance is recorded.
func (a *admissions) expire(rm *rtc.Room, l *heldListener) {
	p := l.participant
	switch {
	case p.IsClosed():
		a.remove(p.ID()) // it left before its end could be observed
	case p.State() != livekit.ParticipantInfo_ACTIVE:
		a.refusals.Record(refusal.NotConnected, "media did not connect in time",
			"session", string(rm.Name()), "identity", string(p.Identity()))
		rm.RemoveParticipant(p.Identity(), p.ID(), types.ParticipantCloseReasonJoinTimeout)
	}
}

// admit forwards what the connection has published and will send from now on.
func (a *admissions) admit(sid livekit.ParticipantID) {
	a.mu.Lock()
	l := a.held[sid]
	delete(a.held, sid)
	a.mu.Unlock()
	if l != nil {
		l.admit()
	}
}

// remove is called with a participant that has left.
func (a *admissions) remove(sid livekit.ParticipantID) {
	a.mu.Lock()
	l := a.held[sid]
	delete(a.held, sid)
	a.mu.Unlock()
	if l != nil {
		l.timeout.Stop()
	}
}

// isHeld reports whether the others must not hear of the connection yet.
func (a *admissions) isHeld(sid string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.held[livekit.ParticipantID(sid)] != nil
}

// visibleParticipants returns those of infos that the participant with the given identity
// may be told of: the participant itself, and whoever is not held back. That a
// connection has ended is told in any case, and nothing else of it, because it
// may have replaced one that the others know.
func (a *admissions) visibleParticipants(infos []*livekit.ParticipantInfo, identity livekit.ParticipantIdentity) []*livekit.ParticipantInfo {
	held := func(p *livekit.ParticipantInfo) bool { return p.Identity != string(identity) && a.isHeld(p.Sid) }
	if !slices.ContainsFunc(infos, held) {
		return infos
	}
	var visible []*livekit.ParticipantInfo
	for _, p := range infos {
		switch {
		case !held(p):
			visible = append(visible, p)
		case p.State == livekit.ParticipantInfo_DISCONNECTED:
			visible = append(visible, &livekit.ParticipantInfo{Sid: p.Sid, Identity: p.Identity, State: p.State,
				Version: p.Version, DisconnectReason: p.DisconnectReason})
		}
	}
	return visible
}

// visibleSpeakers returns those of speakers who are not held back.
func (a *admissions) visibleSpeakers(speakers []*livekit.SpeakerInfo) []*livekit.SpeakerInfo {
	held := func(s *livekit.SpeakerInfo) bool { return a.isHeld(s.Sid) }
	if !slices.ContainsFunc(speakers, held) {
		return speakers
	}
	return slices.DeleteFunc(slices.Clone(speakers), held) // LiveKit sends the same list to others
}

// heldListener stands between a participant and its room and, until admit is
// called, keeps the participant's tracks from the room and drops its messages.
type heldListener struct {
	types.LocalParticipantListener // the room's
	participant                    types.LocalParticipant
	timeout                        *time.Timer

	admitted atomic.Bool
	mu       sync.Mutex
	tracks   []types.MediaTrack // published while held back

	messages, bytes *rate.Limiter
	dropped         atomic.Int32
	refuse          func(reason string, disconnect bool)
}

// install puts the listener in place. LiveKit sets the listener of a
// participant in the constructor and has no other way to set it.
func (l *heldListener) install() error {
	impl, ok := l.participant.(*rtc.ParticipantImpl)
	if !ok {
		return errors.New("media: this participant is not LiveKit's own")
	}
	at, err := listenerOf(impl)
	if err != nil {
		return err
	}
	before := at.Load()
	if before == nil {
		return errors.New("media: this participant has left already")
	}
	l.LocalParticipantListener = *before
	var after types.LocalParticipantListener = l
	if !at.CompareAndSwap(before, &after) {
		return errors.New("media: this participant has left already")
	}
	return nil
}

// listenerOf returns where LiveKit keeps the listener of a participant. It
// fails when the field is not what it is in LiveKit 1.13.5.
func listenerOf(p *rtc.ParticipantImpl) (*atomic.Pointer[types.LocalParticipantListener], error) {
	field := reflect.ValueOf(p).Elem().FieldByName("participantListener")
	if !field.IsValid() || field.Type() != reflect.TypeFor[atomic.Pointer[types.LocalParticipantListener]]() {
		return nil, errors.New("media: LiveKit keeps the listener of a participant elsewhere than expected")
	}
	return (*atomic.Pointer[types.LocalParticipantListener])(unsafe.Pointer(field.UnsafeAddr())), nil
}

func (l *heldListener) admit() {
	l.timeout.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admitted.Store(true)
	l.LocalParticipantListener.OnParticipantUpdate(l.participant)
	for _, t := range l.tracks {
		l.LocalParticipantListener.OnTrackPublished(l.participant, t)
	}
	l.tracks = nil
}

// OnTrackPublished implements types.ParticipantListener.
func (l *heldListener) OnTrackPublished(p types.Participant, t types.MediaTrack) {
	l.mu.Lock()
	held := !l.admitted.Load()
	if held {
		l.tracks = append(l.tracks, t)
	}
	l.mu.Unlock()
	if !held {
		l.LocalParticipantListener.OnTrackPublished(p, t)
	}
}

// OnTrackUnpublished implements types.ParticipantListener.
func (l *heldListener) OnTrackUnpublished(p types.Participant, t types.MediaTrack) {
	l.mu.Lock()
	held := !l.admitted.Load()
	l.tracks = slices.DeleteFunc(l.tracks, func(o types.MediaTrack) bool { return o.ID() == t.ID() })
	l.mu.Unlock()
	if !held {
		l.LocalParticipantListener.OnTrackUnpublished(p, t)
	}
}

// OnDataMessage implements types.LocalParticipantListener.
func (l *heldListener) OnDataMessage(p types.LocalParticipant, kind livekit.DataPacket_Kind, packet *livekit.DataPacket) {
	if l.admitted.Load() && l.accept(packet.GetUser() != nil, proto.Size(packet)) {
		l.LocalParticipantListener.OnDataMessage(p, kind, packet)
	}
}

// accept holds the messages of a participant to their limits. Pages send user
// packets alone; the other kinds are for things that are not used here.
func (l *heldListener) accept(used bool, size int) bool {
	now := time.Now()
	var reason string
	switch {
	case !used:
		reason = "a kind of message that is not used here"
	case !l.messages.AllowN(now, 1):
		reason = "too many messages of one participant"
	case !l.bytes.AllowN(now, size):
		reason = "too many bytes in messages of one participant"
	default:
		return true
	}
	// Disconnected once: the limit is reached once.
	l.refuse(reason, l.dropped.Add(1) == maxDroppedMessages)
	return false
}

// OnDataMessageUnlabeled implements types.LocalParticipantListener.
func (l *heldListener) OnDataMessageUnlabeled(p types.LocalParticipant, data []byte) {
	if l.admitted.Load() {
		l.accept(false, len(data))
	}
}

// OnMetrics implements types.ParticipantListener.
func (l *heldListener) OnMetrics(p types.Participant, packet *livekit.DataPacket) {
	if l.admitted.Load() {
		l.LocalParticipantListener.OnMetrics(p, packet)
	}
}
