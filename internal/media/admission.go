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

// connectTimeout is the time in which a participant has to connect media. LiveKit's own
// timeout is one minute and does not cover every failure.
const connectTimeout = 15 * time.Second

// These limits apply to the data messages of one participant: a burst, and the refill
// per second. A chat message has a few hundred bytes.
const (
	messageBurst, messagesPerSecond          = 200, 50
	messageBytesBurst, messageBytesPerSecond = 1 << 20, 128 << 10
	// maxDroppedMessages is the number of dropped messages after which the participant
	// is disconnected.
	maxDroppedMessages = 200
)

// admissions hold back the tracks and messages of participants until Admit is called
// for their connection, and disconnect participants that are not fully connected in time.
//
// LiveKit forwards tracks and messages of a participant in state JOINED, and a
// participant stays in that state until it answers the server's offer. Without
// admissions, the others would hear such a participant although it is not in the
// attendance records.
type admissions struct {
	log            *slog.Logger
	refusals       *refusal.Recorder
	rooms          *service.RoomManager // set once, before the first session
	connectTimeout time.Duration

	mu   sync.RWMutex
	held map[livekit.ParticipantID]*heldListener
}

// hold starts to hold back a participant that has joined a session. It is called before
// LiveKit handles any request of the participant.
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
	// The map is changed first, because from here on the others must not learn of the
	// participant.
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

// expire disconnects a participant that is not fully connected. A connected participant
// stays held back until its attendance is recorded.
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

// admit forwards the tracks that the connection has published, and from now on
// everything that it sends.
func (a *admissions) admit(sid livekit.ParticipantID) {
	a.mu.Lock()
	l := a.held[sid]
	delete(a.held, sid)
	a.mu.Unlock()
	if l != nil {
		l.admit()
	}
}

// remove forgets a participant that has left.
func (a *admissions) remove(sid livekit.ParticipantID) {
	a.mu.Lock()
	l := a.held[sid]
	delete(a.held, sid)
	a.mu.Unlock()
	if l != nil {
		l.timeout.Stop()
	}
}

// isHeld reports whether the connection is held back, so that the others must not learn
// of it yet.
func (a *admissions) isHeld(sid string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.held[livekit.ParticipantID(sid)] != nil
}

// visibleParticipants returns those of infos that the participant with the given
// identity may see: the participant itself, and participants that are not held back.
// For a held-back connection that has ended it returns only the fact of the end, because
// that connection may have replaced one that the others know.
func (a *admissions) visibleParticipants(
	infos []*livekit.ParticipantInfo, identity livekit.ParticipantIdentity,
) []*livekit.ParticipantInfo {
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

// visibleSpeakers returns the speakers that are not held back.
func (a *admissions) visibleSpeakers(speakers []*livekit.SpeakerInfo) []*livekit.SpeakerInfo {
	held := func(s *livekit.SpeakerInfo) bool { return a.isHeld(s.Sid) }
	if !slices.ContainsFunc(speakers, held) {
		return speakers
	}
	return slices.DeleteFunc(slices.Clone(speakers), held) // LiveKit sends the same list to others
}

// heldListener is the listener between a participant and its room. Until admit is
// called, it keeps the participant's tracks from the room and drops its messages.
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

// install replaces the listener of the participant. It uses reflection, because LiveKit
// sets the listener in the constructor of a participant and has no method to change it.
func (l *heldListener) install() error {
	impl, ok := l.participant.(*rtc.ParticipantImpl)
	if !ok {
		return errors.New("media: the participant is not a *rtc.ParticipantImpl")
	}
	field, err := listenerField(impl)
	if err != nil {
		return err
	}
	before := field.Load()
	if before == nil {
		return errors.New("media: the participant has already left")
	}
	l.LocalParticipantListener = *before
	var after types.LocalParticipantListener = l
	if !field.CompareAndSwap(before, &after) {
		return errors.New("media: the participant has already left")
	}
	return nil
}

// listenerField returns the field in which LiveKit keeps the listener of a participant.
// It returns an error if the field differs from that of LiveKit 1.13.5.
func listenerField(p *rtc.ParticipantImpl) (*atomic.Pointer[types.LocalParticipantListener], error) {
	field := reflect.ValueOf(p).Elem().FieldByName("participantListener")
	if !field.IsValid() || field.Type() != reflect.TypeFor[atomic.Pointer[types.LocalParticipantListener]]() {
		return nil, errors.New("media: rtc.ParticipantImpl has no field participantListener of the expected type")
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

// OnTrackPublished forwards the track, or keeps it until admit is called.
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

// OnTrackUnpublished forwards the end of a track whose publication was forwarded.
func (l *heldListener) OnTrackUnpublished(p types.Participant, t types.MediaTrack) {
	l.mu.Lock()
	held := !l.admitted.Load()
	l.tracks = slices.DeleteFunc(l.tracks, func(o types.MediaTrack) bool { return o.ID() == t.ID() })
	l.mu.Unlock()
	if !held {
		l.LocalParticipantListener.OnTrackUnpublished(p, t)
	}
}

// OnDataMessage forwards a message of an admitted participant within its limits.
func (l *heldListener) OnDataMessage(
	p types.LocalParticipant, kind livekit.DataPacket_Kind, packet *livekit.DataPacket,
) {
	if l.admitted.Load() && l.accept(packet.GetUser() != nil, proto.Size(packet)) {
		l.LocalParticipantListener.OnDataMessage(p, kind, packet)
	}
}

// accept reports whether a message of size bytes is a user packet within the limits of
// the participant. Pages send only user packets; the features behind the other kinds are
// not used here.
func (l *heldListener) accept(isUserPacket bool, size int) bool {
	now := time.Now()
	var reason string
	switch {
	case !isUserPacket:
		reason = "a kind of message that is not used here"
	case !l.messages.AllowN(now, 1):
		reason = "too many messages of one participant"
	case !l.bytes.AllowN(now, size):
		reason = "too many bytes in messages of one participant"
	default:
		return true
	}
	// The comparison is exact, so that the participant is disconnected only once.
	l.refuse(reason, l.dropped.Add(1) == maxDroppedMessages)
	return false
}

// OnDataMessageUnlabeled drops the message and counts it as refused.
func (l *heldListener) OnDataMessageUnlabeled(p types.LocalParticipant, data []byte) {
	if l.admitted.Load() {
		l.accept(false, len(data))
	}
}

// OnMetrics drops the metrics of a participant, which nobody reads. They count like messages,
// because each costs the time of parsing it; LiveKit's own for a participant are few.
func (l *heldListener) OnMetrics(_ types.Participant, packet *livekit.DataPacket) {
	l.accept(true, proto.Size(packet))
}
