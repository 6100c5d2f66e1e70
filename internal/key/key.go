// Package key holds the credentials of projects: API keys with their Gateway
// secrets, and project secrets. It imports the standard library, audit, fault,
// event, seal and project.
package key

import (
	"context"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/project"
	"parley/internal/seal"
)

// Slot is the role of a credential among those of its project.
type Slot string

// The slots. A project has one current credential of each kind and, during a
// rotation, one overlap credential. Both are live; retired ones are not.
const (
	Current Slot = "current"
	Overlap Slot = "overlap"
	Retired Slot = "retired"
)

// APIKey is an API key of a project with its Gateway secret. Both are sealed at
// rest and in clear text only in memory.
type APIKey struct {
	ID            string
	ProjectID     string
	Slot          Slot
	Key           seal.Secret
	GatewaySecret seal.Secret
	CreatedAt     time.Time
	RetiringSince time.Time // zero unless Slot is Overlap
	OverlapEndsAt time.Time // zero unless Slot is Overlap

	hash [sha256.Size]byte // of Key; set only in keyrings
}

// DummyGatewaySecret belongs to no key. The signature of a call with an unknown key is
// checked against it, so that the response time does not reveal whether a key exists.
const DummyGatewaySecret = "gs_0000000000000000000000000000000000000000000"

// ProjectSecret keys the join-event signature and signs outgoing webhooks.
type ProjectSecret struct {
	ID            string
	ProjectID     string
	Slot          Slot
	Secret        seal.Secret
	CreatedAt     time.Time
	RetiringSince time.Time
	OverlapEndsAt time.Time
}

// IssuedCredentials are the credentials of a new project in clear text. They are
// returned once and cannot be read later.
type IssuedCredentials struct {
	ProjectSecret seal.Secret
	APIKey        seal.Secret
	GatewaySecret seal.Secret
}

// Store stores credentials, sealed.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
	InsertAPIKey(ctx context.Context, k APIKey) error
	InsertProjectSecret(ctx context.Context, s ProjectSecret) error
	// APIKeys and ProjectSecrets return the credentials of a project that are not
	// retired, the current one first.
	APIKeys(ctx context.Context, projectID string) ([]APIKey, error)
	ProjectSecrets(ctx context.Context, projectID string) ([]ProjectSecret, error)
	Project(ctx context.Context, id string) (project.Project, error)
	// LockProject prevents changes of the project and its credentials by others
	// until the transaction ends; NotFound when there is no such project.
	LockProject(ctx context.Context, id string) error
	// UpdateAPIKey and UpdateProjectSecret update slot, RetiringSince and
	// OverlapEndsAt. A credential whose slot becomes Retired is retired at now.
	UpdateAPIKey(ctx context.Context, k APIKey, now time.Time) error
	UpdateProjectSecret(ctx context.Context, s ProjectSecret, now time.Time) error
	// APIKeyByHash returns a key in any slot; NotFound when there is none or it was
	// purged.
	APIKeyByHash(ctx context.Context, hash string) (APIKey, error)
	// APIKeyHashes calls each with the hash of every API key of a project, in any
	// slot; of all projects when the id is empty.
	APIKeyHashes(ctx context.Context, projectID string, each func(hash, projectID string)) error
	Organization(ctx context.Context, id string) (project.Organization, error)
	LockOrganization(ctx context.Context, id string) error
	// PurgeRetired deletes credentials that were retired before a time, retires
	// those whose overlap has ended by now, and returns the projects of the latter.
	PurgeRetired(ctx context.Context, before, now time.Time) (projectIDs []string, err error)
	// ProjectsWithDueNotices returns the projects with an overlap that has not ended
	// and whose NoticeAt has passed. ConsumeNotices returns the due notices of a
	// project and marks them as sent.
	ProjectsWithDueNotices(ctx context.Context, now time.Time) (projectIDs []string, err error)
	ConsumeNotices(ctx context.Context, projectID string, now time.Time) ([]Notice, error)
	// EndingOverlaps returns at most limit overlaps of a project, or of all projects for an
	// empty ID, that end after one time and not after another, the first to end first.
	EndingOverlaps(ctx context.Context, projectID string, after, until time.Time, limit int) ([]EndingOverlap, error)
	audit.Appender
}

// Service creates, rotates, caches and looks up credentials.
type Service struct {
	store    Store
	projects *project.Service
	now      func() time.Time
	newID    func() string

	keyrings            sync.Map // project id → *Keyring
	retired             sync.Map // hash of a retired API key → APIKey
	index               *keyIndex
	invalidateMu        sync.Mutex
	inDoubt             map[string]uint64 // see InvalidateInDoubt; project id → generation; guarded by invalidateMu
	generation          atomic.Uint64     // number of invalidations
	cacheBypassed       atomic.Bool       // everything is read from the database
	publishInvalidation func(projectID string)
	recordEvent         project.EventRecorder
}

// Option is an optional setting of NewService.
type Option func(*Service)

// WithInvalidationPublisher sets the function that publishes every change to the
// other nodes. Without it changes are not published. The cache is bypassed until
// EnableCache, because this node does not receive the changes of other nodes yet.
func WithInvalidationPublisher(publish func(projectID string)) Option {
	return func(s *Service) {
		s.publishInvalidation = publish
		s.cacheBypassed.Store(true)
	}
}

// WithEventRecorder sets the recorder of credential events. Without it events are
// not recorded.
func WithEventRecorder(record project.EventRecorder) Option {
	return func(s *Service) { s.recordEvent = record }
}

// NewService returns a Service.
func NewService(store Store, projects *project.Service, now func() time.Time, newID func() string,
	options ...Option) *Service {
	s := &Service{
		store:               store,
		projects:            projects,
		now:                 now,
		newID:               newID,
		index:               newKeyIndex(),
		inDoubt:             map[string]uint64{},
		publishInvalidation: func(string) {},
		recordEvent:         func(context.Context, project.Project, event.Type, event.ProjectData) error { return nil },
	}
	for _, apply := range options {
		apply(s)
	}
	return s
}

// CreateProject creates a project together with its first API key and project
// secret, in one transaction.
func (s *Service) CreateProject(ctx context.Context, d project.Draft) (project.Project, IssuedCredentials, error) {
	var p project.Project
	issued := IssuedCredentials{ProjectSecret: seal.NewProjectSecret(), APIKey: seal.NewAPIKey(d.Test),
		GatewaySecret: seal.NewGatewaySecret(d.Test)}
	err := s.store.Write(ctx, func(ctx context.Context) error {
		var err error
		if p, err = s.projects.Create(ctx, d); err != nil {
			return err
		}
		now := s.now()
		if err := s.store.InsertAPIKey(ctx, APIKey{
			ID:            s.newID(),
			ProjectID:     p.ID,
			Slot:          Current,
			Key:           issued.APIKey,
			GatewaySecret: issued.GatewaySecret,
			CreatedAt:     now,
		}); err != nil {
			return err
		}
		return s.store.InsertProjectSecret(ctx, ProjectSecret{
			ID:        s.newID(),
			ProjectID: p.ID,
			Slot:      Current,
			Secret:    issued.ProjectSecret,
			CreatedAt: now,
		})
	})
	if err == nil {
		s.InvalidateAndPublish(p.ID)
	}
	return p, issued, err
}
