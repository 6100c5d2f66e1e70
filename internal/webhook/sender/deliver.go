package sender

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"parley.example/client/sign"
	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/webhook"
)

// userAgent is the User-Agent header of deliveries.
const userAgent = "Parley-Webhooks/1"

// headerReplay is the header of deliveries that Replay created.
const headerReplay = "webhook-replay"

// recordRetryDelay is the pause before the result of an attempt is recorded again,
// after the database was unavailable.
const recordRetryDelay = 300 * time.Millisecond

// deliver sends j's delivery and then further due deliveries of the same bucket, as
// long as slots are free. When ctx ends it takes no further job; when attempts ends,
// the running attempt is canceled.
func (s *Service) deliver(ctx, attempts context.Context, j job) {
	for {
		m, err := s.buildMessage(attempts, j.delivery)
		if err != nil {
			s.logFailure("sign webhook", err)
			s.release(j, s.now().Add(retrySchedule[1]))
			return
		}
		began := s.now()
		limited, cancel := context.WithTimeout(attempts, attemptTimeout)
		clock := time.Now()
		response := s.poster.Post(limited, m)
		took := time.Since(clock)
		cancel()
		if attempts.Err() != nil && response.Status == 0 {
			// This process canceled the attempt because it is stopping, so it is not a
			// failure of the receiver.
			s.release(j, s.now())
			return
		}
		next, more := s.finish(ctx, attempts, j, webhook.Attempt{
			At:           began,
			Duration:     took,
			Status:       response.Status,
			Error:        response.Error,
			ResponseBody: response.Body,
		}, response)
		if !more {
			return
		}
		j = next
	}
}

// buildMessage returns the signed HTTP message of a delivery. The body is the
// same in every attempt; the timestamp and the signature are new each time.
func (s *Service) buildMessage(ctx context.Context, d webhook.Delivery) (Message, error) {
	keyring, err := s.keyrings.Keyring(ctx, d.ProjectID)
	if err != nil {
		return Message{}, err
	}
	now := s.now()
	at := strconv.FormatInt(now.Unix(), 10)
	signature, err := sign.Webhook(keyring.LiveProjectSecrets(now), d.EventID, at, []byte(d.Body))
	if err != nil {
		return Message{}, err
	}
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", userAgent)
	header.Set("webhook-id", d.EventID)
	header.Set("webhook-timestamp", at)
	header.Set("webhook-signature", signature)
	if d.Replay {
		header.Set(headerReplay, "true")
	}
	return Message{URL: d.URL, Header: header, Body: []byte(d.Body)}, nil
}

// release ends the lease of a stream without an attempt. The stream is due again
// at due.
func (s *Service) release(j job, due time.Time) {
	err := s.store.Write(context.Background(), func(ctx context.Context) error {
		return s.store.ReleaseStream(ctx, j.stream, due, s.now())
	})
	if !fault.Is(err, fault.Conflict) {
		s.logFailure("release webhook stream", err)
	}
}

// finish records the result of an attempt and leases the next job of the bucket
// in the same transaction. While the database is unavailable it retries until
// the lease or attempts ends, because an attempt that is not recorded is sent again.
func (s *Service) finish(
	ctx, attempts context.Context, j job, a webhook.Attempt, r Response,
) (next job, more bool) {
	now := s.now()
	out := decideOutcome(j.delivery, r, j.probe, now)
	if out.state == webhook.Delivered {
		s.buckets.recordSuccess(j.stream.Bucket)
	} else {
		s.buckets.recordFailure(j.stream.Bucket, s.now())
	}
	more = ctx.Err() == nil && !s.buckets.full() && !s.buckets.overLimit(j.stream.Bucket)
	var paused webhook.Target
	var jobs []job
	for {
		err := s.store.Write(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
			var change audit.Change
			jobs = nil
			if paused, change, err = s.recordOutcome(ctx, j, a, out, now); err != nil {
				return err
			}
			if more {
				if jobs, err = s.lease(ctx, j.stream.Bucket, 1); err != nil {
					return err
				}
			}
			return audit.Record(ctx, s.store, now, change)
		})
		if err == nil {
			break
		}
		if fault.Is(err, fault.Conflict) {
			s.log.Warn("webhook attempt outlived its lease, will be sent again", "delivery_id", j.delivery.ID)
			return job{}, false
		}
		s.logFailure("record webhook attempt", err)
		if attempts.Err() != nil || !s.now().Before(j.leaseEndsAt) || !fault.Is(err, fault.Unavailable) {
			return job{}, false
		}
		time.Sleep(recordRetryDelay)
	}
	s.attempt(out.state, a.Duration)
	s.logAttempt(j, a, out, paused)
	if len(jobs) == 0 {
		return job{}, false
	}
	return jobs[0], true
}

// recordOutcome stores an attempt and updates its delivery, stream and target.
// It returns the target if this attempt paused it, and the zero Target otherwise, and the change for the audit log if
// the target is paused now, or no longer.
func (s *Service) recordOutcome(ctx context.Context, j job, a webhook.Attempt, out outcome,
	now time.Time) (paused webhook.Target, change audit.Change, err error) {
	d := j.delivery
	d.Attempts++
	if !j.probe {
		d.Step++
	}
	a.N, d.State = d.Attempts, out.state
	due := out.retryAt
	if d.State != webhook.Pending {
		d.DoneAt = now
		if d.Position < j.stream.Enqueued {
			due = now
		}
	}
	// ReleaseStream comes first because it fails with Conflict when the lease is
	// lost, and then nothing must be written.
	if err := s.store.ReleaseStream(ctx, j.stream, due, now); err != nil {
		return paused, change, err
	}
	if err := s.store.RecordAttempt(ctx, d, a); err != nil {
		return paused, change, err
	}
	if d.State == webhook.Delivered {
		if j.target.Failures > 0 {
			change, err = s.recordRecovery(ctx, d, now)
		}
		return paused, change, err
	}
	t, err := s.store.RecordTargetFailure(ctx, d.ProjectID, d.URL, now)
	if err != nil || t.Paused() && d.State != webhook.Gone {
		return paused, change, err
	}
	wasPaused := t.Paused()
	switch {
	case d.State == webhook.Gone:
		t.PausedAt, t.ProbeAt = now, time.Time{}
		t.Notice = "the receiver answered 410 Gone: resume the target manually"
	case t.Failures >= pauseAfterFailures && now.Sub(t.FailingSince) >= pauseAfterDuration:
		t.PausedAt, t.ProbeAt = now, now.Add(probeInterval)
		t.Notice = fmt.Sprintf("%d attempts in a row failed; one probe is sent every %d minutes",
			t.Failures, probeInterval/time.Minute)
	default:
		return paused, change, nil
	}
	if !wasPaused {
		change = audit.Change{
			Action:    audit.WebhookTargetPaused,
			Subject:   d.ProjectID,
			ProjectID: d.ProjectID,
			After: audit.Fields{"url": audit.Target(d.URL), "paused_at": audit.Timestamp(t.PausedAt),
				"failures": t.Failures},
		}
	}
	return t, change, s.store.PauseTarget(ctx, t)
}

// recordRecovery deletes the failure record of a target that works again. If the server had paused the target, it is
// no longer paused, which is the change that it returns. A pause by hand stays.
func (s *Service) recordRecovery(ctx context.Context, d webhook.Delivery, now time.Time) (audit.Change, error) {
	t, err := s.store.ClearRecoveredTarget(ctx, d.ProjectID, d.URL, now)
	if err != nil || !t.Paused() {
		return audit.Change{}, err
	}
	return audit.Change{
		Action:    audit.WebhookTargetResumed,
		Subject:   d.ProjectID,
		ProjectID: d.ProjectID,
		Before:    audit.Fields{"paused_at": audit.Timestamp(t.PausedAt)},
		After:     audit.Fields{"url": audit.Target(d.URL)},
	}, nil
}

// logAttempt logs the result of an attempt. It logs only scheme and host of the
// target, because the path may contain a secret.
func (s *Service) logAttempt(j job, a webhook.Attempt, out outcome, paused webhook.Target) {
	host := j.stream.URL
	if u, err := url.Parse(host); err == nil {
		host = u.Scheme + "://" + u.Host
	}
	fields := []any{"project_id", j.stream.ProjectID, "target", host, "delivery_id", j.delivery.ID, "status", a.Status}
	if a.Error != "" {
		fields = append(fields, "error", a.Error)
	}
	switch {
	case out.state == webhook.Failed:
		s.log.Warn("webhook delivery failed after the last attempt", fields...)
	case out.state == webhook.Delivered && j.target.Paused():
		s.log.Info("webhook target recovered", fields...)
	default:
		s.log.Debug("webhook attempt", append(fields, "state", out.state)...)
	}
	if paused.Paused() {
		s.log.Warn("webhook target paused", append(fields, "notice", paused.Notice)...)
	}
}
