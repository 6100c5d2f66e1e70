package media

import (
	"context"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/telemetry"
	"github.com/livekit/protocol/livekit"

	"parley/internal/room"
)

// telemetryListener hears LiveKit's reports about participants and tracks as they
// happen, on LiveKit's goroutines: nothing in here may wait. Its metrics go
// on as they were.
type telemetryListener struct {
	telemetry.TelemetryService
	events     *eventQueue
	localRooms *localRooms
	trackTypes *trackTypes

	admissions *admissions
}

// RoomStarted is called when a session begins to live in this process.
func (r *telemetryListener) RoomStarted(ctx context.Context, rm *livekit.Room) {
	r.TelemetryService.RoomStarted(ctx, rm)
	r.localRooms.add(rm.Name)
}

// RoomEnded is called when it lives here no more.
func (r *telemetryListener) RoomEnded(ctx context.Context, rm *livekit.Room) {
	r.TelemetryService.RoomEnded(ctx, rm)
	r.localRooms.remove(rm.Name)
}

// ParticipantJoined is called when the signalling of a participant is set up,
// before LiveKit handles any of its requests; and once more (not to be told) by
// the counter of the signalling's bytes.
func (r *telemetryListener) ParticipantJoined(ctx context.Context, rm *livekit.Room, p *livekit.ParticipantInfo,
	client *livekit.ClientInfo, meta *livekit.AnalyticsClientMeta, tell bool, guard *telemetry.ReferenceGuard) {
	r.TelemetryService.ParticipantJoined(ctx, rm, p, client, meta, tell, guard)
	if tell {
		r.admissions.hold(livekit.RoomName(rm.Name), livekit.ParticipantID(p.Sid))
	}
}

// ParticipantActive is called when media flows; a participant whose browser
// never gets that far was never there.
func (r *telemetryListener) ParticipantActive(ctx context.Context, rm *livekit.Room, p *livekit.ParticipantInfo, meta *livekit.AnalyticsClientMeta, migration bool, guard *telemetry.ReferenceGuard) {
	r.TelemetryService.ParticipantActive(ctx, rm, p, meta, migration, guard)
	if !migration && rm.Name != preflightSession {
		r.events.add(event{session: rm.Name, identity: p.Identity, sid: p.Sid, at: joinedAt(p)})
	}
}

// ParticipantLeft is called once for each connection, and for a second time
// (not to be told) by the counter of the signalling's bytes.
func (r *telemetryListener) ParticipantLeft(ctx context.Context, rm *livekit.Room, p *livekit.ParticipantInfo, tell bool, guard *telemetry.ReferenceGuard) {
	r.TelemetryService.ParticipantLeft(ctx, rm, p, tell, guard)
	if tell {
		r.trackTypes.remove(p.Sid)
		r.admissions.remove(livekit.ParticipantID(p.Sid))
		if rm.Name != preflightSession {
			r.events.add(event{session: rm.Name, identity: p.Identity, sid: p.Sid, at: time.Now(), reason: leaveReason(p.DisconnectReason)})
		}
	}
}

// TrackPublished is called when a track's first packets can be forwarded.
func (r *telemetryListener) TrackPublished(ctx context.Context, roomID livekit.RoomID, name livekit.RoomName, sid livekit.ParticipantID, identity livekit.ParticipantIdentity, track *livekit.TrackInfo, tell bool) {
	r.TelemetryService.TrackPublished(ctx, roomID, name, sid, identity, track, tell)
	r.trackTypes.trackPublished(name, sid, livekit.TrackID(track.Sid))
}

func joinedAt(p *livekit.ParticipantInfo) time.Time { return time.UnixMilli(p.JoinedAtMs) }

func leaveReason(r livekit.DisconnectReason) room.LeaveReason {
	switch r {
	case livekit.DisconnectReason_CLIENT_INITIATED:
		return room.LeftByChoice
	case livekit.DisconnectReason_DUPLICATE_IDENTITY:
		return room.LeftReplaced
	case livekit.DisconnectReason_PARTICIPANT_REMOVED:
		return room.LeftRemoved
	case livekit.DisconnectReason_ROOM_DELETED, livekit.DisconnectReason_ROOM_CLOSED:
		return room.LeftRoomOver
	case livekit.DisconnectReason_SERVER_SHUTDOWN:
		return room.LeftServer
	}
	return room.LeftLost
}

// event is one participant coming or, with a reason, going.
type event struct {
	session, identity, sid string
	at                     time.Time
	reason                 room.LeaveReason
}

// abortedTTL is how long a connection that ended before it began is
// remembered; see deliver.
const abortedTTL = time.Minute

// eventQueue hands what happened to the observer, in order, from one goroutine.
// The queue has no bound: the alternatives are to hold up media or to lose
// who was there.
type eventQueue struct {
	observer room.MediaObserver

	mu       sync.Mutex
	pending  []event
	stopping bool // take no more, deliver what is there
	dropping bool // deliver nothing more
	wake     chan struct{}
	done     chan struct{}

	// Of the delivering goroutine alone.
	present map[string]bool
	aborted map[string]time.Time
}

func newEventQueue(observer room.MediaObserver) *eventQueue {
	e := &eventQueue{
		observer: observer,
		wake:     make(chan struct{}, 1),
		done:     make(chan struct{}),
		present:  make(map[string]bool),
		aborted:  make(map[string]time.Time),
	}
	go e.run()
	return e
}

func (e *eventQueue) add(ev event) {
	e.mu.Lock()
	if !e.stopping {
		e.pending = append(e.pending, ev)
	}
	e.mu.Unlock()
	e.notify()
}

func (e *eventQueue) notify() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *eventQueue) run() {
	defer close(e.done)
	for {
		e.mu.Lock()
		if e.dropping || e.stopping && len(e.pending) == 0 {
			e.mu.Unlock()
			return
		}
		if len(e.pending) == 0 {
			e.mu.Unlock()
			<-e.wake
			continue
		}
		next := e.pending[0]
		e.pending = e.pending[1:]
		e.mu.Unlock()
		e.deliver(next)
	}
}

// deliver tells the observer, once for each connection and joined before
// left. LiveKit says "active" from a goroutine of its own and can be overtaken
// by the end of the same connection; such a one was never there.
func (e *eventQueue) deliver(ev event) {
	switch {
	case ev.reason == "":
		if _, over := e.aborted[ev.sid]; over || e.present[ev.sid] {
			delete(e.aborted, ev.sid)
			return
		}
		e.present[ev.sid] = true
		e.observer.ParticipantJoined(ev.session, ev.identity, ev.sid, ev.at)
	case e.present[ev.sid]:
		delete(e.present, ev.sid)
		e.observer.ParticipantLeft(ev.session, ev.identity, ev.sid, ev.at, ev.reason)
	default:
		for sid, at := range e.aborted {
			if ev.at.Sub(at) > abortedTTL {
				delete(e.aborted, sid)
			}
		}
		e.aborted[ev.sid] = ev.at
	}
}

// stop delivers what has happened until now and returns when no call to the
// observer is to come. When ctx ends first, the rest is dropped.
func (e *eventQueue) stop(ctx context.Context) {
	e.mu.Lock()
	e.stopping = true
	e.mu.Unlock()
	e.notify()
	select {
	case <-e.done:
	case <-ctx.Done():
		e.mu.Lock()
		e.dropping = true
		e.mu.Unlock()
		e.notify()
	}
}
