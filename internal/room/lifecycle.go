package room

import (
	"time"

	"parley/internal/event"
)

// The life of a room, all of it: these are the only places that move a room's
// state. They are pure: time and occupancy are given, and what happened is
// collected as events for the transaction that stores the room.

const (
	// quickWait is the least time a quick room waits for its first guest.
	quickWait = 300 * time.Second
	// reserveFor is how long a seat waits for the connection its token was
	// issued for.
	reserveFor = 60 * time.Second
	// returnWithin is how long a seat waits for a connection that was lost.
	returnWithin = 30 * time.Second
)

// opened marks a room as born open.
func (r *Room) opened(at time.Time) {
	r.State, r.OpenedAt = Open, at
	r.emit(event.RoomOpened, at, nil)
	r.schedule(Occupancy{})
}

// started notes a participant in the room; the first one makes it active.
func (r *Room) started(at time.Time) {
	r.EmptySince = time.Time{}
	if r.State == Open {
		r.State, r.StartedAt = Active, at
		r.emit(event.RoomStarted, at, nil)
	}
}

// emptied starts the clock of the empty timeout.
func (r *Room) emptied(at time.Time) {
	if r.State == Active && r.EmptySince.IsZero() {
		r.EmptySince = at
	}
}

// stop asks for the room's end: one that is not open yet is cancelled. The
// verdict carries it out.
func (r *Room) stop(reason EndReason) { r.stopping = reason }

// verdict says whether the room's time is over at now, and how. A room with a
// taken seat is not empty: somebody is on the way in.
func (r *Room) verdict(now time.Time, o Occupancy) (State, EndReason, bool) {
	reached := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	switch {
	case r.Over():
		return "", "", false
	case r.stopping != "" && r.State == Scheduled:
		return Cancelled, "", true
	case r.stopping != "":
		return Ended, r.stopping, true
	case reached(r.endOfDuration()):
		return Ended, EndedDuration, true
	case o.Taken == 0 && reached(r.endOfWait()):
		return Expired, "", true
	case o.Taken == 0 && reached(r.endOfEmptiness()):
		return Ended, EndedEmpty, true
	}
	return "", "", false
}

// over ends the room.
func (r *Room) over(state State, reason EndReason, at time.Time) {
	r.State, r.EndReason, r.EndedAt = state, reason, at
	kind := map[State]event.Type{Ended: event.RoomEnded, Cancelled: event.RoomCancelled, Expired: event.RoomExpired}[state]
	r.emit(kind, at, nil)
	r.schedule(Occupancy{})
}

// schedule sets when the room must be looked at again.
func (r *Room) schedule(o Occupancy) {
	r.DueAt = time.Time{}
	if r.Over() {
		return
	}
	moments := []time.Time{o.NextRelease, r.endOfDuration()}
	if o.Taken == 0 {
		moments = append(moments, r.endOfWait(), r.endOfEmptiness())
	}
	for _, t := range moments {
		if !t.IsZero() && (r.DueAt.IsZero() || t.Before(r.DueAt)) {
			r.DueAt = t
		}
	}
}

func (r *Room) endOfDuration() time.Time {
	if r.State != Active {
		return time.Time{}
	}
	return r.StartedAt.Add(r.Duration)
}

func (r *Room) endOfWait() time.Time {
	if r.State != Open {
		return time.Time{}
	}
	return r.CreatedAt.Add(max(r.EmptyTimeout, quickWait))
}

func (r *Room) endOfEmptiness() time.Time {
	if r.State != Active || r.EmptySince.IsZero() {
		return time.Time{}
	}
	return r.EmptySince.Add(r.EmptyTimeout)
}

// emit notes an event; take hands it on.
func (r *Room) emit(kind event.Type, at time.Time, p *event.Participant) {
	r.EventSequence++
	data := event.Data{RoomID: r.ID, ClientRoomID: r.ClientRoomID, RoomType: string(r.Type), EndReason: string(r.EndReason), Participant: p}
	if r.Session > 0 {
		data.SessionID = SessionID(r.ID, r.Session)
	}
	r.events = append(r.events, event.Event{Type: kind, ProjectID: r.ProjectID, RoomID: r.ID, Sequence: r.EventSequence, At: at, Data: data})
}

// take returns the events that were noted, and forgets them.
func (r *Room) take(newID func() string) []event.Event {
	out := r.events
	r.events = nil
	for i := range out {
		out[i].ID = newID()
	}
	return out
}
