// Package webhook records the deliveries of events to integrators' servers: rows
// that are inserted in the transaction of their event. It also lists and replays
// them. The package sender sends them.
//
// It imports the standard library, fault, event, project and room.
package webhook

import (
	"context"
	"time"

	"parley/internal/event"
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

	// Target returns the failure record of a URL; the zero Target when it has none.
	Target(ctx context.Context, projectID, url string) (Target, error)
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
}

// Service records, lists and replays deliveries. The package sender sends them.
type Service struct {
	store Store
	now   func() time.Time
	newID func() string
	wake  chan struct{}
}

// NewService returns a Service.
func NewService(store Store, now func() time.Time, newID func() string) *Service {
	return &Service{store: store, now: now, newID: newID, wake: make(chan struct{}, 1)}
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
