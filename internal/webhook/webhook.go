// Package webhook delivers events to integrators' servers: at least once, in
// order, and with retries for three days. Deliveries are rows that are inserted
// in the transaction of their event; any node may lease and send them.
//
// It imports the standard library, client/sign, fault, event, project, key and
// room. It speaks no HTTP: that is the package post.
package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"parley/internal/event"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
)

// State is the state of a delivery.
type State string

// The states of a delivery.
const (
	Pending   State = "pending"
	Delivered State = "delivered"
	Failed    State = "failed" // the last attempt has failed
	Gone      State = "gone"   // the receiver answered 410
)

// Delivery is one event on its way to one URL.
type Delivery struct {
	ID        string // UUIDv7, so that ids sort by creation time
	StreamID  string
	Position  int64 // in its stream
	EventID   string
	ProjectID string
	RoomID    string // empty for an event of the project itself
	URL       string
	Type      event.Type
	Sequence  int64
	Previous  int64  // sequence of the preceding event that this URL is subscribed to; 0 for none
	Body      string // the same in every attempt
	Replay    bool
	State     State
	Attempts  int // number of attempts so far
	Step      int // index in the retry schedule; probes of a paused target do not advance it
	CreatedAt time.Time
	DoneAt    time.Time // zero while pending
}

// Stream is the queue of deliveries of one room, or of a project itself, to one
// URL. They are sent one after another.
type Stream struct {
	ID           string
	ProjectID    string
	RoomID       string
	URL          string
	Replay       string // id of the replay; empty for new events
	Bucket       string // name of the concurrency limit that streams of a project to one host share
	Enqueued     int64  // number of deliveries ever enqueued
	LastSequence int64
	LeaseID      string // identifies the lease that sends it; empty without one
}

// Attempt is one attempt to send a delivery.
type Attempt struct {
	N            int
	At           time.Time
	Duration     time.Duration
	Status       int    // 0 without a response
	Error        string // reason why there is no response; empty with one
	ResponseBody string // first kilobyte of the response
}

// Target is the failure record of a URL. The zero Target has no failures.
type Target struct {
	ProjectID    string
	URL          string
	Failures     int // in a row
	FailingSince time.Time
	PausedAt     time.Time // zero unless it is paused
	ProbeAt      time.Time // time of the next probe while it is paused; zero if it is not probed
	Notice       string
}

// Paused reports whether deliveries to the target are held back.
func (t Target) Paused() bool { return !t.PausedAt.IsZero() }

// DeliveredEvent is an event of a room as a receiver of all event types gets it.
type DeliveredEvent struct {
	event.Event
	Previous int64 // sequence of the preceding delivered event; 0 for none
}

// Store stores deliveries. Methods that write run inside Write; those that read
// may.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
	Project(ctx context.Context, id string) (project.Project, error)
	Room(ctx context.Context, id string) (*room.Room, error)
	LockProject(ctx context.Context, id string) error

	// ProjectSequence returns the sequence number of a project's last event.
	ProjectSequence(ctx context.Context, projectID string) (int64, error)
	AppendProjectEvent(ctx context.Context, e event.ProjectEvent) error
	// DeliveredEvents returns events of a room after a sequence number, in order,
	// without the types that are never delivered.
	DeliveredEvents(ctx context.Context, roomID string, after int64, limit int) ([]DeliveredEvent, error)

	// Streams returns the streams of a room, or of the project itself when roomID is
	// empty, without those of replays.
	Streams(ctx context.Context, projectID, roomID string) ([]Stream, error)
	// InsertStream inserts a stream that is due. ExtendStream updates the number of
	// deliveries, and makes the stream due unless it is already.
	InsertStream(ctx context.Context, s Stream, now time.Time) error
	ExtendStream(ctx context.Context, s Stream, now time.Time) error
	InsertDelivery(ctx context.Context, d Delivery) error

	// DueBuckets returns the names of the buckets that have due streams.
	DueBuckets(ctx context.Context, now time.Time) ([]string, error)
	// LeaseStreams leases at most n due streams of a bucket until a time, those
	// that have been due longest first.
	LeaseStreams(ctx context.Context, bucket string, n int, leaseID string, now, until time.Time) ([]Stream, error)
	// NextDelivery returns the first pending delivery of a stream and the failure
	// record of its target; NotFound when none is pending.
	NextDelivery(ctx context.Context, streamID string) (Delivery, Target, error)
	// ReleaseStream ends the lease of a stream and makes it due at due. With the
	// zero time it is due at now if deliveries were added during the lease, and not
	// due otherwise. Conflict when the lease was lost.
	ReleaseStream(ctx context.Context, s Stream, due, now time.Time) error
	// RecordAttempt inserts an attempt and updates its delivery.
	RecordAttempt(ctx context.Context, d Delivery, a Attempt) error

	// Target returns the failure record of a URL; the zero Target when it has none.
	Target(ctx context.Context, projectID, url string) (Target, error)
	// RecordTargetFailure increments the failures of a URL.
	RecordTargetFailure(ctx context.Context, projectID, url string, now time.Time) (Target, error)
	PauseTarget(ctx context.Context, t Target) error
	// AcquireProbe reports whether a probe of a paused target is due, and if so
	// moves the next one to next, so that only one caller probes.
	AcquireProbe(ctx context.Context, projectID, url string, now, next time.Time) (bool, error)
	// Postpone makes streams to a URL that are due at now due at until.
	Postpone(ctx context.Context, projectID, url string, now, until time.Time) error
	// ClearTarget deletes the failure record of a URL and makes its waiting streams
	// due.
	ClearTarget(ctx context.Context, projectID, url string, now time.Time) error
	// Targets returns the failure records of a project, or of all projects when the
	// id is empty.
	Targets(ctx context.Context, projectID string) ([]Target, error)

	// Deliveries returns the deliveries that match, the newest first unless the
	// filter asks for the oldest first.
	Deliveries(ctx context.Context, f Filter) ([]Delivery, error)
	// Delivery fails with NotFound.
	Delivery(ctx context.Context, id string) (Delivery, error)
	Attempts(ctx context.Context, deliveryID string) ([]Attempt, error)
	// PruneDeliveries deletes at most limit deliveries created before a time, the
	// oldest first, and returns their number.
	PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error)
	// PruneStreams deletes at most limit streams that have not changed since a time
	// and cannot get deliveries anymore: those of finished rooms and of replays.
	PruneStreams(ctx context.Context, before time.Time, limit int) error
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

// Service records, sends, lists and replays deliveries.
type Service struct {
	store    Store
	keyrings Keyrings
	poster   Poster
	now      func() time.Time
	newID    func() string
	log      *slog.Logger

	node    string
	wake    chan struct{}
	buckets buckets
}

// NewService returns a Service.
func NewService(store Store, keyrings Keyrings, poster Poster, now func() time.Time, newID func() string,
	log *slog.Logger) *Service {
	return &Service{store: store, keyrings: keyrings, poster: poster, now: now, newID: newID, log: log,
		node: newID(), wake: make(chan struct{}, 1), buckets: buckets{byName: map[string]*bucket{}}}
}

// Wake starts a sweep now, so that deliveries that were just committed do not
// wait for the next regular one. It never blocks.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
