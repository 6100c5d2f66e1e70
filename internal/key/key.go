// Package key holds the credentials of projects: API keys with their Gateway
// secrets, and project secrets. It imports the standard library, fault, event,
// seal and project.
package key

import (
	"context"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"parley/internal/event"
	"parley/internal/project"
	"parley/internal/seal"
)

// Slot is the place a credential has among those of its project.
type Slot string

// A project has one current credential of each sort and, during a rotation,
// one overlap credential. Both are live; retired ones are not.
const (
	Current Slot = "current"
	Overlap Slot = "overlap"
	Retired Slot = "retired"
)

// APIKey names a credential of one project and carries its Gateway secret.
// Both are sealed at rest and kept in clear only in memory.
type APIKey struct {
	ID            string
	ProjectID     string
	Slot          Slot
	Key           seal.Secret
	GatewaySecret seal.Secret
	CreatedAt     time.Time
	RetiringSince time.Time // zero unless Slot is Overlap
	OverlapEndsAt time.Time // zero unless Slot is Overlap

	hash [sha256.Size]byte // of Key; set in rings
}

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

// IssuedCredentials is what a new project's client needs; shown once, never read back.
type IssuedCredentials struct {
	ProjectSecret seal.Secret
	APIKey        seal.Secret
	GatewaySecret seal.Secret
}

// Store keeps credentials, sealed.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
	InsertAPIKey(ctx context.Context, k APIKey) error
	InsertProjectSecret(ctx context.Context, s ProjectSecret) error
	// APIKeys and LiveProjectSecrets return those of a project that are not
	// retired, the current one first.
	APIKeys(ctx context.Context, projectID string) ([]APIKey, error)
	ProjectSecrets(ctx context.Context, projectID string) ([]ProjectSecret, error)
	Project(ctx context.Context, id string) (project.Project, error)
	// LockProject keeps others from changing the project or its credentials
	// until the transaction ends; NotFound when there is none of that id.
	LockProject(ctx context.Context, id string) error
	// UpdateAPIKey and UpdateProjectSecret write slot, retirement and overlap; a
	// credential that is retired is so from now.
	UpdateAPIKey(ctx context.Context, k APIKey, now time.Time) error
	UpdateProjectSecret(ctx context.Context, s ProjectSecret, now time.Time) error
	// APIKeyByHash returns a key in any slot; NotFound when there is none or
	// it was forgotten.
	APIKeyByHash(ctx context.Context, hash string) (APIKey, error)
	// APIKeyHashes gives the hash of every API key of a project, in any slot;
	// of all projects when the id is empty.
	APIKeyHashes(ctx context.Context, projectID string, each func(hash, projectID string)) error
	Organization(ctx context.Context, id string) (project.Organization, error)
	// PurgeRetired forgets credentials that were retired before a moment, and
	// returns the projects whose overlap has ended by now; those credentials
	// are retired by it.
	PurgeRetired(ctx context.Context, before, now time.Time) (projectIDs []string, err error)
	// ProjectsWithDueNotices returns the projects with an overlap whose NoticeAt has come
	// and that goes on; ConsumeNotices returns those of a project, and they are
	// due no more.
	ProjectsWithDueNotices(ctx context.Context, now time.Time) (projectIDs []string, err error)
	ConsumeNotices(ctx context.Context, projectID string, now time.Time) ([]Notice, error)
}

// Service makes credentials and answers which are live.
type Service struct {
	store    Store
	projects *project.Service
	now      func() time.Time
	newID    func() string

	keyrings            sync.Map // project id → *Ring
	retired             sync.Map // hash of an API key → APIKey that is not in a ring any more
	index               *keyIndex
	invalidateMu        sync.Mutex
	generation          atomic.Uint64 // how often something was forgotten
	cacheBypassed       atomic.Bool   // nothing is answered from memory
	publishInvalidation func(projectID string)
	recordEvent         project.EventRecorder
}

// NewService returns a Service.
func NewService(store Store, projects *project.Service, now func() time.Time, newID func() string) *Service {
	return &Service{store: store, projects: projects, now: now, newID: newID, index: newKeyIndex(), publishInvalidation: func(string) {},
		recordEvent: func(context.Context, project.Project, event.Type, event.ProjectData) error { return nil }}
}

// SetInvalidationPublisher has every change told to the other nodes. Call it before the
// first change.
func (s *Service) SetInvalidationPublisher(tell func(projectID string)) { s.publishInvalidation = tell }

// SetEventRecorder has events of credentials noted. Call it before the first change;
// without it they are not.
func (s *Service) SetEventRecorder(note project.EventRecorder) { s.recordEvent = note }

// CreateProject makes a project together with its first API key and project
// secret, in one transaction.
func (s *Service) CreateProject(ctx context.Context, organizationID, name string) (project.Project, IssuedCredentials, error) {
	var p project.Project
	issued := IssuedCredentials{ProjectSecret: seal.NewProjectSecret(), APIKey: seal.NewAPIKey(), GatewaySecret: seal.NewGatewaySecret()}
	err := s.store.Write(ctx, func(ctx context.Context) error {
		var err error
		if p, err = s.projects.Create(ctx, organizationID, name); err != nil {
			return err
		}
		now := s.now()
		if err := s.store.InsertAPIKey(ctx, APIKey{ID: s.newID(), ProjectID: p.ID, Slot: Current,
			Key: issued.APIKey, GatewaySecret: issued.GatewaySecret, CreatedAt: now}); err != nil {
			return err
		}
		return s.store.InsertProjectSecret(ctx, ProjectSecret{ID: s.newID(), ProjectID: p.ID, Slot: Current,
			Secret: issued.ProjectSecret, CreatedAt: now})
	})
	if err == nil {
		s.InvalidateAndPublish(p.ID)
	}
	return p, issued, err
}

// Live reports whether the key may be used at now.
func (k APIKey) Live(now time.Time) bool {
	return k.Slot == Current || k.Slot == Overlap && now.Before(k.OverlapEndsAt)
}

// Keys returns the API keys of the ring, the current one first. Who calls it
// asks Live of each.
func (r *Keyring) Keys() []APIKey { return r.keys }

// Keyring is a project with its live credentials, unsealed: what it takes to
// check a signature without asking the database.
type Keyring struct {
	Project      project.Project
	Organization project.Organization
	keys         []APIKey
	secrets      []ProjectSecret

	verified atomic.Int32 // index of the credential that verified last
}

// LiveAPIKeys returns the live API keys at now.
func (r *Keyring) LiveAPIKeys(now time.Time) []string {
	live := make([]string, 0, len(r.keys))
	for _, k := range r.keys {
		if k.Live(now) {
			live = append(live, k.Key.Reveal())
		}
	}
	return live
}

// LiveProjectSecrets returns the live project secrets at now.
func (r *Keyring) LiveProjectSecrets(now time.Time) []string {
	live := make([]string, 0, len(r.secrets))
	for _, k := range r.secrets {
		if k.Slot == Current || now.Before(k.OverlapEndsAt) {
			live = append(live, k.Secret.Reveal())
		}
	}
	return live
}
