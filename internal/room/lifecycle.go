package room

import (
	"time"

	"parley/internal/event"
)

// This file contains the whole life cycle of a room; no other code changes a room's
// state. Its functions are pure: they take time and occupancy as arguments and
// collect events for the transaction that stores the room.

const (
	// quickRoomMinWait is the minimum time that a quick room waits for its first
	// participant.
	quickRoomMinWait = 300 * time.Second
	// rejoinTimeout is how long a seat is held for a participant who was connected
	// before and asked for the seat again, or whose server was lost. See
	// connectTimeout for first connections.
	rejoinTimeout = 60 * time.Second
	// reconnectTimeout is how long a seat is held after its connection was lost.
	reconnectTimeout = 30 * time.Second
	// scheduledRoomWait is how long after its start a scheduled room waits for its
	// first participant.
	scheduledRoomWait = 24 * time.Hour
	// hostEarlyEntry is how long before its start a host can open a scheduled room
	// by joining it.
	hostEarlyEntry = 10 * time.Minute
)

// initialize sets the first state of a new room: scheduled if it has a start time,
// otherwise open.
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

func (r *Room) open(at time.Time) {
	r.State, r.OpenedAt = Open, at
	r.emit(event.RoomOpened, at, nil)
}

// openWhenDue opens a scheduled room at its start time.
func (r *Room) openWhenDue(now time.Time) { r.openForRole(Guest, now) }

// opensAtForRole returns when a participant with that role may enter a scheduled
// room.
func (r *Room) opensAtForRole(role Role) time.Time {
	if role == Host {
		return r.StartAt.Add(-hostEarlyEntry)
	}
	return r.StartAt
}

// openForRole opens a scheduled room if a visitor with that role may enter it now.
func (r *Room) openForRole(role Role, now time.Time) {
	if r.State == Scheduled && !now.Before(r.opensAtForRole(role)) {
		r.open(now)
	}
}

// openEarly opens a scheduled room before its start, when its project asks for it.
func (r *Room) openEarly(now time.Time) {
	if r.State == Scheduled {
		r.open(now)
	}
}

// reschedule emits RoomScheduled again after a change of the settings, also if the
// start is unchanged.
func (r *Room) reschedule(now time.Time) { r.emit(event.RoomScheduled, now, nil) }

// markStarted records that a participant joined; the first one makes the room
// active.
func (r *Room) markStarted(at time.Time) {
	r.EmptySince = time.Time{}
	if r.State == Open {
		r.State, r.StartedAt, r.metadataChanged = Active, at, true // the metadata contain its end
		r.emit(event.RoomStarted, at, nil)
	}
}

// markEmpty starts the empty timeout.
func (r *Room) markEmpty(at time.Time) {
	if r.State == Active && r.EmptySince.IsZero() {
		r.EmptySince = at
	}
}

// requestEnd requests the end of the room. finalState then ends it, or cancels it
// if it is not open yet.
func (r *Room) requestEnd(reason EndReason) { r.requestedEnd = reason }

// finalState reports whether the room is over at now, and its final state and
// reason. A room with a taken seat is not empty, because its participant may be
// connecting. Seats that were never connected to delay the end by at most
// connectTimeout.
func (r *Room) finalState(now time.Time, o Occupancy) (state State, reason EndReason, over bool) {
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

// allUnused reports whether no taken seat was ever connected to, which is also true
// without any taken seat.
func (o Occupancy) allUnused() bool { return o.Taken == o.Unused }

// grace returns how long the end of a room is delayed for participants who are
// connecting for the first time.
func (o Occupancy) grace() time.Duration {
	if o.Unused > 0 {
		return connectTimeout
	}
	return 0
}

// addUnlessZero returns t plus d, or zero if t is zero.
func addUnlessZero(t time.Time, d time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(d)
}

func (r *Room) finish(state State, reason EndReason, at time.Time) {
	r.State, r.EndReason, r.EndedAt = state, reason, at
	kind := map[State]event.Type{Ended: event.RoomEnded, Cancelled: event.RoomCancelled, Expired: event.RoomExpired}[state]
	r.emit(kind, at, nil)
	r.updateDueAt(Occupancy{})
}

// updateDueAt sets the time of the room's next transition.
func (r *Room) updateDueAt(o Occupancy) {
	r.DueAt = time.Time{}
	if r.Over() {
		return
	}
	deadlines := []time.Time{o.NextRelease, r.durationDeadline(), r.startsAt(),
		addUnlessZero(r.waitDeadline(), o.grace()), addUnlessZero(r.emptyDeadline(), o.grace())}
	if !o.allUnused() {
		deadlines = deadlines[:3] // the room is not empty, so the last two do not apply
	}
	for _, t := range deadlines {
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

// leaveTime returns the time of the end of an attendance that is reported to end at a time. It is not after the end of
// the duration, which may be noticed late, for example if the machine was suspended; usage.Rebuild relies on that. It
// is not before the join, although clocks may differ.
func (r *Room) leaveTime(a Attendance, at time.Time) time.Time {
	if deadline := r.durationDeadline(); !deadline.IsZero() && deadline.Before(at) {
		at = deadline
	}
	return later(at, a.JoinedAt)
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
		since = r.StartAt // a host who joined and left early must not end the meeting before its start
	}
	return since.Add(r.EmptyTimeout)
}

// emit adds an event to those that drainEvents returns.
func (r *Room) emit(kind event.Type, at time.Time, p *event.Participant) {
	data := r.eventData()
	data.Participant = p
	r.appendEvent(kind, at, data)
}

// emitAttendanceMark emits ParticipantReported for a person whom another system
// reported. It does not change the room.
func (r *Room) emitAttendanceMark(name string, at time.Time) {
	data := r.eventData()
	data.Mark = &event.AttendanceMark{Name: name, Source: event.SourceExternal}
	r.appendEvent(event.ParticipantReported, at, data)
}

func (r *Room) eventData() event.Data {
	data := event.Data{RoomID: r.ID, ClientRoomID: r.ClientRoomID, RoomType: string(r.Type),
		EndReason: string(r.EndReason)}
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
	r.events = append(r.events, event.Event{
		Type:      kind,
		ProjectID: r.ProjectID,
		RoomID:    r.ID,
		Sequence:  r.EventSequence,
		At:        at,
		Data:      data,
	})
}

// drainEvents returns the emitted events with new ids, and clears them.
func (r *Room) drainEvents(newID func() string) []event.Event {
	out := r.events
	r.events = nil
	for i := range out {
		out[i].ID = newID()
	}
	return out
}
