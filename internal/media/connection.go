package media

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/livekit/livekit-server/pkg/rtc"
	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/protocol/livekit"
	"go.uber.org/atomic" // LiveKit keeps a participant's listener in its Pointer
	"google.golang.org/protobuf/proto"
)

// connection is one connection of a participant. As the listener between the participant and
// its room it keeps the participant's tracks from the room and drops its messages, until admit
// is called; later it keeps the messages within their limits.
type connection struct {
	types.LocalParticipantListener // the room's
	participant                    types.LocalParticipant
	offender                       *offender // the participant, for its limits
	timeout                        *time.Timer

	admitted atomic.Bool
	mu       sync.Mutex
	tracks   []types.MediaTrack // published while held back

	messages, messageBytes, channels, reports *meter
	packets                                   *packetFilter // of all its media connections
}

func newConnection(p types.LocalParticipant, o *offender) *connection {
	c := &connection{
		participant:  p,
		offender:     o,
		messages:     newMeter(&messageLimit),
		messageBytes: newMeter(&messageBytesLimit),
		channels:     newMeter(&channelLimit),
		reports:      newMeter(&reportLimit),
		packets:      newPacketFilter(o.refusals, o),
	}
	c.messageBytes.refused = c.messages.refused
	return c
}

// install replaces the listener of the participant. It uses reflection, because LiveKit
// sets the listener in the constructor of a participant and has no method to change it.
func (c *connection) install() error {
	impl, ok := c.participant.(*rtc.ParticipantImpl)
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
	c.LocalParticipantListener = *before
	var after types.LocalParticipantListener = c
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

func (c *connection) admit() {
	c.timeout.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.admitted.Store(true)
	c.LocalParticipantListener.OnParticipantUpdate(c.participant)
	for _, t := range c.tracks {
		c.LocalParticipantListener.OnTrackPublished(c.participant, t)
	}
	c.tracks = nil
}

// OnTrackPublished forwards the track, or keeps it until admit is called.
func (c *connection) OnTrackPublished(p types.Participant, t types.MediaTrack) {
	c.mu.Lock()
	held := !c.admitted.Load()
	if held {
		c.tracks = append(c.tracks, t)
	}
	c.mu.Unlock()
	if !held {
		c.LocalParticipantListener.OnTrackPublished(p, t)
	}
}

// OnTrackUnpublished forwards the end of a track whose publication was forwarded.
func (c *connection) OnTrackUnpublished(p types.Participant, t types.MediaTrack) {
	c.mu.Lock()
	held := !c.admitted.Load()
	c.tracks = slices.DeleteFunc(c.tracks, func(o types.MediaTrack) bool { return o.ID() == t.ID() })
	c.mu.Unlock()
	if !held {
		c.LocalParticipantListener.OnTrackUnpublished(p, t)
	}
}

// OnDataMessage forwards a message of an admitted participant within its limits. Pages send
// only user packets; the features behind the other kinds are not used here.
func (c *connection) OnDataMessage(
	p types.LocalParticipant, kind livekit.DataPacket_Kind, packet *livekit.DataPacket,
) {
	switch {
	case !c.admitted.Load():
	case packet.GetUser() == nil:
		c.refuse(c.messages, unusedMessage)
	case c.acceptMessage(proto.Size(packet)):
		c.LocalParticipantListener.OnDataMessage(p, kind, packet)
	}
}

const unusedMessage = "a kind of message that is not used here"

// OnDataMessageUnlabeled drops the message and counts it as refused.
func (c *connection) OnDataMessageUnlabeled(types.LocalParticipant, []byte) {
	if c.admitted.Load() {
		c.refuse(c.messages, unusedMessage)
	}
}

// OnMetrics drops the metrics of a participant, which are not used here. They count like messages,
// because each costs the time of parsing it; LiveKit's own for a participant are few.
func (c *connection) OnMetrics(_ types.Participant, packet *livekit.DataPacket) {
	c.acceptMessage(proto.Size(packet))
}

// acceptMessage reports whether a message of size bytes is within the limits.
func (c *connection) acceptMessage(size int) bool {
	now := time.Now()
	switch {
	case !c.messages.allow(now, 1):
		c.refuse(c.messages, c.messages.reason())
	case !c.messageBytes.allow(now, size):
		c.refuse(c.messageBytes, c.messageBytes.reason())
	default:
		return true
	}
	return false
}

// countChannel counts a data channel that the participant has opened.
func (c *connection) countChannel() {
	if !c.channels.allow(time.Now(), 1) {
		c.refuse(c.channels, c.channels.reason())
	}
}

// checkReports disconnects the participant if its reports name too many sources. The server
// itself causes at most four for each track that the participant receives.
func (c *connection) checkReports() {
	sources := reportSources(c.participant)
	if sources <= c.reports.burst { // usually, and the list of tracks takes longer to make
		return
	}
	if sources-4*len(c.participant.GetSubscribedTracks()) > c.reports.burst {
		c.refuse(c.reports, c.reports.reason())
	}
}

// reportSources returns how many sources of RTCP packets LiveKit keeps for a participant. It
// reads the length of a private map, because LiveKit does not count them. The lock of the map
// is public.
func reportSources(p types.LocalParticipant) int {
	factory := p.GetBufferFactory()
	factory.RLock()
	defer factory.RUnlock()
	return reflect.ValueOf(factory).Elem().FieldByName("rtcpReaders").Len()
}

// refuse counts a refusal, and disconnects the participant if there were too many.
func (c *connection) refuse(m *meter, reason string) {
	if c.offender.refuse(m, reason) {
		c.offender.disconnect(reason)
	}
}
