// Package webhook records the deliveries of events to integrators' servers: rows
// that are inserted in the transaction of their event. It also lists and replays
// them. The package sender sends them.
//
// It imports the standard library, audit, fault, event, project and room.
package webhook

import (
	"context"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/fault"
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
	// NextAttemptAt is when the first pending delivery of its stream is sent, set by List, Show and Timeline for
	// pending deliveries. While that one is being sent, it is the end of the lease. It is zero while the target waits
	// to be resumed.
	NextAttemptAt time.Time
	// Held reports whether the delivery is pending and waits because its target is paused, set by List, Show and
	// Timeline. An attempt that runs is not held.
	Held bool
	// LastStatus is the HTTP status of the last attempt, 0 without a response, set by List and Show. It is nil
	// before the first attempt.
	LastStatus *int
}

// ErrNotFound is the error for an unknown delivery.
var ErrNotFound = fault.New(fault.NotFound, "delivery_not_found", "there is no such delivery")

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

// StreamState says when a stream is sent.
type StreamState struct {
	// DueAt is the time at which it is due; zero if it is not, or while its target waits to be resumed.
	DueAt  time.Time
	Paused bool // whether its target is paused
	Leased bool // whether its first pending delivery is being sent
	// FirstPending is the position of its first pending delivery; 0 without one, or if its target is not paused.
	FirstPending int64
}

// holds reports whether the delivery at a position waits because the target is paused. The one that is being sent does
// not, nor does one that was sent since it was read.
func (s StreamState) holds(position int64) bool {
	return s.Paused && s.FirstPending > 0 &&
		(position > s.FirstPending || position == s.FirstPending && !s.Leased)
}

// PendingStream is a stream with the number of its selected pending deliveries.
type PendingStream struct {
	ID         string
	ProjectID  string
	URL        string
	Deliveries int
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

// noticePausedByHand is the notice of a target that Pause has paused. It is stored and compared, so it
// must not change.
const noticePausedByHand = "paused by hand: its deliveries wait until it is resumed"

// PausedByHand reports whether Pause has paused the target.
func (t Target) PausedByHand() bool { return t.Paused() && t.Notice == noticePausedByHand }

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
	// FirstEvent returns the sequence number of the first event of a room that is kept, also
	// if it is never delivered. It is the number after the last event if none is kept.
	FirstEvent(ctx context.Context, roomID string) (int64, error)

	// StreamStates returns the states of the streams that exist, by their id.
	StreamStates(ctx context.Context, streamIDs []string) (map[string]StreamState, error)
	// PendingStreams returns the streams with pending deliveries that q selects, ordered by
	// their project. It ignores DeliveryID.
	PendingStreams(ctx context.Context, q Retry) ([]PendingStream, error)
	// RetryStreams makes waiting streams due now, with one attempt more for the delivery that
	// is sent next. It does not change streams that are being sent.
	RetryStreams(ctx context.Context, streamIDs []string, now time.Time) error

	// RoomEvents returns at most limit events of a room after a sequence number, in order,
	// those that are never delivered included.
	RoomEvents(ctx context.Context, roomID string, after int64, limit int) ([]event.Event, error)
	// DeliveriesOfEvents returns the deliveries of events.
	DeliveriesOfEvents(ctx context.Context, eventIDs []string) ([]Delivery, error)

	// Streams returns the streams of a room, or of the project itself when roomID is
	// empty, without those of replays.
	Streams(ctx context.Context, projectID, roomID string) ([]Stream, error)
	// InsertStream inserts a stream that is due. ExtendStream updates the number of
	// deliveries, and makes the stream due unless it is already.
	InsertStream(ctx context.Context, s Stream, now time.Time) error
	ExtendStream(ctx context.Context, s Stream, now time.Time) error
	InsertDelivery(ctx context.Context, d Delivery) error

	// Target returns the failure record of a URL; the zero Target when it has none.
	Target(ctx context.Context, projectID, url string) (Target, error)
	// ClearTarget deletes the failure record of a URL and makes its waiting streams
	// due.
	ClearTarget(ctx context.Context, projectID, url string, now time.Time) error
	// HoldTarget stores the pause of a URL, even if the URL has no failure record.
	HoldTarget(ctx context.Context, t Target) error
	// Targets returns the failure records of a project, or of all projects when the
	// id is empty.
	Targets(ctx context.Context, projectID string) ([]Target, error)

	// Deliveries returns the deliveries that match, the newest first unless the
	// filter asks for the oldest first.
	Deliveries(ctx context.Context, f Filter) ([]Delivery, error)
	// LockRooms locks the rooms that exist until the transaction of ctx ends.
	LockRooms(ctx context.Context, ids []string) error
	// DeliveryBodies returns the bodies of the deliveries that are still kept, by their ID.
	DeliveryBodies(ctx context.Context, ids []string) (map[string]string, error)
	// Delivery fails with NotFound.
	Delivery(ctx context.Context, id string) (Delivery, error)
	Attempts(ctx context.Context, deliveryID string) ([]Attempt, error)
	// LastStatuses returns the statuses of the last attempts of deliveries, by their ID.
	LastStatuses(ctx context.Context, deliveryIDs []string) (map[string]int, error)
	// WebhookBacklog reads at most limit pending deliveries.
	WebhookBacklog(ctx context.Context, limit int) (Backlog, error)
	audit.Appender
}

// Service records, lists and replays deliveries. The package sender sends them.
type Service struct {
	store Store
	now   func() time.Time
	newID func() string
	kept  func(p project.Project) time.Duration // nil without WithRetention
	wake  chan struct{}
}

// Option changes a Service.
type Option func(*Service)

// WithRetention sets the function that returns how long the deliveries of a project are kept;
// 0 means for ever.
func WithRetention(kept func(p project.Project) time.Duration) Option {
	return func(s *Service) { s.kept = kept }
}

// NewService returns a Service.
func NewService(store Store, now func() time.Time, newID func() string, options ...Option) *Service {
	s := &Service{store: store, now: now, newID: newID, wake: make(chan struct{}, 1)}
	for _, o := range options {
		o(s)
	}
	return s
}

// Wake tells the sender of this process that deliveries were committed, so that
// they do not wait for its next regular sweep. It never blocks.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Woken returns the channel that receives a value after Wake.
func (s *Service) Woken() <-chan struct{} { return s.wake }
