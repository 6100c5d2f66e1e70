package usage

import (
	"math"
	"slices"
	"time"
)

// Level is a number of connections, by the type of their room.
type Level struct{ Audio, Video int64 }

func (l Level) plus(o Level) Level  { return Level{l.Audio + o.Audio, l.Video + o.Video} }
func (l Level) times(n int64) Level { return Level{l.Audio * n, l.Video * n} }
func (l Level) total() int64        { return l.Audio + l.Video }

// Move is one of the changes that all figures are computed from: a participant who
// joined or left, a room that was created, or a session that began.
type Move struct {
	ProjectID string
	At        time.Time
	Step      Level // 1 for a join, -1 for a leave
	Rooms     int64
	Sessions  int64
}

// Hour is the rollup of the moves of one hour. Its figures are relative to the
// connections at its start, so that they stay right when an earlier hour changes.
type Hour struct {
	ProjectID string    // empty for all projects of the organization
	Start     time.Time // a full hour, UTC
	Base      Level     // connections before the first move
	Change    Level     // connections at the end, minus Base
	Millis    Level     // time of the connections, minus that of Base for an hour
	Rise      int64     // maximum of concurrent connections, minus the total of Base
	Rooms     int64
	Sessions  int64
}

// End returns the end of the hour.
func (h *Hour) End() time.Time { return h.Start.Add(time.Hour) }

// AtEnd returns the connections at the end of the hour.
func (h *Hour) AtEnd() Level { return h.Base.plus(h.Change) }

// rollUp returns the hours that contain moves, for each project and for all
// projects, without Base. The moves are in order of time.
func rollUp(moves []Move) []Hour {
	type key struct {
		projectID string
		start     time.Time
	}
	timelines := map[key]*timeline{}
	var order []key
	for _, m := range moves {
		start := m.At.Truncate(time.Hour)
		for _, k := range []key{{"", start}, {m.ProjectID, start}} {
			if timelines[k] == nil {
				timelines[k] = newTimeline(start, start.Add(time.Hour), start, Level{})
				order = append(order, k)
			}
			timelines[k].addMove(m)
		}
	}
	hours := make([]Hour, len(order))
	for i, k := range order {
		t := timelines[k]
		t.advance(t.end)
		hours[i] = Hour{ProjectID: k.projectID, Start: k.start, Change: t.level, Millis: t.millis, Rise: t.peak,
			Rooms: t.rooms, Sessions: t.sessions}
	}
	slices.SortStableFunc(hours, func(a, b Hour) int { return a.Start.Compare(b.Start) })
	return hours
}

// timeline adds up hours and moves, which must be added in order of time. Only what
// is in the period from start to end counts.
type timeline struct {
	start, end      time.Time
	at              time.Time // of the last move
	level           Level     // connections since then
	millis          Level
	peak            int64
	rooms, sessions int64
}

// newTimeline returns a timeline for a period. level is the number of connections
// at the time at, which may be before the period.
func newTimeline(start, end, at time.Time, level Level) *timeline {
	return &timeline{start: start, end: end, at: at, level: level, peak: math.MinInt64}
}

// advance continues the current level until a time.
func (t *timeline) advance(to time.Time) {
	from, until := later(t.at, t.start), to
	if until.After(t.end) {
		until = t.end
	}
	if until.After(from) {
		t.millis = t.millis.plus(t.level.times(until.Sub(from).Milliseconds()))
		t.peak = max(t.peak, t.level.total())
	}
	t.at = to
}

func (t *timeline) addMove(m Move) {
	t.advance(m.At)
	t.level = t.level.plus(m.Step)
	if !m.At.Before(t.start) && m.At.Before(t.end) {
		t.rooms += m.Rooms
		t.sessions += m.Sessions
	}
}

// addHour adds an hour that is entirely inside or entirely outside of the period. It
// ignores Base.
func (t *timeline) addHour(h *Hour) {
	t.advance(h.Start)
	if !h.Start.Before(t.start) && !h.End().After(t.end) {
		t.millis = t.millis.plus(h.Millis).plus(t.level.times(time.Hour.Milliseconds()))
		t.peak = max(t.peak, t.level.total()+h.Rise)
		t.rooms += h.Rooms
		t.sessions += h.Sessions
	}
	t.level = t.level.plus(h.Change)
	t.at = h.End()
}

func (t *timeline) totals() Totals {
	return Totals{AudioMillis: t.millis.Audio, VideoMillis: t.millis.Video, RoomsCreated: t.rooms,
		Sessions: t.sessions, Peak: max(0, t.peak)}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
