package media

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/telemetry"
	"github.com/livekit/protocol/livekit"

	"parley/internal/metrics"
	"parley/internal/room"
)

// telemetryListener receives LiveKit's reports about participants and tracks and passes
// them on to LiveKit's own telemetry. Its methods must not block, because they run on
// LiveKit's goroutines.
type telemetryListener struct {
	telemetry.TelemetryService
	events     *eventQueue
	localRooms *localRooms
	trackTypes *trackTypes
	admissions *admissions
}

// RoomStarted is called when this process starts to host a session.
func (r *telemetryListener) RoomStarted(ctx context.Context, rm *livekit.Room) {
	r.TelemetryService.RoomStarted(ctx, rm)
	r.localRooms.add(rm.Name)
}

// RoomEnded is called when this process no longer hosts the session.
func (r *telemetryListener) RoomEnded(ctx context.Context, rm *livekit.Room) {
	r.TelemetryService.RoomEnded(ctx, rm)
	r.localRooms.remove(rm.Name)
}

// ParticipantJoined is called when the signaling of a participant is set up, before
// LiveKit handles any of its requests. LiveKit's counter of signaling bytes calls it
// once more, with shouldSendEvent false.
func (r *telemetryListener) ParticipantJoined(ctx context.Context, rm *livekit.Room, p *livekit.ParticipantInfo,
	client *livekit.ClientInfo, meta *livekit.AnalyticsClientMeta, shouldSendEvent bool,
	guard *telemetry.ReferenceGuard) {
	r.TelemetryService.ParticipantJoined(ctx, rm, p, client, meta, shouldSendEvent, guard)
	if shouldSendEvent {
		r.admissions.hold(livekit.RoomName(rm.Name), livekit.ParticipantID(p.Sid))
	}
}

// ParticipantActive is called when the media of a participant is connected. A participant
// that never becomes active is not reported to the observer at all.
func (r *telemetryListener) ParticipantActive(ctx context.Context, rm *livekit.Room, p *livekit.ParticipantInfo,
	meta *livekit.AnalyticsClientMeta, migration bool, guard *telemetry.ReferenceGuard) {
	r.TelemetryService.ParticipantActive(ctx, rm, p, meta, migration, guard)
	if !migration && rm.Name != preflightSession {
		r.events.add(event{
			session:     rm.Name,
			identity:    p.Identity,
			sid:         p.Sid,
			at:          joinedAt(p),
			connection:  meta.GetConnectionType(),
			timeToMedia: time.Duration(meta.GetClientConnectTime()) * time.Millisecond,
		})
	}
}

// ParticipantLeft is called once for each connection, and once more by LiveKit's counter
// of signaling bytes, with shouldSendEvent false.
func (r *telemetryListener) ParticipantLeft(ctx context.Context, rm *livekit.Room, p *livekit.ParticipantInfo,
	shouldSendEvent bool, guard *telemetry.ReferenceGuard) {
	r.TelemetryService.ParticipantLeft(ctx, rm, p, shouldSendEvent, guard)
	if shouldSendEvent {
		r.trackTypes.remove(p.Sid)
		r.admissions.remove(livekit.ParticipantID(p.Sid))
		if rm.Name != preflightSession {
			r.events.add(event{
				session:  rm.Name,
				identity: p.Identity,
				sid:      p.Sid,
				at:       time.Now(),
				reason:   leaveReason(p.DisconnectReason),
				failure:  joinFailure(p.DisconnectReason),
			})
		}
	}
}

// TrackPublished is called when the first packets of a track can be forwarded.
func (r *telemetryListener) TrackPublished(ctx context.Context, roomID livekit.RoomID, name livekit.RoomName,
	sid livekit.ParticipantID, identity livekit.ParticipantIdentity, track *livekit.TrackInfo, shouldSendEvent bool) {
	r.TelemetryService.TrackPublished(ctx, roomID, name, sid, identity, track, shouldSendEvent)
	r.trackTypes.trackPublished(name, sid, livekit.TrackID(track.Sid))
}

func joinedAt(p *livekit.ParticipantInfo) time.Time { return time.UnixMilli(p.JoinedAtMs) }

func leaveReason(r livekit.DisconnectReason) room.LeaveReason {
	switch r {
	case livekit.DisconnectReason_CLIENT_INITIATED:
		return room.LeftByChoice
	case livekit.DisconnectReason_DUPLICATE_IDENTITY:
		return room.LeftReplaced
	case livekit.DisconnectReason_MIGRATION: // see CloseConnection
		return room.LeftMoved
	case livekit.DisconnectReason_PARTICIPANT_REMOVED:
		return room.LeftRemoved
	case livekit.DisconnectReason_ROOM_DELETED, livekit.DisconnectReason_ROOM_CLOSED:
		return room.LeftRoomOver
	case livekit.DisconnectReason_SERVER_SHUTDOWN:
		return room.LeftServer
	}
	return room.LeftLost
}

// joinFailure returns why the join of a participant that left before it was active failed.
func joinFailure(r livekit.DisconnectReason) metrics.JoinFailure {
	switch r {
	case livekit.DisconnectReason_CLIENT_INITIATED:
		return metrics.JoinLeft
	case livekit.DisconnectReason_DUPLICATE_IDENTITY:
		return metrics.JoinReplaced
	case livekit.DisconnectReason_PARTICIPANT_REMOVED:
		return metrics.JoinRemoved
	case livekit.DisconnectReason_ROOM_DELETED, livekit.DisconnectReason_ROOM_CLOSED:
		return metrics.JoinRoomEnded
	case livekit.DisconnectReason_SERVER_SHUTDOWN:
		return metrics.JoinServerStopped
	case livekit.DisconnectReason_JOIN_FAILURE:
		return metrics.JoinNotConnected
	}
	return metrics.JoinLost
}

// event is the join of one participant or, with a reason, its leave.
type event struct {
	session, identity, sid string
	at                     time.Time

	// Of a join: the type of the connection, and the time from the start of the signaling
	// until media was connected.
	connection  string
	timeToMedia time.Duration

	// Of a leave.
	reason  room.LeaveReason
	failure metrics.JoinFailure // if the participant has not joined
}

// abortedTTL is how long the queue remembers a connection whose end was reported before
// its start; see deliver.
const abortedTTL = time.Minute

// eventQueue delivers events to the observer, in order, from one goroutine. The queue has
// no bound, because a bounded queue would either block media or lose attendance.
type eventQueue struct {
	mu       sync.Mutex
	pending  []event // the first one is being delivered
	stopping bool    // accept no more events, but deliver the pending ones
	dropping bool    // deliver no more events
	wake     chan struct{}
	done     chan struct{}

	metrics *metrics.Media

	// Only the delivering goroutine uses these maps, by the id of the connection.
	present map[string]string // type of the connection, for the metrics
	aborted map[string]time.Time
}

func newEventQueue(m *metrics.Media) *eventQueue {
	return &eventQueue{
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
		metrics: m,
		present: make(map[string]string),
		aborted: make(map[string]time.Time),
	}
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

// run delivers events to the observer until stop.
func (e *eventQueue) run(observer room.MediaObserver) {
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
		e.mu.Unlock()
		e.deliver(observer, next)
		e.mu.Lock()
		e.pending = e.pending[1:]
		e.mu.Unlock()
	}
}

// hasPending reports whether an event of a connection has not been delivered yet.
func (e *eventQueue) hasPending(sid string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.pending, func(ev event) bool { return ev.sid == sid })
}

// deliver calls the observer once for the join and once for the leave of a connection, in
// this order. LiveKit reports "active" from a separate goroutine, so that the end of the
// same connection can be reported first; deliver ignores such a connection.
func (e *eventQueue) deliver(observer room.MediaObserver, ev event) {
	connection, present := e.present[ev.sid]
	roomID, _, _ := room.ParseSessionID(ev.session) // a room and its breakout rooms are several sessions
	switch {
	case ev.reason == "":
		if _, aborted := e.aborted[ev.sid]; aborted || present {
			delete(e.aborted, ev.sid)
			return
		}
		e.present[ev.sid] = e.metrics.Joined(roomID, ev.connection, ev.timeToMedia)
		observer.ParticipantJoined(ev.session, ev.identity, ev.sid, ev.at)
	case present:
		delete(e.present, ev.sid)
		e.metrics.Left(roomID, connection)
		observer.ParticipantLeft(ev.session, ev.identity, ev.sid, ev.at, ev.reason)
	default:
		for sid, endedAt := range e.aborted {
			if ev.at.Sub(endedAt) > abortedTTL {
				delete(e.aborted, sid)
			}
		}
		e.aborted[ev.sid] = ev.at
		e.metrics.JoinFailed(ev.failure)
	}
}

// stop delivers the pending events and returns when the observer will not be called any
// more. If ctx ends first, the remaining events are dropped.
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
