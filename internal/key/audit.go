package key

import (
	"context"

	"parley/internal/audit"
	"parley/internal/event"
)

// recordChange runs change on the credentials of one kind of a project, whose lock the
// transaction holds, and records it for the audit log. credential is
// event.CredentialKey or event.CredentialSecret.
func (s *Service) recordChange(ctx context.Context, projectID, credential string, forKey, forSecret audit.Action,
	change func() error) error {
	before, err := s.auditFields(ctx, projectID, credential)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := s.auditFields(ctx, projectID, credential)
	if err != nil {
		return err
	}
	action := forKey
	if credential == event.CredentialSecret {
		action = forSecret
	}
	return audit.Record(ctx, s.store, s.now(), audit.Change{
		Action:    action,
		Subject:   projectID,
		ProjectID: projectID,
		Before:    before,
		After:     after,
	})
}

// auditFields returns the ids of the live credentials of one kind and the end of their
// overlap.
func (s *Service) auditFields(ctx context.Context, projectID, credential string) (audit.Fields, error) {
	fields := audit.Fields{}
	if credential == event.CredentialKey {
		keys, err := s.store.APIKeys(ctx, projectID)
		for _, k := range keys {
			fields[string(k.Slot)] = k.ID
			if k.Slot == Overlap {
				fields["overlap_ends_at"] = audit.Timestamp(k.OverlapEndsAt)
			}
		}
		return fields, err
	}
	secrets, err := s.store.ProjectSecrets(ctx, projectID)
	for _, p := range secrets {
		fields[string(p.Slot)] = p.ID
		if p.Slot == Overlap {
			fields["overlap_ends_at"] = audit.Timestamp(p.OverlapEndsAt)
		}
	}
	return fields, err
}
