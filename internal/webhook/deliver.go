package webhook

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"parley/client/sign"
	"parley/internal/fault"
)

// userAgent names the sender.
const userAgent = "Parley-Webhooks/1"

// headerReplay marks what is sent again on somebody's word.
const headerReplay = "webhook-replay"

// deliver makes an attempt, and goes on with what is due in the same lane as
// long as nobody else waits for the place.
func (s *Service) deliver(ctx, attempts context.Context, j job) {
	for {
		m, err := s.buildMessage(attempts, j.delivery)
		if err != nil {
			s.logFailure("sign a webhook", err)
			s.release(j, s.now().Add(retrySchedule[1]))
			return
		}
		began := s.now()
		limited, cancel := context.WithTimeout(attempts, attemptTimeout)
		clock := time.Now()
		answer := s.poster.Post(limited, m)
		took := time.Since(clock)
		cancel()
		if attempts.Err() != nil && answer.Status == 0 {
			s.release(j, s.now()) // cut off by our own end, which says nothing of the receiver
			return
		}
		next, more := s.finish(ctx, j, Attempt{At: began, Duration: took, Status: answer.Status, Error: answer.Error, ResponseBody: answer.Body}, answer)
		if !more {
			return
		}
		j = next
	}
}

// buildMessage makes what is sent. The body is the same in every attempt, the
// signature's time is not.
func (s *Service) buildMessage(ctx context.Context, d Delivery) (Message, error) {
	ring, err := s.keyrings.Keyring(ctx, d.ProjectID)
	if err != nil {
		return Message{}, err
	}
	now := s.now()
	at := strconv.FormatInt(now.Unix(), 10)
	signature, err := sign.Webhook(ring.LiveProjectSecrets(now), d.EventID, at, []byte(d.Body))
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

// release lets go of a stream with nothing done.
func (s *Service) release(j job, due time.Time) {
	err := s.store.Write(context.Background(), func(ctx context.Context) error { return s.store.ReleaseStream(ctx, j.stream, due, s.now()) })
	if !fault.Is(err, fault.Conflict) {
		s.logFailure("give back a webhook", err)
	}
}

// finish writes down what became of an attempt and takes the next job of the
// lane in the same transaction. While the database is away it tries again for
// as long as the claim holds: what is not written down is sent again.
func (s *Service) finish(ctx context.Context, j job, a Attempt, answer Response) (next job, more bool) {
	now := s.now()
	out := decideOutcome(j.delivery, answer, j.probe, now)
	s.buckets.recordResult(j.stream.Bucket, out.state != Delivered)
	more = ctx.Err() == nil && !s.buckets.full() && !s.buckets.overLimit(j.stream.Bucket)
	var paused Target
	var jobs []job
	for {
		err := s.store.Write(context.Background(), func(ctx context.Context) (err error) {
			paused, jobs = Target{}, nil
			if paused, err = s.recordOutcome(ctx, j, a, out, now); err != nil || !more {
				return err
			}
			jobs, err = s.lease(ctx, j.stream.Bucket, 1)
			return err
		})
		if err == nil {
			break
		}
		if fault.Is(err, fault.Conflict) {
			s.log.Warn("a webhook took longer than its claim, and is sent again", "delivery_id", j.delivery.ID)
			return job{}, false
		}
		s.logFailure("write down what became of a webhook", err)
		if !s.now().Before(j.leaseEndsAt) || !fault.Is(err, fault.Unavailable) {
			return job{}, false
		}
		time.Sleep(batchDelay * 100)
	}
	s.logAttempt(j, a, out, paused)
	if len(jobs) == 0 {
		return job{}, false
	}
	return jobs[0], true
}

// recordOutcome writes down an attempt, what it made of its delivery, stream and
// target. It returns the target if that is paused by it.
func (s *Service) recordOutcome(ctx context.Context, j job, a Attempt, out outcome, now time.Time) (paused Target, err error) {
	d := j.delivery
	d.Attempts++
	if !j.probe {
		d.Step++
	}
	a.N, d.State = d.Attempts, out.state
	due := out.retryAt
	if d.State != Pending {
		d.DoneAt = now
		if d.Position < j.stream.Enqueued {
			due = now
		}
	}
	// The claim is checked first: without it nothing of this holds.
	if err := s.store.ReleaseStream(ctx, j.stream, due, now); err != nil {
		return paused, err
	}
	if err := s.store.RecordAttempt(ctx, d, a); err != nil {
		return paused, err
	}
	if d.State == Delivered {
		if j.target.Failures > 0 {
			err = s.store.ClearTarget(ctx, d.ProjectID, d.URL, now)
		}
		return paused, err
	}
	t, err := s.store.RecordTargetFailure(ctx, d.ProjectID, d.URL, now)
	if err != nil || t.Paused() && d.State != Gone {
		return paused, err
	}
	switch {
	case d.State == Gone:
		t.PausedAt, t.Notice = now, "it answered 410: resume it by hand"
	case t.Failures >= pauseAfterFailures && now.Sub(t.FailingSince) >= pauseAfterDuration:
		t.PausedAt, t.ProbeAt = now, now.Add(probeInterval)
		t.Notice = strconv.Itoa(t.Failures) + " attempts in a row failed: it is tried every " + probeInterval.String()
	default:
		return paused, nil
	}
	return t, s.store.PauseTarget(ctx, t)
}

// logAttempt logs what an operator wants to know. A target's path may say more than
// a log should.
func (s *Service) logAttempt(j job, a Attempt, out outcome, paused Target) {
	host := j.stream.URL
	if u, err := url.Parse(host); err == nil {
		host = u.Scheme + "://" + u.Host
	}
	fields := []any{"project_id", j.stream.ProjectID, "target", host, "delivery_id", j.delivery.ID, "status", a.Status}
	if a.Error != "" {
		fields = append(fields, "error", a.Error)
	}
	switch {
	case out.state == Failed:
		s.log.Warn("a webhook is given up", fields...)
	case out.state == Delivered && j.target.Paused():
		s.log.Info("a webhook target takes webhooks again", fields...)
	default:
		s.log.Debug("webhook attempt", append(fields, "state", out.state)...)
	}
	if paused.Paused() {
		s.log.Warn("a webhook target is paused", append(fields, "notice", paused.Notice)...)
	}
}
