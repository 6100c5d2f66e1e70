package webhook

import (
	"context"
	"slices"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
)

// Targets returns the URLs of a project that fail or are paused; those of all
// projects when the id is empty.
func (s *Service) Targets(ctx context.Context, projectID string) ([]Target, error) {
	return s.store.Targets(ctx, projectID)
}

// Resume lifts the pause of a target and sends the deliveries that wait for it.
// NotFound when the target is not paused.
func (s *Service) Resume(ctx context.Context, projectID, url string) error {
	err := s.store.Write(ctx, func(ctx context.Context) error {
		t, err := s.store.Target(ctx, projectID, url)
		if err != nil {
			return err
		}
		if !t.Paused() {
			return fault.New(fault.NotFound, "target_not_paused", "this target is not paused")
		}
		if err := s.store.ClearTarget(ctx, projectID, url, s.now()); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, s.now(), audit.Change{
			Action:    audit.WebhookTargetResumed,
			Subject:   projectID,
			ProjectID: projectID,
			Before:    audit.Fields{"paused_at": audit.Timestamp(t.PausedAt)},
			After:     audit.Fields{"url": audit.Target(url)},
		})
	})
	if err == nil {
		s.Wake()
	}
	return err
}

// Pause stops the deliveries to a target until Resume, even if the target works. New events still
// add deliveries. An attempt that has begun is finished. Errors: Invalid, NotFound if the
// project has no such target, Conflict if it is paused by hand already.
func (s *Service) Pause(ctx context.Context, projectID, url string) error {
	return s.store.Write(ctx, func(ctx context.Context) error {
		p, err := s.store.Project(ctx, projectID)
		if err != nil {
			return err
		}
		if url == "" {
			return fault.Invalidf("url is required")
		}
		t, err := s.store.Target(ctx, projectID, url)
		if err != nil {
			return err
		}
		if t.PausedByHand() {
			return fault.New(fault.Conflict, "target_paused", "this target is already paused by hand")
		}
		if t.Failures == 0 && p.Settings.DefaultWebhookURL != url {
			if err := s.checkUsed(ctx, projectID, url); err != nil {
				return err
			}
		}
		now := s.now()
		before := audit.Fields{}
		if t.Paused() {
			before["paused_at"] = audit.Timestamp(t.PausedAt)
		}
		t.ProjectID, t.URL, t.PausedAt, t.ProbeAt, t.Notice = projectID, url, now, time.Time{}, noticePausedByHand
		if t.FailingSince.IsZero() {
			t.FailingSince = now
		}
		if err := s.store.HoldTarget(ctx, t); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, now, audit.Change{
			Action:    audit.WebhookTargetPaused,
			Subject:   projectID,
			ProjectID: projectID,
			Before:    before,
			After:     audit.Fields{"url": audit.Target(url), "paused_at": audit.Timestamp(now)},
		})
	})
}

// recentDeliveries is how many of the newest deliveries of a project show the URLs that it uses.
const recentDeliveries = 100

// checkUsed returns NotFound unless a delivery to a URL is pending or recent, because a pause of
// any other URL would be a mistake.
func (s *Service) checkUsed(ctx context.Context, projectID, url string) error {
	pending, err := s.store.PendingStreams(ctx, Retry{ProjectID: projectID, URL: url})
	if err != nil || len(pending) > 0 {
		return err
	}
	recent, err := s.store.Deliveries(ctx, Filter{ProjectID: projectID, Limit: recentDeliveries})
	if err != nil || slices.ContainsFunc(recent, func(d Delivery) bool { return d.URL == url }) {
		return err
	}
	return fault.New(fault.NotFound, "target_not_found", "no webhook of this project was sent to this url recently")
}
