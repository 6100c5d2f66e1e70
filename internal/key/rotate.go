package key

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/seal"
)

const (
	// DefaultOverlap is how long the old credential keeps working by default.
	DefaultOverlap = 24 * time.Hour
	// MaxOverlap is the longest overlap.
	MaxOverlap = 7 * 24 * time.Hour
	// retiredRetention is how long a retired credential is kept, sealed, so that its
	// owner can see why a call with it was refused.
	retiredRetention = 7 * 24 * time.Hour
)

// Rotation contains the options of a rotation.
type Rotation struct {
	Overlap time.Duration // how long the old credential keeps working; 0 ends it at once
	Force   bool          // rotate also during an overlap, and revoke the overlap credential
}

func (r Rotation) validate() error {
	if r.Overlap < 0 || r.Overlap > MaxOverlap {
		return fault.Invalidf("overlap must be between 0 and 7d, not %s", r.Overlap)
	}
	return nil
}

// RotatedKey is a new API key with its Gateway secret, shown once.
type RotatedKey struct {
	APIKey        seal.Secret
	GatewaySecret seal.Secret
	OverlapEndsAt time.Time // when the old pair stops working
}

// RotatedSecret is a new project secret, shown once.
type RotatedSecret struct {
	ProjectSecret seal.Secret
	OverlapEndsAt time.Time
}

var (
	errOverlap = fault.New(fault.Conflict, "overlap_in_force",
		"the overlap of the last rotation has not ended")
	errNoOverlap = fault.New(fault.NotFound, "no_overlap", "there is no overlap of API keys")
	// ErrNoSecretOverlap is the error of RevokeSecretOverlap without an overlap in force.
	ErrNoSecretOverlap = fault.New(fault.NotFound, "no_overlap", "there is no overlap of project secrets")
)

// RotateKey creates a new API key with a new Gateway secret. The old pair works
// until the overlap ends. It fails with NotFound, with Conflict during an overlap,
// and with Invalid for an overlap out of bounds.
func (s *Service) RotateKey(ctx context.Context, projectID string, options Rotation) (RotatedKey, error) {
	var out RotatedKey
	err := s.rotate(ctx, projectID, event.CredentialKey, options, func(ctx context.Context, r rotating) error {
		out = RotatedKey{
			APIKey:        seal.NewAPIKey(r.project.Test),
			GatewaySecret: seal.NewGatewaySecret(r.project.Test),
			OverlapEndsAt: r.ends,
		}
		keys, err := s.store.APIKeys(ctx, projectID)
		if err != nil {
			return err
		}
		// The overlap slot must be empty before the current key moves into it.
		for _, k := range slices.Backward(keys) {
			if k.Slot, err = options.nextSlot(k.Slot, r.now, k.OverlapEndsAt); err != nil {
				return err
			}
			k.RetiringSince, k.OverlapEndsAt = overlapTimes(k.Slot, r.now, r.ends)
			if err := s.store.UpdateAPIKey(ctx, k, r.now); err != nil {
				return err
			}
		}
		return s.store.InsertAPIKey(ctx, APIKey{
			ID:            s.newID(),
			ProjectID:     projectID,
			Slot:          Current,
			Key:           out.APIKey,
			GatewaySecret: out.GatewaySecret,
			CreatedAt:     r.now,
		})
	})
	return out, err
}

// RotateSecret creates a new project secret; otherwise it works like RotateKey.
func (s *Service) RotateSecret(ctx context.Context, projectID string, options Rotation) (RotatedSecret, error) {
	var out RotatedSecret
	err := s.rotate(ctx, projectID, event.CredentialSecret, options,
		func(ctx context.Context, r rotating) error {
			out = RotatedSecret{ProjectSecret: seal.NewProjectSecret(), OverlapEndsAt: r.ends}
			secrets, err := s.store.ProjectSecrets(ctx, projectID)
			if err != nil {
				return err
			}
			for _, p := range slices.Backward(secrets) {
				if p.Slot, err = options.nextSlot(p.Slot, r.now, p.OverlapEndsAt); err != nil {
					return err
				}
				p.RetiringSince, p.OverlapEndsAt = overlapTimes(p.Slot, r.now, r.ends)
				if err := s.store.UpdateProjectSecret(ctx, p, r.now); err != nil {
					return err
				}
			}
			return s.store.InsertProjectSecret(ctx, ProjectSecret{
				ID:        s.newID(),
				ProjectID: projectID,
				Slot:      Current,
				Secret:    out.ProjectSecret,
				CreatedAt: r.now,
			})
		})
	return out, err
}

// rotating is a rotation that a transaction carries out.
type rotating struct {
	project   project.Project
	now, ends time.Time // ends is when the old credential stops working
}

// rotate runs one rotation. It locks the row of the project, so that only one of
// two concurrent rotations succeeds.
func (s *Service) rotate(ctx context.Context, projectID, credential string, options Rotation,
	work func(ctx context.Context, r rotating) error,
) error {
	if err := options.validate(); err != nil {
		return err
	}
	err := s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.LockProject(ctx, projectID); err != nil {
			return err
		}
		p, err := s.store.Project(ctx, projectID)
		if err != nil {
			return err
		}
		now := s.now()
		r := rotating{p, now, now.Add(options.Overlap)}
		return s.recordChange(ctx, projectID, credential, audit.KeyRotated, audit.SecretRotated, func() error {
			if err := work(ctx, r); err != nil {
				return err
			}
			return s.recordCredentialEvent(ctx, p, event.KeyRotated, credential, r.ends)
		})
	})
	s.invalidateAfter(projectID, err)
	return err
}

// recordCredentialEvent records an event of a credential whose overlap ends at
// ends.
func (s *Service) recordCredentialEvent(ctx context.Context, p project.Project, kind event.Type,
	credential string, ends time.Time) error {
	ends = ends.UTC().Truncate(time.Millisecond)
	return s.recordEvent(ctx, p, kind, event.ProjectData{Credential: credential, OverlapEndsAt: &ends})
}

// overlapNoticeLead is how long before the end of an overlap the notice is sent.
// If half of the overlap is shorter, that is used instead.
const overlapNoticeLead = time.Hour

// Notice is an overlap that is about to end.
type Notice struct {
	Credential string // event.CredentialKey or event.CredentialSecret
	EndsAt     time.Time
}

// NoticeAt returns the time of the notice that the overlap ends; zero without an
// overlap.
func (k APIKey) NoticeAt() time.Time { return noticeAt(k.RetiringSince, k.OverlapEndsAt) }

// NoticeAt returns the time of the notice that the overlap ends; zero without an
// overlap.
func (s ProjectSecret) NoticeAt() time.Time { return noticeAt(s.RetiringSince, s.OverlapEndsAt) }

func noticeAt(since, ends time.Time) time.Time {
	if since.IsZero() || ends.IsZero() {
		return time.Time{}
	}
	return ends.Add(-min(overlapNoticeLead, ends.Sub(since)/2))
}

// announceEndingOverlaps records an event for each overlap that is about to end.
func (s *Service) announceEndingOverlaps(ctx context.Context) error {
	due, err := s.store.ProjectsWithDueNotices(ctx, s.now())
	if err != nil {
		return err
	}
	for _, projectID := range due {
		err := s.store.Write(ctx, func(ctx context.Context) error {
			if err := s.store.LockProject(ctx, projectID); err != nil {
				return err
			}
			p, err := s.store.Project(ctx, projectID)
			if err != nil {
				return err
			}
			notices, err := s.store.ConsumeNotices(ctx, projectID, s.now())
			if err != nil {
				return err
			}
			for _, n := range notices {
				if err := s.recordCredentialEvent(ctx, p, event.KeyOverlapEnding, n.Credential, n.EndsAt); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// nextSlot returns the slot of a live credential after this rotation; Conflict
// during an overlap without Force.
func (r Rotation) nextSlot(slot Slot, now, overlapEndsAt time.Time) (Slot, error) {
	switch {
	case slot == Overlap && now.Before(overlapEndsAt) && !r.Force:
		return slot, errOverlap
	case slot == Current && r.Overlap > 0:
		return Overlap, nil
	}
	return Retired, nil
}

func overlapTimes(slot Slot, now, ends time.Time) (since, until time.Time) {
	if slot == Overlap {
		return now, ends
	}
	return time.Time{}, time.Time{}
}

// RevokeOverlap ends the overlap of API keys at once; NotFound when none is
// in force.
func (s *Service) RevokeOverlap(ctx context.Context, projectID string) error {
	return s.revoke(ctx, projectID, event.CredentialKey, func(ctx context.Context, now time.Time) (bool, error) {
		keys, err := s.store.APIKeys(ctx, projectID)
		if err != nil {
			return false, err
		}
		for _, k := range keys {
			if k.Slot == Overlap {
				live := now.Before(k.OverlapEndsAt)
				k.Slot = Retired
				return live, s.store.UpdateAPIKey(ctx, k, now)
			}
		}
		return false, nil
	}, errNoOverlap)
}

// RevokeSecretOverlap ends the overlap of project secrets at once; ErrNoSecretOverlap
// when none is in force.
func (s *Service) RevokeSecretOverlap(ctx context.Context, projectID string) error {
	return s.revoke(ctx, projectID, event.CredentialSecret, func(ctx context.Context, now time.Time) (bool, error) {
		secrets, err := s.store.ProjectSecrets(ctx, projectID)
		if err != nil {
			return false, err
		}
		for _, p := range secrets {
			if p.Slot == Overlap {
				live := now.Before(p.OverlapEndsAt)
				p.Slot = Retired
				return live, s.store.UpdateProjectSecret(ctx, p, now)
			}
		}
		return false, nil
	}, ErrNoSecretOverlap)
}

// revoke ends the overlap of a credential with work, which reports whether the overlap was in force. If it was not, the
// error is none.
func (s *Service) revoke(ctx context.Context, projectID, credential string,
	work func(ctx context.Context, now time.Time) (bool, error), none error) error {
	err := s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.LockProject(ctx, projectID); err != nil {
			return err
		}
		return s.recordChange(ctx, projectID, credential, audit.KeyOverlapRevoked, audit.SecretOverlapRevoked,
			func() error {
				live, err := work(ctx, s.now())
				if err == nil && !live {
					return none
				}
				return err
			})
	})
	if errors.Is(err, none) {
		// The overlap may have ended by a change in doubt, of which a node that has restarted since knows nothing.
		s.InvalidateAndPublish(projectID)
	}
	s.invalidateAfter(projectID, err)
	return err
}

// Sweep resolves the changes that are in doubt, announces overlaps that are about to end,
// retires credentials whose overlap has ended, and deletes those that were retired
// retiredRetention ago. It must be called periodically. A longer interval delays the notice,
// and keeps the keyrings of changes in doubt out of the cache for longer.
func (s *Service) Sweep(ctx context.Context) error {
	// A project whose lock is held does not keep the others waiting.
	return errors.Join(s.resolveInDoubt(ctx), s.retireEnded(ctx))
}

// retireEnded announces, retires and deletes what Sweep says.
func (s *Service) retireEnded(ctx context.Context) error {
	if err := s.announceEndingOverlaps(ctx); err != nil {
		return err
	}
	var ended []string
	err := s.store.Write(ctx, func(ctx context.Context) (err error) {
		now := s.now()
		ended, err = s.store.PurgeRetired(ctx, now.Add(-retiredRetention), now)
		return err
	})
	if err != nil {
		return err
	}
	s.retired.Clear()
	for _, projectID := range ended {
		s.InvalidateAndPublish(projectID)
	}
	return nil
}
