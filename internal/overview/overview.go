// Package overview says what is live, what fails, and what an operator should do about it.
// It only combines what other parts of the domain know.
package overview

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/room"
	"parley/internal/usage"
	"parley/internal/webhook"
)

const (
	// maxAge is how long an overview is returned again, so that many open pages cost as
	// much as one.
	maxAge = time.Second
	// maxHoursAge is the same for the hours, which cost more and change little.
	maxHoursAge = time.Minute
	// maxUnderstatedAge is the same for hours that show less than what is live, so that an
	// operator does not read of a live room and of no room in the last 24 hours for long.
	maxUnderstatedAge = 5 * time.Second
	// maxTargets is the maximum number of targets in an overview.
	maxTargets = 20
	// maxMostRejected is the maximum number of projects in Overview.MostRejected.
	maxMostRejected = 5
	// maxCached is the number of projects whose overview is kept.
	maxCached = 1000
)

// Overview is the state of the service, or of one project.
type Overview struct {
	At        time.Time
	ProjectID string // empty for all projects
	Live      room.Live
	// Targets are the first targets that fail or are paused, those that somebody has paused last.
	Targets []webhook.Target
	// FailingTargets is the number of all of them.
	FailingTargets int
	Calls          requestlog.CallTotal // of the last hour
	Recorded       bool                 // whether calls are recorded
	// MostRejected are the totals of the projects with the most rejected calls in the last hour.
	// It is only for all projects.
	MostRejected []requestlog.CallTotal
	Nodes        []room.NodeStatus // only for all projects
	Findings     []Finding
	Hours        []usage.Day // the last 24 hours; Date is the start of the hour
}

// Rooms, Webhooks, Calls, Usage and Keys are the parts of the domain that an overview reads.
type (
	Rooms interface {
		Live(ctx context.Context, projectID string) (room.Live, error)
		NodeStatuses(ctx context.Context) ([]room.NodeStatus, error)
	}
	Webhooks interface {
		Targets(ctx context.Context, projectID string) ([]webhook.Target, error)
	}
	Calls interface {
		Totals(ctx context.Context, projectID string) (requestlog.CallTotal, error)
		MostRejected(ctx context.Context, limit int) ([]requestlog.CallTotal, error)
	}
	Usage interface {
		LastHours(ctx context.Context, scope usage.Scope) ([]usage.Day, error)
	}
	Keys interface {
		EndingOverlaps(ctx context.Context, projectID string, within time.Duration) ([]key.EndingOverlap, error)
	}
)

// Sources are the parts that an overview is made of.
type Sources struct {
	Rooms    Rooms
	Webhooks Webhooks
	Calls    Calls // nil if calls are not recorded
	Usage    Usage
	Keys     Keys
	NodeID   string // of this node
	// Health returns the findings about this node and what it depends on.
	Health func(ctx context.Context) []Finding
}

// Service makes overviews. It is safe for use by several goroutines.
type Service struct {
	sources Sources
	now     func() time.Time

	mu     sync.Mutex
	cached map[string]*cached // by project
}

// cached is the last overview of a project.
type cached struct {
	mu       sync.Mutex // held while the overview is made
	overview Overview
	hoursAt  time.Time
	// stillUnderstated is whether the hours showed less than what was live although they were read early.
	stillUnderstated bool
}

// NewService returns a Service.
func NewService(sources Sources, now func() time.Time) *Service {
	return &Service{sources: sources, now: now, cached: map[string]*cached{}}
}

// All returns the overview of the service. It is at most a second old, and its hours a
// minute, or five seconds if they show less than what is live.
func (s *Service) All(ctx context.Context) (Overview, error) { return s.overview(ctx, usage.Scope{}) }

// OfProject returns the overview of a project.
func (s *Service) OfProject(ctx context.Context, p project.Project) (Overview, error) {
	return s.overview(ctx, usage.Scope{OrganizationID: p.OrganizationID, ProjectID: p.ID})
}

func (s *Service) overview(ctx context.Context, scope usage.Scope) (Overview, error) {
	c := s.entry(scope.ProjectID)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := s.now()
	if now.Sub(c.overview.At) < maxAge {
		return c.overview, nil
	}
	o, err := s.read(ctx, scope, now)
	if err != nil {
		return Overview{}, err
	}
	o.Hours = c.overview.Hours
	age := now.Sub(c.hoursAt)
	early := age >= maxUnderstatedAge && !c.stillUnderstated && o.understated()
	if early || age >= maxHoursAge || !sameHour(now, c.hoursAt) {
		if o.Hours, err = s.sources.Usage.LastHours(ctx, scope); err != nil {
			return Overview{}, err
		}
		c.hoursAt, c.stillUnderstated = now, early && o.understated()
	}
	c.overview = o
	return o, nil
}

// understated reports whether the hours show less than what is live: no room at all, or fewer people at the
// same time. They do until they are read again after the first room or a new maximum of people. Some still do after
// that: those of all projects leave out test projects, and a live room may have been created before these hours.
func (o *Overview) understated() bool {
	var rooms, peak int64
	for _, h := range o.Hours {
		rooms += h.Totals.RoomsCreated
		peak = max(peak, h.Totals.Peak)
	}
	return o.Live.Rooms > 0 && rooms == 0 || int64(o.Live.Participants()) > peak
}

func sameHour(a, b time.Time) bool { return a.Truncate(time.Hour).Equal(b.Truncate(time.Hour)) }

// entry returns the cached overview of a project, which is empty at first.
func (s *Service) entry(projectID string) *cached {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cached[projectID]
	if c == nil {
		if len(s.cached) >= maxCached {
			clear(s.cached)
		}
		c = &cached{}
		s.cached[projectID] = c
	}
	return c
}

// read reads everything except the hours.
func (s *Service) read(ctx context.Context, scope usage.Scope, now time.Time) (Overview, error) {
	o := Overview{At: now, ProjectID: scope.ProjectID, Recorded: s.sources.Calls != nil}
	var err error
	if o.Live, err = s.sources.Rooms.Live(ctx, scope.ProjectID); err != nil {
		return o, err
	}
	o.Calls = requestlog.CallTotal{At: now.Add(-time.Hour)}
	if o.Recorded {
		if o.Calls, err = s.sources.Calls.Totals(ctx, scope.ProjectID); err != nil {
			return o, err
		}
	}
	if o.Recorded && scope.ProjectID == "" {
		if o.MostRejected, err = s.sources.Calls.MostRejected(ctx, maxMostRejected); err != nil {
			return o, err
		}
	}
	if scope.ProjectID == "" {
		if o.Nodes, err = s.sources.Rooms.NodeStatuses(ctx); err != nil {
			return o, err
		}
		o.Findings = append(mergeFindings(s.sources.NodeID, s.sources.Health(ctx), o.Nodes), nodeFindings(o.Nodes, now)...)
	}
	overlaps, err := s.sources.Keys.EndingOverlaps(ctx, scope.ProjectID, overlapNotice)
	if err != nil {
		return o, err
	}
	if o.Targets, err = s.sources.Webhooks.Targets(ctx, scope.ProjectID); err != nil {
		return o, err
	}
	sortTargets(o.Targets)
	o.Findings = append(o.Findings, targetFindings(o.Targets, now)...)
	o.Findings = append(o.Findings, overlapFindings(overlaps)...)
	o.FailingTargets = len(o.Targets)
	o.Targets = o.Targets[:min(len(o.Targets), maxTargets)]
	return o, nil
}

// sortTargets sorts targets by how much they need a repair: first those that the server has paused, then those that
// fail, then those that somebody has paused.
func sortTargets(targets []webhook.Target) {
	rank := func(t webhook.Target) int {
		switch {
		case t.PausedByHand():
			return 2
		case t.Paused():
			return 0
		}
		return 1
	}
	slices.SortStableFunc(targets, func(a, b webhook.Target) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.FailingSince.Compare(b.FailingSince))
	})
}
