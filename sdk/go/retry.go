package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	firstWait = 250 * time.Millisecond
	maxWait   = 30 * time.Second
	// minCorrection is the resolution of the signed timestamp. A smaller correction
	// of the clock would sign the same timestamp again.
	minCorrection = time.Second
)

// do sends a request until it succeeds or must not be repeated.
func (c *Client) do(ctx context.Context, r *request) (*response, error) {
	began := time.Now()
	corrections := 0
	for sent := 1; ; sent++ {
		attempt := sent - corrections // an attempt after a correction of the clock is not counted
		signedWith := c.clock.currentOffset()
		a, err := c.exchange(ctx, r, signedWith)
		if err == nil {
			return a, nil
		}
		failure, refused := errors.AsType[*Error](err)
		if refused {
			failure.Attempts = sent
			failure.Remedy = c.findRemedy(r, failure)
		}
		correction := (c.clock.currentOffset() - signedWith).Abs()
		if IsUnauthorized(err) && r.gatewaySigned && corrections == 0 && correction >= minCorrection {
			corrections = 1
			continue
		}
		if attempt >= c.maxAttempts || !r.repeatable || !isRetryable(ctx, r, err) {
			return nil, err
		}
		wait := backoff(attempt)
		if refused && failure.RetryAfter > 0 {
			wait = max(wait, failure.RetryAfter+rand.N(firstWait)) // so that clients do not return together
		}
		if !shouldWait(ctx, wait) || r.retryWindow > 0 && time.Since(began)+wait > r.retryWindow {
			return nil, err
		}
		if stopped := sleep(ctx, wait); stopped != nil {
			return nil, fmt.Errorf("parley: %w, while waiting to try again after: %w", stopped, err)
		}
	}
}

// isRetryable reports whether the same request may succeed a moment later.
func isRetryable(ctx context.Context, r *request, err error) bool {
	if ctx.Err() != nil || errors.Is(err, ErrUnexpectedResponse) {
		return false
	}
	if failure, refused := errors.AsType[*Error](err); refused {
		inProgress := IsConflict(err) && r.idempotencyKey != "" && failure.RetryAfter > 0
		return IsRateLimited(err) || IsUnavailable(err) || inProgress
	}
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	return !badCertificate
}

// backoff returns the wait after an attempt: 50 to 100 % of a duration that doubles
// with each attempt, up to maxWait.
func backoff(attempt int) time.Duration {
	wait := maxWait
	if shift := attempt - 1; shift < 7 { // firstWait << 7 is more than maxWait
		wait = firstWait << shift
	}
	return wait/2 + rand.N(wait/2+1)
}

// shouldWait reports whether a wait is at most maxWait and ends before the context.
func shouldWait(ctx context.Context, wait time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return wait <= maxWait && (!bounded || time.Until(deadline) > wait)
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// retryAfter parses Retry-After in both of its forms, seconds and a date, which is
// compared with the server's clock. The result is at most a day.
func retryAfter(header http.Header) time.Duration {
	const limit = 24 * time.Hour
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(seconds, 0), int64(limit/time.Second))) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return min(max(until.Sub(now), 0), limit)
}
