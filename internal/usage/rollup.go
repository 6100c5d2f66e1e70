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
	Test      bool // whether the project is a test project, if the moves are those of an organization
	At        time.Time
	Step      Level // 1 for a join, -1 for a leave
	Rooms     int64
	Sessions  int64
}

// DayLength is the length of a day (UTC).
const DayLength = 24 * time.Hour

// Interval is the rollup of the moves of an hour or of a day. Its figures are relative to
// the connections at its start, so that they stay right when an earlier interval changes.
type Interval struct {
	ProjectID string        // empty for all projects of the organization but test projects
	Start     time.Time     // a full hour or midnight, UTC
	Length    time.Duration // an hour or a day
	Base      Level         // connections before the first move; only hours have it
	Change    Level         // connections at the end, minus those at the start
	Millis    Level         // time of the connections, minus that of those at the start
	Rise      int64         // maximum of concurrent connections, minus those at the start
	Rooms     int64
	Sessions  int64
}

// End returns the end of the interval.
func (i *Interval) End() time.Time { return i.Start.Add(i.Length) }

// AtEnd returns the connections at the end of an hour.
func (i *Interval) AtEnd() Level { return i.Base.plus(i.Change) }

// rollUp returns the hours that contain moves, for each project and for all
// projects but test projects, without Base. The moves are in order of time.
func rollUp(moves []Move) []Interval {
	s := series{length: time.Hour}
	for _, m := range moves {
		if !m.Test {
			s.timeline("", m.At).addMove(m)
		}
		s.timeline(m.ProjectID, m.At).addMove(m)
	}
	return s.intervals()
}

// FoldDays returns the days that contain some hours, for each project and for all projects but
// test projects. The hours are in order of time.
func FoldDays(hours []Interval) []Interval {
	s := series{length: DayLength}
	for i := range hours {
		s.timeline(hours[i].ProjectID, hours[i].Start).addInterval(&hours[i])
	}
	return s.intervals()
}

// series are the timelines of intervals of the same length, for each project and for all
// projects but test projects. They start without connections.
type series struct {
	length    time.Duration
	timelines map[intervalKey]*timeline
	order     []intervalKey
}

type intervalKey struct {
	projectID string
	start     time.Time
}

// timeline returns the timeline of the interval that contains a time.
func (s *series) timeline(projectID string, at time.Time) *timeline {
	start := at.Truncate(s.length)
	k := intervalKey{projectID, start}
	t := s.timelines[k]
	if t == nil {
		if s.timelines == nil {
			s.timelines = map[intervalKey]*timeline{}
		}
		t = newTimeline(start, start.Add(s.length), start, Level{})
		s.timelines[k] = t
		s.order = append(s.order, k)
	}
	return t
}

// intervals returns the rollups of all timelines, in order of time.
func (s *series) intervals() []Interval {
	all := make([]Interval, len(s.order))
	for i, k := range s.order {
		t := s.timelines[k]
		t.advance(t.end)
		all[i] = Interval{
			ProjectID: k.projectID,
			Start:     k.start,
			Length:    s.length,
			Change:    t.level,
			Millis:    t.millis,
			Rise:      t.peak,
			Rooms:     t.rooms,
			Sessions:  t.sessions,
		}
	}
	slices.SortStableFunc(all, func(a, b Interval) int { return a.Start.Compare(b.Start) })
	return all
}

// timeline adds up intervals and moves, which must be added in order of time. Only what
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
	return &timeline{
		start: start,
		end:   end,
		at:    at,
		level: level,
		peak:  math.MinInt64,
	}
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

// addInterval adds an interval that is entirely inside or entirely outside of the period. It
// ignores Base.
func (t *timeline) addInterval(i *Interval) {
	t.advance(i.Start)
	if !i.Start.Before(t.start) && !i.End().After(t.end) {
		t.millis = t.millis.plus(i.Millis).plus(t.level.times(i.Length.Milliseconds()))
		t.peak = max(t.peak, t.level.total()+i.Rise)
		t.rooms += i.Rooms
		t.sessions += i.Sessions
	}
	t.level = t.level.plus(i.Change)
	t.at = i.End()
}

func (t *timeline) totals() Totals {
	return Totals{
		AudioMillis:  t.millis.Audio,
		VideoMillis:  t.millis.Video,
		RoomsCreated: t.rooms,
		Sessions:     t.sessions,
		Peak:         max(0, t.peak),
	}
}

// timelines are the timelines of consecutive periods. Intervals and moves must be added in
// order of time.
type timelines struct {
	done    []Totals
	current *timeline
	ends    []time.Time // of the periods after the current one
}

// newTimelines returns the timelines of the periods between bounds. level is the number of
// connections at the time at, which may be before the first period.
func newTimelines(bounds []time.Time, at time.Time, level Level) *timelines {
	return &timelines{current: newTimeline(bounds[0], bounds[1], at, level), ends: bounds[2:]}
}

// periodOf returns the timeline of the period that contains a time. An earlier time belongs
// to the first period, a later time to the last one.
func (t *timelines) periodOf(at time.Time) *timeline {
	for len(t.ends) > 0 && !at.Before(t.current.end) {
		t.finish()
		last := t.current
		t.current, t.ends = newTimeline(last.end, t.ends[0], last.end, last.level), t.ends[1:]
	}
	return t.current
}

func (t *timelines) finish() {
	t.current.advance(t.current.end)
	t.done = append(t.done, t.current.totals())
}

// totals returns the totals of all periods.
func (t *timelines) totals() []Totals {
	if len(t.ends) > 0 {
		t.periodOf(t.ends[len(t.ends)-1])
	}
	t.finish()
	return t.done
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
