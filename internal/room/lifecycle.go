package room

import (
	"time"

	"parley/internal/event"
)

// The life of a room, all of it: these are the only places that move a room's
// state. They are pure: time and occupancy are given, and what happened is
// collected as events for the transaction that stores the room.

const (
	// quickRoomMinWait is the least time a quick room waits for its first guest.
	quickRoomMinWait = 300 * time.Second
	// rejoinTimeout is how long a seat waits for somebody who has been in before:
	// they ask for it anew, or the server was lost; see connectTimeout for others.
	rejoinTimeout = 60 * time.Second
	// reconnectTimeout is how long a seat waits for a connection that was lost.
	reconnectTimeout = 30 * time.Second
	// scheduledRoomWait is how long after its start a scheduled room waits for
	// its first guest.
	scheduledRoomWait = 24 * time.Hour
	// hostEarlyEntry is how long before its start a host may open a scheduled
	// room by entering.
	hostEarlyEntry = 10 * time.Minute
)

// initialize gives a new room its first state: a scheduled one waits for its start,
// a quick one is open.
func (r *Room) initialize(at time.Time) {
	r.CreatedAt = at
	if r.StartAt.IsZero() {
		r.open(at)
	} else {
		r.State = Scheduled
		r.emit(event.RoomScheduled, at, nil)
	}
	r.updateDueAt(Occupancy{})
}

// open lets people in.
func (r *Room) open(at time.Time) {
	r.State, r.OpenedAt = Open, at
	r.emit(event.RoomOpened, at, nil)
}

// openWhenDue opens a scheduled room whose start has come.
func (r *Room) openWhenDue(now time.Time) { r.openForRole(Guest, now) }

// opensAtForRole returns when somebody in that role may enter a scheduled room.
func (r *Room) opensAtForRole(role Role) time.Time {
	if role == Host {
		return r.StartAt.Add(-hostEarlyEntry)
	}
	return r.StartAt
}

// openForRole opens a scheduled room for somebody at the door who may enter early.
func (r *Room) openForRole(role Role, now time.Time) {
	if r.State == Scheduled && !now.Before(r.opensAtForRole(role)) {
		r.open(now)
	}
}

// openEarly opens a scheduled room before its start, on its owner's word.
func (r *Room) openEarly(now time.Time) {
	if r.State == Scheduled {
		r.open(now)
	}
}

// reschedule gives a scheduled room another start, or says again what there is
// to say of it.
func (r *Room) reschedule(startAt, now time.Time) {
	r.StartAt = startAt
	r.emit(event.RoomScheduled, now, nil)
}

// markStarted notes a participant in the room; the first one makes it active.
func (r *Room) markStarted(at time.Time) {
	r.EmptySince = time.Time{}
	if r.State == Open {
		r.State, r.StartedAt, r.metadataChanged = Active, at, true // it has an end now
		r.emit(event.RoomStarted, at, nil)
	}
}

// markEmpty starts the clock of the empty timeout.
func (r *Room) markEmpty(at time.Time) {
	if r.State == Active && r.EmptySince.IsZero() {
		r.EmptySince = at
	}
}

// requestEnd asks for the room's end: one that is not open yet is cancelled. The
// verdict carries it out.
func (r *Room) requestEnd(reason EndReason) { r.requestedEnd = reason }

// finalState says whether the room's time is over at now, and how. A room with a
// taken seat is not empty: somebody is on the way in. Seats that nobody has ever
// connected to put the end off for as long as one of them is held, and no longer.
func (r *Room) finalState(now time.Time, o Occupancy) (State, EndReason, bool) {
	reached := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	switch {
	case r.Over():
		return "", "", false
	case r.requestedEnd != "" && r.State == Scheduled:
		return Cancelled, "", true
	case r.requestedEnd != "":
		return Ended, r.requestedEnd, true
	case reached(r.durationDeadline()):
		return Ended, EndedDuration, true
	case o.allUnused() && reached(addUnlessZero(r.waitDeadline(), o.grace())):
		return Expired, "", true
	case o.allUnused() && reached(addUnlessZero(r.emptyDeadline(), o.grace())):
		return Ended, EndedEmpty, true
	}
	return "", "", false
}

// allUnused reports whether nobody is in a room, or was in and is waited for.
func (o Occupancy) allUnused() bool { return o.Taken == o.Unused }

// grace is how long the end of a room is put off for those on the way in.
func (o Occupancy) grace() time.Duration {
	if o.Unused > 0 {
		return connectTimeout
	}
	return 0
}

// addUnlessZero returns a moment d after t; zero for zero.
func addUnlessZero(t time.Time, d time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(d)
}

// finish ends the room.
func (r *Room) finish(state State, reason EndReason, at time.Time) {
	r.State, r.EndReason, r.EndedAt = state, reason, at
	kind := map[State]event.Type{Ended: event.RoomEnded, Cancelled: event.RoomCanceled, Expired: event.RoomExpired}[state]
	r.emit(kind, at, nil)
	r.updateDueAt(Occupancy{})
}

// updateDueAt sets when the room must be looked at again.
func (r *Room) updateDueAt(o Occupancy) {
	r.DueAt = time.Time{}
	if r.Over() {
		return
	}
	moments := [...]time.Time{o.NextRelease, r.durationDeadline(), r.startsAt(),
		addUnlessZero(r.waitDeadline(), o.grace()), addUnlessZero(r.emptyDeadline(), o.grace())}
	considered := moments[:]
	if !o.allUnused() {
		considered = moments[:3] // somebody is in, or expected back
	}
	for _, t := range considered {
		if !t.IsZero() && (r.DueAt.IsZero() || t.Before(r.DueAt)) {
			r.DueAt = t
		}
	}
}

func (r *Room) durationDeadline() time.Time {
	if r.State != Active {
		return time.Time{}
	}
	return r.StartedAt.Add(r.Duration)
}

func (r *Room) startsAt() time.Time {
	if r.State != Scheduled {
		return time.Time{}
	}
	return r.StartAt
}

func (r *Room) waitDeadline() time.Time {
	if r.State != Open {
		return time.Time{}
	}
	if !r.StartAt.IsZero() {
		return r.StartAt.Add(scheduledRoomWait)
	}
	return r.CreatedAt.Add(max(r.EmptyTimeout, quickRoomMinWait))
}

func (r *Room) emptyDeadline() time.Time {
	if r.State != Active || r.EmptySince.IsZero() {
		return time.Time{}
	}
	since := r.EmptySince
	if since.Before(r.StartAt) {
		since = r.StartAt // a host who looked in early has not ended what is to come
	}
	return since.Add(r.EmptyTimeout)
}

// emit notes an event; take hands it on.
func (r *Room) emit(kind event.Type, at time.Time, p *event.Participant) {
	data := r.eventData()
	data.Participant = p
	r.appendEvent(kind, at, data)
}

// emitAttendanceMark notes that somebody attended, as another system tells it. It moves
// nothing.
func (r *Room) emitAttendanceMark(name string, at time.Time) {
	data := r.eventData()
	data.Mark = &event.AttendanceMark{Name: name, Source: event.SourceExternal}
	r.appendEvent(event.AttendanceMarked, at, data)
}

func (r *Room) eventData() event.Data {
	data := event.Data{RoomID: r.ID, ClientRoomID: r.ClientRoomID, RoomType: string(r.Type), EndReason: string(r.EndReason)}
	if r.Session > 0 {
		data.SessionID = SessionID(r.ID, r.Session)
	}
	if !r.StartAt.IsZero() {
		at := r.StartAt.UTC()
		data.StartAt = &at
	}
	return data
}

func (r *Room) appendEvent(kind event.Type, at time.Time, data event.Data) {
	r.EventSequence++
	r.events = append(r.events, event.Event{Type: kind, ProjectID: r.ProjectID, RoomID: r.ID, Sequence: r.EventSequence, At: at, Data: data})
}

// drainEvents returns the events that were noted, and forgets them.
func (r *Room) drainEvents(newID func() string) []event.Event {
	out := r.events
	r.events = nil
	for i := range out {
		out[i].ID = newID()
	}
	return out
}
