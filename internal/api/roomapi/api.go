package roomapi

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
)

// Rooms is what versions 3 and 4 need of the room service.
type Rooms interface {
	GetInProject(ctx context.Context, p project.Project, id string) (*room.Room, error)
	OpenEarly(ctx context.Context, p project.Project, roomID string, q room.OpenEarlyRequest) (link string, err error)
	Invite(ctx context.Context, p project.Project, roomID string, q room.Invitation) (link string, err error)
	Reschedule(ctx context.Context, p project.Project, roomID string, change room.SpecChange,
		k *room.IdempotencyKey) (room.Created, error)
	Simulate(ctx context.Context, p project.Project, roomID string, q room.Simulation) (room.Simulation, error)
	EndByAPI(ctx context.Context, p project.Project, id string) error
	RunningRoom(ctx context.Context, p project.Project, roomID string) (room.RunningRoom, error)
	RunningRooms(ctx context.Context, p project.Project) ([]room.RunningRoom, error)
	PastRooms(ctx context.Context, p project.Project, q room.PastQuery) (rooms []room.PastRoom, total int, err error)
	List(ctx context.Context, q room.ListQuery) (rooms []room.Summary, more bool, err error)
	Analytics(ctx context.Context, p project.Project, roomID string) (room.Analytics, error)
	CreateQuick(ctx context.Context, p project.Project, request room.Spec, k *room.IdempotencyKey) (room.Created, error)
	Schedule(ctx context.Context, p project.Project, request room.Spec, k *room.IdempotencyKey) (room.Created, error)
	// BeginIdempotent loads the saved result of an earlier call with the key into k,
	// which the methods that take k then return. Until end, it refuses other calls with
	// the key. It does nothing if k is nil or a signature.
	BeginIdempotent(ctx context.Context, k *room.IdempotencyKey) (end func(), err error)
}

// Keys finds the credentials that sign a call.
type Keys interface {
	ByAPIKey(ctx context.Context, text string) (key.APIKey, *key.Keyring, error)
	Keyring(ctx context.Context, projectID string) (*key.Keyring, error)
}

// RateLimiter limits how often one credential may call.
type RateLimiter interface {
	Allow(credentialID string) (ok bool, retryAfter time.Duration)
}

// FailureLimiter limits how often one address may fail to authenticate.
type FailureLimiter interface {
	RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration)
}

// Limits are the bounds on calls; each may be nil for none.
type Limits struct {
	Writes   RateLimiter // of writes
	Reads    RateLimiter
	Failures FailureLimiter
}

// CallCounter counts the calls with an API key in its slot. It does not block.
// Version 5 returns the counts, so that an integrator sees after a rotation
// whether any client still uses the old key.
type CallCounter interface {
	Add(keyID, slot string)
}

// Options is how a version behaves in this installation.
type Options struct {
	Limits      Limits
	CallCounter CallCounter // nil counts nothing
	// Zone is the time zone of starts without an offset; nil is UTC.
	Zone *time.Location
	// Skew is how far the timestamp of a signature may differ from the clock.
	Skew time.Duration
	// BodySignatures also accepts companion calls that sign their body, or their
	// target for GET, with the project secret and no time, as older clients do.
	BodySignatures bool
	// KeyHeaderOnly also accepts creations with a live API key in the header key or
	// api-key and no signature, as older clients of version 3 send them.
	KeyHeaderOnly bool
	// LegacyClients serves what unchanged clients of other servers of this API family
	// need: companion calls that KeyHeaderOnly accepts for creations, the message of an
	// error on every route of version 3, and a list of recordings, which is empty.
	LegacyClients bool
}

// Description is the OpenAPI description of a version, which is served as it is written.
type Description struct{ YAML, JSON []byte }

// Version is what differs between versions 3 and 4.
type Version struct {
	Name        string // "v3" or "v4"
	Description Description
	Format      Format
	// AnyProjectID accepts any text as the project_id of a quick room: a text that is not a UUID
	// is an unknown project (401). Otherwise it is an invalid field (400).
	AnyProjectID bool
	// DuplicateMessage repeats the message of an error in the field message on most
	// routes, because older clients of version 3 read it there.
	DuplicateMessage bool
	// Middleware is called for every request of the version; nil for none.
	Middleware func(a *API, next http.Handler) http.Handler
}

// Format reads the fields of a version and returns its responses. The readers need not check
// the error of the fields.
type Format interface {
	// ReadQuick reads a room that opens immediately.
	ReadQuick(fields *httpx.Object, kind room.Type) (room.Spec, IgnoredFields)
	// ReadScheduled reads a room that opens later, without start_at.
	ReadScheduled(fields *httpx.Object, kind room.Type) (room.Spec, IgnoredFields)
	// ReadChange reads the change of a scheduled room, without room_id and start_at.
	ReadChange(fields *httpx.Object) (room.SpecChange, IgnoredFields)
	// ParseStart parses start_at. It returns Invalid for text in another form.
	ParseStart(text string, zone *time.Location) (time.Time, error)
	QuickResponse(created room.Created) any
	ScheduledResponse(created room.Created) any
}

// API serves the signed routes of one version.
type API struct {
	Version
	Options
	rooms Rooms
	keys  Keys
	now   func() time.Time
	// repeatsMessage says for the path of a route whether its errors have the field message.
	repeatsMessage map[string]bool

	mux     *httpx.Mux
	handler http.Handler // mux with its middleware
}

// New returns the API of a version with the routes that both versions have.
func New(version Version, service Rooms, keys Keys, now func() time.Time, options Options) *API {
	if options.Zone == nil {
		options.Zone = time.UTC
	}
	a := &API{
		Version:        version,
		Options:        options,
		rooms:          service,
		keys:           keys,
		now:            now,
		repeatsMessage: map[string]bool{},
	}
	a.mux = httpx.NewMux(notFound, a.notAllowed)
	a.handler = a.mux
	if version.Middleware != nil {
		a.handler = version.Middleware(a, a.handler)
	}
	a.handler = httpx.WithRequestID(a.handler)
	a.mux.HandleFunc(http.MethodGet+" "+a.prefix()+"/openapi.yaml", serve(a.Description.YAML, "application/yaml"))
	a.mux.HandleFunc(http.MethodGet+" "+a.prefix()+"/openapi.json", serve(a.Description.JSON, "application/json"))
	a.Handle(a.creationRoutes()...)
	a.Handle(a.companionRoutes()...)
	if a.LegacyClients {
		a.Handle(Route{Method: http.MethodGet, Path: "/recordings/get_record", Auth: (*API).authenticateCompanion,
			Handle: a.recordings})
	}
	return a
}

// ServeHTTP serves everything under the path of the version.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

func serve(document []byte, contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(document)
	}
}

func (a *API) prefix() string { return "/api/" + a.Name }
