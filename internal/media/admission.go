package media

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/rtc"
	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/protocol/livekit"

	"parley/internal/refusal"
)

// connectTimeout is the time in which a participant has to connect media. LiveKit's own
// timeout is one minute and does not cover every failure.
const connectTimeout = 15 * time.Second

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

	mu          sync.RWMutex
	connections map[livekit.ParticipantID]*connection // from hold until remove
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
	c := newConnection(p, &offender{log: a.log, refusals: a.refusals,
		attrs: participantAttrs(name, p.Identity()),
		remove: func() {
			rm.RemoveParticipant(p.Identity(), sid, types.ParticipantCloseReasonUserRejected)
		}})
	// The map is changed first, because from here on the others must not learn of the
	// participant.
	a.mu.Lock()
	c.timeout = time.AfterFunc(a.connectTimeout, func() { a.expire(rm, c) })
	if a.connections == nil {
		a.connections = make(map[livekit.ParticipantID]*connection)
	}
	a.connections[sid] = c
	a.mu.Unlock()
	if err := c.install(); err != nil {
		a.log.Error("hold back a participant failed, disconnecting",
			append(c.offender.attrs, "error", err)...)
		rm.RemoveParticipant(p.Identity(), sid, types.ParticipantCloseReasonJoinFailed)
	}
}

// participantAttrs are the attributes of a participant in the log.
func participantAttrs(session livekit.RoomName, identity livekit.ParticipantIdentity) []any {
	return []any{"session", string(session), "identity", string(identity)}
}

// expire disconnects a participant that is not fully connected. A connected participant
// stays held back until its attendance is recorded.
func (a *admissions) expire(rm *rtc.Room, c *connection) {
	p := c.participant
	switch {
	case p.IsClosed():
		a.remove(p.ID()) // it left before its end could be observed
	case p.State() != livekit.ParticipantInfo_ACTIVE:
		a.refusals.Record(refusal.NotConnected, "media did not connect in time", c.offender.attrs...)
		rm.RemoveParticipant(p.Identity(), p.ID(), types.ParticipantCloseReasonJoinTimeout)
	}
}

// admit forwards the tracks that the connection has published, and from now on
// everything that it sends.
func (a *admissions) admit(sid livekit.ParticipantID) {
	if c := a.find(sid); c != nil {
		c.admit()
	}
}

// remove forgets a participant that has left.
func (a *admissions) remove(sid livekit.ParticipantID) {
	a.mu.Lock()
	c := a.connections[sid]
	delete(a.connections, sid)
	a.mu.Unlock()
	if c != nil {
		c.timeout.Stop()
	}
}

// find returns the connection of a participant, or nil.
func (a *admissions) find(sid livekit.ParticipantID) *connection {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.connections[sid]
}

// packetFilter returns the filter of a participant's packets, or nil if there is no such
// participant.
func (a *admissions) packetFilter(name livekit.RoomName, identity livekit.ParticipantIdentity) *packetFilter {
	rm := a.rooms.GetRoom(context.Background(), name)
	if rm == nil {
		return nil
	}
	p := rm.GetParticipant(identity)
	if p == nil {
		return nil
	}
	c := a.find(p.ID())
	if c == nil {
		return nil
	}
	return c.packets
}

// countChannel counts a data channel that a participant has opened.
func (a *admissions) countChannel(sid livekit.ParticipantID) {
	if c := a.find(sid); c != nil {
		c.countChannel()
	}
}

// reportCheckInterval is the time between two checks of the sources that reports name. With the
// burst of reportByteLimit a participant names thirty thousand in it.
const reportCheckInterval = time.Second

// checkConnections checks the sources in the reports of all participants until done is closed.
func (a *admissions) checkConnections(done <-chan struct{}) {
	tick := time.NewTicker(reportCheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-done:
			return
		}
		a.mu.RLock()
		all := slices.Collect(maps.Values(a.connections))
		a.mu.RUnlock()
		for _, c := range all {
			c.checkReports()
		}
	}
}

// isHeld reports whether the connection is held back, so that the others must not learn
// of it yet.
func (a *admissions) isHeld(sid string) bool {
	c := a.find(livekit.ParticipantID(sid))
	return c != nil && !c.admitted.Load()
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
			visible = append(visible, &livekit.ParticipantInfo{
				Sid:              p.Sid,
				Identity:         p.Identity,
				State:            p.State,
				Version:          p.Version,
				DisconnectReason: p.DisconnectReason,
			})
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
