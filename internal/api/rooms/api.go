package rooms

import (
	"context"
	"net/netip"
	"time"

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
}

// API serves what versions 3 and 4 share. Each version has its own API.
type API struct {
	Options
	Version string // "v3" or "v4"
	Rooms   Rooms
	Keys    Keys
	Now     func() time.Time
	// KeyHeaderOnly also accepts creations with a live API key in the header key or
	// api-key and no signature, as older clients of version 3 send them.
	KeyHeaderOnly bool
	// DuplicateMessage repeats the message of an error in the field message on most
	// routes, because older clients of version 3 read it there.
	DuplicateMessage bool
}

// New returns the API of a version.
func New(version string, service Rooms, keys Keys, now func() time.Time, options Options) *API {
	if options.Zone == nil {
		options.Zone = time.UTC
	}
	return &API{Options: options, Version: version, Rooms: service, Keys: keys, Now: now}
}
