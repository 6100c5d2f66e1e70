// Package sender sends the deliveries that the package webhook records: at least
// once, in order, and with retries for three days. Any node may lease and send
// them.
//
// It imports the standard library, the SDK's sign, audit, fault, key and webhook. It sends
// through a Poster, which the package post implements.
package sender

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"parley/internal/audit"
	"parley/internal/key"
	"parley/internal/webhook"
)

// Store leases deliveries and stores the results of attempts. Methods that write
// run inside Write; those that read may.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
	audit.Appender

	// DueBuckets returns the names of the buckets that have due streams.
	DueBuckets(ctx context.Context, now time.Time) ([]string, error)
	// LeaseStreams leases at most n due streams of a bucket until a time, those
	// that have been due longest first.
	LeaseStreams(ctx context.Context, bucket string, n int, leaseID string,
		now, until time.Time) ([]webhook.Stream, error)
	// NextDelivery returns the first pending delivery of a stream and the failure
	// record of its target; NotFound when none is pending.
	NextDelivery(ctx context.Context, streamID string) (webhook.Delivery, webhook.Target, error)
	// ReleaseStream ends the lease of a stream and makes it due at due. With the
	// zero time it is due at now if deliveries were added during the lease, and not
	// due otherwise. Conflict when the lease was lost.
	ReleaseStream(ctx context.Context, s webhook.Stream, due, now time.Time) error
	// RecordAttempt inserts an attempt and updates its delivery. If the body of the delivery has changed, a person was
	// erased while the attempt ran, and it stores no response body, because receivers may return what they got. It
	// does nothing if the delivery was deleted.
	RecordAttempt(ctx context.Context, d webhook.Delivery, a webhook.Attempt) error

	// RecordTargetFailure increments the failures of a URL.
	RecordTargetFailure(ctx context.Context, projectID, url string, now time.Time) (webhook.Target, error)
	PauseTarget(ctx context.Context, t webhook.Target) error
	// AcquireProbe reports whether a probe of a paused target is due, and if so
	// moves the next one to next, so that only one caller probes.
	AcquireProbe(ctx context.Context, projectID, url string, now, next time.Time) (bool, error)
	// LockPausedTarget reports whether a target is paused, and if so locks its failure record until the transaction
	// ends. A resumption then waits, and sees which streams the transaction has postponed.
	LockPausedTarget(ctx context.Context, projectID, url string) (bool, error)
	// Postpone makes streams to a URL that are due at now due at until.
	Postpone(ctx context.Context, projectID, url string, now, until time.Time) error
	// ClearRecoveredTarget deletes the failure record of a URL, unless the target waits to be
	// resumed, and returns what it has deleted, or a zero Target. If the target was paused, its
	// waiting streams are due at now; otherwise they keep the times of their next attempts.
	ClearRecoveredTarget(ctx context.Context, projectID, url string, now time.Time) (webhook.Target, error)
}

// Message is the HTTP request of an attempt.
type Message struct {
	URL    string
	Header http.Header
	Body   []byte
}

// Response is the result of an attempt.
type Response struct {
	Status     int           // 0 without a response
	Error      string        // reason why there is no response, one sentence
	Body       string        // first kilobyte
	RetryAfter time.Duration // 0 without the header Retry-After
}

// Poster sends messages. It does not follow redirects, and stops when ctx ends.
type Poster interface {
	Post(ctx context.Context, m Message) Response
}

// Keyrings returns the secrets of projects.
type Keyrings interface {
	Keyring(ctx context.Context, projectID string) (*key.Keyring, error)
}

// Signal wakes the sender after new deliveries were committed.
type Signal interface {
	Wake()
	Woken() <-chan struct{}
}

// Service sends deliveries.
type Service struct {
	store    Store
	signal   Signal
	keyrings Keyrings
	poster   Poster
	now      func() time.Time
	newID    func() string
	log      *slog.Logger
	attempt  func(state webhook.State, took time.Duration) // see WithAttemptObserver
	swept    func(error)                                   // see WithSweepObserver

	node    string
	buckets buckets
}

// Option changes a Service.
type Option func(*Service)

// WithAttemptObserver calls observe after each attempt whose result was recorded, with the
// state of its delivery and the duration of the attempt. observe must not block.
func WithAttemptObserver(observe func(state webhook.State, took time.Duration)) Option {
	return func(s *Service) { s.attempt = observe }
}

// WithSweepObserver calls observe with the result of each look for due deliveries, of which there is at least one each
// second. observe must not block.
func WithSweepObserver(observe func(error)) Option {
	return func(s *Service) { s.swept = observe }
}

// NewService returns a Service. Call Run to send deliveries.
func NewService(store Store, signal Signal, keyrings Keyrings, poster Poster, now func() time.Time,
	newID func() string, log *slog.Logger, options ...Option) *Service {
	s := &Service{
		store:    store,
		signal:   signal,
		keyrings: keyrings,
		poster:   poster,
		now:      now,
		newID:    newID,
		log:      log,
		attempt:  func(webhook.State, time.Duration) {},
		swept:    func(error) {},
		node:     newID(),
		buckets:  buckets{byName: map[string]*bucket{}, byProject: map[string]int{}},
	}
	for _, option := range options {
		option(s)
	}
	return s
}
