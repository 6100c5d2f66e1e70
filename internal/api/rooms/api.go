package rooms

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
)

// Rooms is what these versions need of the rooms.
type Rooms interface {
	GetInProject(ctx context.Context, p project.Project, id string) (*room.Room, error)
	OpenEarly(ctx context.Context, p project.Project, roomID string, q room.OpenEarlyRequest) (link string, err error)
	Invite(ctx context.Context, p project.Project, roomID string, q room.Invitation) (link string, err error)
	Reschedule(ctx context.Context, p project.Project, roomID string, q room.RescheduleRequest) (room.Created, error)
	EndByAPI(ctx context.Context, p project.Project, id string) error
	RunningRoom(ctx context.Context, p project.Project, roomID string) (room.RunningRoom, error)
	RunningRooms(ctx context.Context, p project.Project) ([]room.RunningRoom, error)
	PastRooms(ctx context.Context, p project.Project, q room.PastQuery) (rooms []room.PastRoom, total int, err error)
	List(ctx context.Context, q room.ListQuery) (rooms []room.Summary, more bool, err error)
	Analytics(ctx context.Context, p project.Project, roomID string) (room.Analytics, error)
	CreateQuick(ctx context.Context, p project.Project, q room.CreateRequest) (room.Created, error)
	Schedule(ctx context.Context, p project.Project, q room.CreateRequest) (room.Created, error)
	// Begin takes up a creation that may have been sent before.
	BeginIdempotent(ctx context.Context, o *room.IdempotencyKey) (answer []byte, end func(), err error)
}

// Keyrings finds the live credentials of a project.
type Keyrings interface {
	Keyring(ctx context.Context, projectID string) (*key.Keyring, error)
}

// RateLimiter bounds how often one credential may call.
type RateLimiter interface {
	Allow(credentialID string) (ok bool, retryAfter time.Duration)
}

// FailureLimiter bounds how often one address may fail to show who it is.
type FailureLimiter interface {
	RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration)
}

// Limits are the bounds on calls; each may be nil for none.
type Limits struct {
	Writes   RateLimiter // of writes
	Reads    RateLimiter
	Failures FailureLimiter
}

// CallCounter counts calls with an API key, in the slot it has, without waiting for
// anything. Version 5 shows the counts, so that an integrator who has rotated
// learns whether anything still uses the old key.
type CallCounter interface {
	Add(keyID, slot string)
}

// API is one version, as far as it is like the other.
type API struct {
	Version     string // "v3" or "v4"
	Rooms       Rooms
	Keyrings    Keyrings
	Limits      Limits
	CallCounter CallCounter    // nil counts nothing
	Zone        *time.Location // the scheduling zone
	Now         func() time.Time
	// AllowKeyHeaderOnly lets calls through with a live API key in the header key
	// or api-key and no signature, as older clients send them.
	AllowKeyHeaderOnly bool
	// DuplicateMessageField says on which paths a refusal's sentence also stands in
	// message, where older clients read it; nil is on none.
	DuplicateMessageField func(path string) bool
}

// WithRequestID names every request in its answer, and makes one of headers that
// were sent more than once.
func (a *API) WithRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-ID", httpx.FromContext(r.Context()).ID)
		next.ServeHTTP(w, joinRepeatedHeaders(r))
	})
}

// joinRepeatedHeaders joins the values of a repeated header by a comma, as RFC 9110
// (section 5.3) has it. Two keys become one that nobody has: the call fails
// when it is authenticated and not before.
func joinRepeatedHeaders(r *http.Request) *http.Request {
	for _, name := range [...]string{"Api-Key", "Key", "Idempotency-Key"} {
		if values := r.Header[name]; len(values) > 1 {
			r = r.Clone(r.Context())
			r.Header[name] = []string{strings.Join(values, ", ")}
		}
	}
	return r
}
