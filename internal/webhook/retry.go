package webhook

import (
	"context"
	"slices"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
)

// Retry selects pending deliveries that are sent now instead of at their next attempt.
// Fields that are set must all match, and DeliveryID, ProjectID, URL, or both Since and Before must be set.
type Retry struct {
	DeliveryID string
	ProjectID  string
	URL        string
	Since      time.Time // created at this time or later
	Before     time.Time // created before this time
}

// auditFields returns the selection of the retry for the audit log.
func (q Retry) auditFields() audit.Fields {
	fields := audit.Fields{}
	for name, value := range map[string]time.Time{"since": q.Since, "before": q.Before} {
		if !value.IsZero() {
			fields[name] = audit.Timestamp(value)
		}
	}
	if q.DeliveryID != "" {
		fields["delivery_id"] = q.DeliveryID
	}
	if q.URL != "" {
		fields["url"] = audit.Target(q.URL)
	}
	return fields
}

var (
	errNothingToRetry = fault.New(fault.NotFound, "nothing_to_retry", "no pending delivery matches")
	errDone           = fault.New(fault.Conflict, "delivery_done",
		"this delivery is not pending any more: to send it again, replay its event")
	errTargetPaused = fault.New(fault.Conflict, "target_paused", "the target is paused")
)

// retryBatch is the number of streams in one transaction, because other transactions wait
// for it.
const retryBatch = 200

// Retried is what a retry sends now.
type Retried struct {
	Deliveries int // pending ones that match
	Streams    int // their streams; the first delivery of each is sent now, the others follow
}

// Retry sends pending deliveries without waiting for their next attempt. The deliveries
// before them in their streams are sent first, and those to paused targets are left out.
// Errors: Invalid without a selection, NotFound when none matches, Conflict when the delivery
// is done or only paused targets match.
func (s *Service) Retry(ctx context.Context, q Retry) (Retried, error) {
	if q.DeliveryID == "" && q.ProjectID == "" && q.URL == "" && (q.Since.IsZero() || q.Before.IsZero()) {
		return Retried{}, fault.Invalidf("a retry needs delivery_id, project_id, url, or both since and before")
	}
	streams, err := s.streamsToRetry(ctx, q)
	if err != nil {
		return Retried{}, err
	}
	targets, err := s.store.Targets(ctx, q.ProjectID)
	if err != nil {
		return Retried{}, err
	}
	found := len(streams)
	streams = slices.DeleteFunc(streams, func(p PendingStream) bool {
		return slices.ContainsFunc(targets, func(t Target) bool {
			return t.Paused() && t.ProjectID == p.ProjectID && t.URL == p.URL
		})
	})
	switch {
	case found == 0:
		return Retried{}, errNothingToRetry
	case len(streams) == 0:
		return Retried{}, errTargetPaused
	}
	var retried Retried
	recorded := "" // project whose entry in the audit log is written
	for batch := range slices.Chunk(streams, retryBatch) {
		if err := s.retryStreams(ctx, q, batch, recorded); err != nil {
			return retried, err
		}
		recorded = batch[len(batch)-1].ProjectID
		for _, p := range batch {
			retried.Deliveries += p.Deliveries
			retried.Streams++
		}
		s.Wake()
	}
	return retried, nil
}

// streamsToRetry returns the streams of the selected pending deliveries, project by project.
func (s *Service) streamsToRetry(ctx context.Context, q Retry) ([]PendingStream, error) {
	if q.DeliveryID == "" {
		return s.store.PendingStreams(ctx, q)
	}
	d, err := s.store.Delivery(ctx, q.DeliveryID)
	switch {
	case err != nil:
		return nil, err
	case q.ProjectID != "" && q.ProjectID != d.ProjectID:
		return nil, ErrNotFound
	case d.State != Pending:
		return nil, errDone
	case q.URL != "" && q.URL != d.URL || d.CreatedAt.Before(q.Since) ||
		!q.Before.IsZero() && !d.CreatedAt.Before(q.Before):
		return nil, errNothingToRetry
	}
	return []PendingStream{{ID: d.StreamID, ProjectID: d.ProjectID, URL: d.URL, Deliveries: 1}}, nil
}

// retryStreams makes streams due, and records the retry once for each project. The entry of
// the project recorded is written already.
func (s *Service) retryStreams(ctx context.Context, q Retry, streams []PendingStream, recorded string) error {
	ids := make([]string, 0, len(streams))
	for _, p := range streams {
		ids = append(ids, p.ID)
	}
	return s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.RetryStreams(ctx, ids, s.now()); err != nil {
			return err
		}
		last := recorded
		for _, p := range streams {
			if p.ProjectID == last {
				continue
			}
			last = p.ProjectID
			err := audit.Record(ctx, s.store, s.now(), audit.Change{Action: audit.WebhookRetried, Subject: p.ProjectID,
				ProjectID: p.ProjectID, After: q.auditFields()})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
