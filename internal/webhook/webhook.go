// Package webhook tells integrators' servers what happened: once or more, in
// order, for days if they do not answer. Deliveries are rows, written in the
// transaction of their cause; whichever node claims them sends them.
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

// State is what became of a delivery.
type State string

// The states of a delivery.
const (
	Pending   State = "pending"
	Delivered State = "delivered"
	Failed    State = "failed" // given up after the last attempt
	Gone      State = "gone"   // the receiver answered 410
)

// Delivery is one event on its way to one URL.
type Delivery struct {
	ID        string // UUIDv7, so the newest sorts last
	StreamID  string
	Position  int64 // in its stream
	EventID   string
	ProjectID string
	RoomID    string // empty for an event of the project itself
	URL       string
	Type      event.Type
	Sequence  int64
	Previous  int64  // sequence of the last event before that was meant for the URL; 0 for none
	Body      string // the same in every attempt
	Replay    bool
	State     State
	Attempts  int // made so far
	Step      int // in the schedule; probes of a paused target are not in it
	CreatedAt time.Time
	DoneAt    time.Time // zero while pending
}

// Stream is the deliveries of one room, or of a project itself, to one URL:
// they go out one after another.
type Stream struct {
	ID           string
	ProjectID    string
	RoomID       string
	URL          string
	Replay       string // the replay's id; empty for what is new
	Bucket       string // what shares a bound: the streams to a host, of a project
	Enqueued     int64  // deliveries there ever were
	LastSequence int64
	LeaseID      string // who delivers it
}

// Attempt is one try to deliver.
type Attempt struct {
	N            int
	At           time.Time
	Duration     time.Duration
	Status       int    // 0 without an answer
	Error        string // why there was none; empty with one
	ResponseBody string // its first kilobyte
}

// Target is a URL that does not take what it is sent. The zero Target does.
type Target struct {
	ProjectID    string
	URL          string
	Failures     int // in a row
	FailingSince time.Time
	PausedAt     time.Time // zero while it is tried
	ProbeAt      time.Time // when a paused one is tried again; zero for not by itself
	Notice       string
}

// Paused reports whether deliveries to it wait.
func (t Target) Paused() bool { return !t.PausedAt.IsZero() }

// DeliveredEvent is an event of a room, as it is told to whoever wants every kind.
type DeliveredEvent struct {
	event.Event
	Previous int64 // sequence of the last such event before; 0 for none
}

// Store keeps deliveries. Methods that write run inside Write; those that read
// may.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
	Project(ctx context.Context, id string) (project.Project, error)
	Room(ctx context.Context, id string) (*room.Room, error)
	LockProject(ctx context.Context, id string) error

	// ProjectSequence returns the number of a project's last event.
	ProjectSequence(ctx context.Context, projectID string) (int64, error)
	AppendProjectEvent(ctx context.Context, e event.ProjectEvent) error
	// Told returns events of a room after a sequence number, in order, those
	// aside that are told to nobody.
	DeliveredEvents(ctx context.Context, roomID string, after int64, limit int) ([]DeliveredEvent, error)

	// Streams returns those of a room, or with "" of the project itself,
	// replays aside.
	Streams(ctx context.Context, projectID, roomID string) ([]Stream, error)
	// InsertStream makes a stream that is due; ExtendStream writes how many
	// deliveries there are, and makes it due unless it is already.
	InsertStream(ctx context.Context, s Stream, now time.Time) error
	ExtendStream(ctx context.Context, s Stream, now time.Time) error
	InsertDelivery(ctx context.Context, d Delivery) error

	// DueBuckets returns the lanes in which something is due.
	DueBuckets(ctx context.Context, now time.Time) ([]string, error)
	// Claim takes at most n streams of a lane that are due, the longest due
	// first, until a moment.
	LeaseStreams(ctx context.Context, lane string, n int, claim string, now, until time.Time) ([]Stream, error)
	// Head returns the first delivery of a stream that is pending, and what is
	// held against its target; NotFound with none.
	NextDelivery(ctx context.Context, streamID string) (Delivery, Target, error)
	// Release gives a claimed stream back. It is due at the moment given; with
	// the zero time at now if deliveries were added since it was claimed, and
	// not at all otherwise. Conflict when somebody else has claimed it.
	ReleaseStream(ctx context.Context, s Stream, due, now time.Time) error
	// RecordAttempt writes an attempt, and what it made of its delivery.
	RecordAttempt(ctx context.Context, d Delivery, a Attempt) error

	// Target returns the zero Target of a URL that nothing is held against.
	Target(ctx context.Context, projectID, url string) (Target, error)
	// RecordTargetFailure counts a failure.
	RecordTargetFailure(ctx context.Context, projectID, url string, now time.Time) (Target, error)
	PauseTarget(ctx context.Context, t Target) error
	// Probe takes the turn to try a paused target that is due for it, and sets
	// when it is due next; it reports whether it was had.
	AcquireProbe(ctx context.Context, projectID, url string, now, next time.Time) (bool, error)
	// Postpone has what is due to a URL wait.
	Postpone(ctx context.Context, projectID, url string, now, until time.Time) error
	// ClearTarget forgets what is held against a URL, and makes due what
	// waits for it.
	ClearTarget(ctx context.Context, projectID, url string, now time.Time) error
	// Targets returns those of a project that something is held against; of
	// all projects with "".
	Targets(ctx context.Context, projectID string) ([]Target, error)

	// Deliveries returns those that fit, the newest first unless the filter
	// says otherwise.
	Deliveries(ctx context.Context, f Filter) ([]Delivery, error)
	// Delivery fails with NotFound.
	Delivery(ctx context.Context, id string) (Delivery, error)
	Attempts(ctx context.Context, deliveryID string) ([]Attempt, error)
	// PruneDeliveries deletes deliveries made before a moment, the oldest
	// first, and says how many they were.
	PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error)
	// PruneStreams deletes streams that nothing was added to since a moment
	// and to which nothing can be: of rooms that are over, and of replays.
	PruneStreams(ctx context.Context, before time.Time, limit int) error
}

// Message is what is sent.
type Message struct {
	URL    string
	Header http.Header
	Body   []byte
}

// Response is what came back.
type Response struct {
	Status     int
	Error      string // one sentence, where there was no answer
	Body       string // its first kilobyte
	RetryAfter time.Duration
}

// Poster sends messages. It follows no redirects and ends with ctx.
type Poster interface {
	Post(ctx context.Context, m Message) Response
}

// Keyrings knows the secrets of projects.
type Keyrings interface {
	Keyring(ctx context.Context, projectID string) (*key.Keyring, error)
}

// Service is what may be done with webhooks.
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
func NewService(store Store, rings Keyrings, post Poster, now func() time.Time, newID func() string, log *slog.Logger) *Service {
	return &Service{store: store, keyrings: rings, poster: post, now: now, newID: newID, log: log,
		node: newID(), wake: make(chan struct{}, 1), buckets: buckets{byName: map[string]*bucket{}}}
}

// Wake has what was just committed sent without waiting for the next sweep.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
