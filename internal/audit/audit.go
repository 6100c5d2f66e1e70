// Package audit records the changes that operators and the service itself make, in the
// transaction of each change. The entries form a hash chain, so that a later change of
// an entry is detected. The package imports the standard library and validate only.
package audit

import (
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"time"
)

// Kind is the kind of an actor.
type Kind string

// The kinds of actors.
const (
	KindToken   Kind = "token"   // a management token, in a call of the management API
	KindUser    Kind = "user"    // a user of the console
	KindLink    Kind = "link"    // a person who signed in to the console with a link and is not a user
	KindLocal   Kind = "local"   // a command that opens the database itself
	KindService Kind = "service" // the service
)

// Action names the kind of change that an entry records, such as "project.changed".
type Action string

// The actions.
const (
	OrganizationCreated   Action = "organization.created"
	OrganizationChanged   Action = "organization.changed"
	ProjectCreated        Action = "project.created"
	ProjectChanged        Action = "project.changed"
	ProjectSuspended      Action = "project.suspended"
	ProjectResumed        Action = "project.resumed"
	ProjectDeleting       Action = "project.deleting" // the deletion of a project began
	ProjectDeleted        Action = "project.deleted"
	OrganizationDeleted   Action = "organization.deleted"
	KeyRotated            Action = "key.rotated"
	KeyOverlapRevoked     Action = "key.overlap_revoked"
	SecretRotated         Action = "secret.rotated"
	SecretOverlapRevoked  Action = "secret.overlap_revoked"
	RoomEnded             Action = "room.ended"
	RoomCancelled         Action = "room.cancelled"
	RoomsDeleted          Action = "rooms.deleted"      // by retention
	PeopleErased          Action = "people.erased"      // by retention
	DeliveriesDeleted     Action = "deliveries.deleted" // by retention
	CallsDeleted          Action = "calls.deleted"      // by retention
	PersonErased          Action = "person.erased"
	TokenCreated          Action = "token.created"
	TokenRevoked          Action = "token.revoked"
	UserCreated           Action = "user.created"
	UserChanged           Action = "user.changed"
	UserDeleted           Action = "user.deleted"
	LinkCreated           Action = "link.created" // a sign-in link
	SessionStarted        Action = "session.started"
	SessionEnded          Action = "session.ended"
	WebhookReplayed       Action = "webhook.replayed"
	UsageRebuilt          Action = "usage.rebuilt"
	WebhookRetried        Action = "webhook.retried"
	WebhookTargetResumed  Action = "webhook.target_resumed"
	WebhookTargetPaused   Action = "webhook.target_paused"
	WebhookTested         Action = "webhook.tested"
	NodeLost              Action = "node.lost"
	NodeDraining          Action = "node.draining"
	NodeDrainCancelled    Action = "node.drain_cancelled"
	DatabaseResealed      Action = "database.resealed"
	BackupCreated         Action = "backup.created"
	DatabaseRestored      Action = "database.restored"   // from a backup
	DatabaseCopied        Action = "database.copied"     // to PostgreSQL; recorded in the copy
	DatabaseContracted    Action = "database.contracted" // no earlier release can use it any more
	AuditPruned           Action = "audit.pruned"
	OrganizationSuspended Action = "organization.suspended"
	OrganizationResumed   Action = "organization.resumed"
	ParticipantRemoved    Action = "participant.removed"

	ConnectionCheckCreated Action = "connection_check.created"
)

// Origin is the origin of a change: its actor, its request and its node.
type Origin struct {
	Kind      Kind
	ActorID   string // ID of the management token, the user, or the session of a link
	ActorName string // name of the same, or of the operating system's user who runs a command
	RequestID string // request ID, as in the access log
	Address   string // address of the client
	Node      string // node that made the change; empty for a command
}

// Actor returns the name of the actor, or its kind if it has none.
func (o Origin) Actor() string {
	if o.ActorName == "" {
		return string(o.Kind)
	}
	return o.ActorName
}

type originKey struct{}

// WithOrigin returns a context in which Record records changes with an origin.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// Fields are values by name. A nil value is the same as no value. Fields must contain
// no secrets.
type Fields map[string]any

// Change is one change of an object.
type Change struct {
	Action    Action
	Subject   string // ID of the changed object
	ProjectID string // empty unless the object belongs to a project
	// Before and After are the values of the object before and after the change. An entry
	// contains only the values that differ.
	Before, After Fields
}

// Entry is a recorded change.
type Entry struct {
	N  int64 // number of the entry, from 1 without gaps
	At time.Time
	Origin
	Action        Action
	Subject       string
	ProjectID     string
	Before, After string // JSON objects with the values that changed
	PrevHash      string // hash of the entry N-1; empty for the first entry
	Hash          string // hash of this entry
}

// Chain contains the ends of the hash chain.
type Chain struct {
	N          int64  // number of the last entry; 0 before the first entry
	Hash       string // hash of the last entry
	PrunedN    int64  // number of the last entry that was pruned; 0 if none was pruned
	PrunedHash string // hash of the last entry that was pruned
}

// Appender is the part of a store to which Record writes. Each package that records changes
// requires it of its store.
type Appender interface {
	// LockAuditChain returns the chain and locks it until the transaction ends.
	LockAuditChain(ctx context.Context) (Chain, error)
	// AppendAuditEntry stores an entry and makes it the last one of the chain.
	AppendAuditEntry(ctx context.Context, e Entry) error
}

// Record records a change that is made at a time, in the transaction of ctx. It does
// nothing if no value differs, or if ctx has no origin: then the change was made by an
// integrator or a participant, and the events of the room or project record it.
//
// Record must be the last step of the transaction, because it locks the chain, which
// all changes share. A transaction that locked something else afterwards could
// deadlock.
func Record(ctx context.Context, store Appender, at time.Time, c Change) error {
	origin, ok := ctx.Value(originKey{}).(Origin)
	if !ok {
		return nil
	}
	before, after := changedFields(c.Before, c.After), changedFields(c.After, c.Before)
	if len(before) == 0 && len(after) == 0 {
		return nil
	}
	e := Entry{
		At:        at.UTC().Truncate(time.Millisecond),
		Origin:    origin,
		Action:    c.Action,
		Subject:   c.Subject,
		ProjectID: c.ProjectID,
	}
	for _, f := range []struct {
		text   *string
		values Fields
	}{{&e.Before, before}, {&e.After, after}} {
		raw, err := json.Marshal(f.values)
		if err != nil {
			return err
		}
		*f.text = string(raw)
	}
	chain, err := store.LockAuditChain(ctx)
	if err != nil {
		return err
	}
	e.N, e.PrevHash = chain.N+1, chain.Hash
	e.Hash = e.computeHash()
	return store.AppendAuditEntry(ctx, e)
}

// changedFields returns the values that other does not have.
func changedFields(values, other Fields) Fields {
	changed := Fields{}
	for name, value := range values {
		if value != nil && !reflect.DeepEqual(value, other[name]) {
			changed[name] = value
		}
	}
	return changed
}

// Timestamp returns the value of a time, in the form of the API; nil for the zero time.
func Timestamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// Target is the value of a URL whose path or query may be a credential, as those of
// webhooks often are. Two targets are compared as a whole, but only the scheme and the
// host are recorded.
type Target string

// MarshalJSON implements json.Marshaler.
func (t Target) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte(`""`), nil
	}
	u, err := url.Parse(string(t))
	if err != nil {
		return []byte(`"…"`), nil // not the URL, because it may contain a secret
	}
	return json.Marshal(u.Scheme + "://" + u.Host + "/…")
}
