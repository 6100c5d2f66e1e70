package retention

import (
	"context"
	"errors"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/project"
)

// DeleteProject begins the deletion of a suspended project: it ends its rooms, and the
// next sweeps delete everything that belongs to it, then the project itself. The usage of
// the organization stays. Names and IDs of people are erased at once; the rows of a room
// are deleted about a day after its end, when nothing can change its usage any more.
// It does nothing if the deletion has begun. Errors: NotFound, Conflict
// if the project is not suspended.
func (s *Service) DeleteProject(ctx context.Context, id string) error {
	err := s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.LockProject(ctx, id); err != nil {
			return err
		}
		p, err := s.store.Project(ctx, id)
		switch {
		case err != nil || p.Deleted():
			return err
		case !p.Suspended():
			return fault.New(fault.Conflict, "project_not_suspended",
				"the project is not suspended: suspend it first, so that nobody uses it any more")
		}
		now := s.now()
		if err := s.store.MarkProjectDeleted(ctx, id, now); err != nil {
			return err
		}
		return s.recordProject(ctx, audit.ProjectDeleting, p, audit.Fields{"deleted_at": audit.Timestamp(now)})
	})
	if err != nil {
		return err
	}
	if err := s.rooms.EndAllRooms(ctx, id); err != nil {
		return err
	}
	s.changed(id)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

// emptyProject deletes everything of a project except its own row, if it has no rooms left. It
// reports whether it has.
func (s *Service) emptyProject(ctx context.Context, id string) (bool, error) {
	// A crash may have left rooms that are not over.
	if err := s.rooms.EndAllRooms(ctx, id); err != nil {
		return false, err
	}
	hasRooms, err := s.store.HasRooms(ctx, id)
	if err != nil || hasRooms {
		return false, err
	}
	err = s.repeatToEnd(ctx, func(ctx context.Context) (int, error) {
		return s.store.DeleteProjectRows(ctx, id, s.batchRows)
	})
	if err == nil {
		s.changed(id) // so that calls with its deleted keys are unknown from now on
	}
	return err == nil, err
}

// finishDeletions compacts the files of the database and then deletes the rows of projects that
// were emptied, each with a receipt in the audit log. The compaction comes first, so that a
// sweep after a crash repeats it, and once, because writes wait for it. finishDeletions waits until it is
// complete, because rows can be deleted only after it. If it fails, the projects are deleted nevertheless, because each
// attempt blocks writes, and a later sweep compacts the files.
func (s *Service) finishDeletions(ctx context.Context, projects []project.Project) error {
	if len(projects) == 0 {
		return nil
	}
	compaction := s.compactInSweep(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var errs []error
	for _, p := range projects {
		errs = append(errs, s.finishDeletion(ctx, p, compaction))
	}
	return errors.Join(errs...)
}

// finishDeletion deletes the rows that a project has got since it was emptied, and then the row of the project. It
// deletes nothing if the project has rooms, or if another node has deleted it. If there are too many rows for one
// transaction, it deletes one batch and keeps the row of the project for the next sweep.
func (s *Service) finishDeletion(ctx context.Context, p project.Project, compaction Compaction) error {
	var deleted Deleted
	finished := false
	err := s.store.WriteInBackground(ctx, func(ctx context.Context) error {
		finished = false
		if err := s.store.LockProject(ctx, p.ID); fault.Is(err, fault.NotFound) {
			return nil
		} else if err != nil {
			return err
		}
		hasRooms, err := s.store.HasRooms(ctx, p.ID)
		if err != nil || hasRooms {
			return err
		}
		if rows, err := s.store.DeleteProjectRows(ctx, p.ID, s.batchRows); err != nil || rows == s.batchRows {
			return err
		}
		finished = true
		if deleted, err = s.store.Deleted(ctx, p.ID); err != nil {
			return err
		}
		if err := s.recordUnrecordedSweeps(ctx, p.ID); err != nil {
			return err
		}
		if err := s.recordUnfinishedErasures(ctx, p.ID, s.now().Add(erasurePeriod)); err != nil {
			return err
		}
		if err := s.store.DeleteProject(ctx, p.ID); err != nil {
			return err
		}
		if compaction == CompactionFailed {
			if err := s.store.MarkCompactionDue(ctx); err != nil {
				return err
			}
		}
		return s.recordProject(ctx, audit.ProjectDeleted, p, audit.Fields{"rooms": deleted.Rooms, "seats": deleted.Seats,
			"connections": deleted.Connections, "links": deleted.Links, "events": deleted.Events,
			"deliveries": deleted.Deliveries, "compaction": compaction})
	})
	if err == nil && finished {
		s.changed(p.ID)
		s.log.Info("project deleted", "project_id", p.ID, "rooms", deleted.Rooms, "compaction", compaction)
	}
	return err
}

func (s *Service) recordProject(ctx context.Context, action audit.Action, p project.Project, after audit.Fields) error {
	return audit.Record(ctx, s.store, s.now(), audit.Change{
		Action:    action,
		Subject:   p.ID,
		ProjectID: p.ID,
		Before:    audit.Fields{"name": p.Name, "organization_id": p.OrganizationID},
		After:     after,
	})
}

// OrganizationDeletion is the receipt of the deletion of an organization.
type OrganizationDeletion struct {
	UsageHours int // rolled-up hours of usage, of the organization and of each of its projects
	Compaction Compaction
}

// organizationBatch is the number of rows that one transaction of the deletion of an
// organization deletes.
const organizationBatch = 500

// DeleteOrganization deletes an organization without projects, and its usage. After an error,
// also after an interruption, it can be called again, and returns the counts of all calls. It
// succeeds even if the compaction of the files does not finish, which a later sweep then does. Errors: NotFound,
// Conflict if it has projects.
func (s *Service) DeleteOrganization(ctx context.Context, id string) (done OrganizationDeletion, err error) {
	for finished := false; !finished; {
		err := s.store.WriteInBackground(ctx, func(ctx context.Context) error {
			finished = false
			if err := s.store.LockOrganization(ctx, id); err != nil {
				return err
			}
			projects, err := s.store.ProjectIDs(ctx, id)
			if err != nil {
				return err
			}
			if len(projects) > 0 {
				return fault.New(fault.Conflict, "organization_has_projects",
					"the organization has projects (%d): delete them first", len(projects))
			}
			if err := s.store.MarkCompactionDue(ctx); err != nil {
				return err
			}
			var hours, rows int
			if hours, rows, err = s.store.DeleteOrganizationRows(ctx, id, organizationBatch); err != nil {
				return err
			}
			// The count is in the database, because the receipt outlives a crash.
			if done.UsageHours, err = s.store.AddDeletedHours(ctx, id, hours, s.now()); err != nil || rows == organizationBatch {
				return err
			}
			finished = true
			if err := s.store.DeleteOrganization(ctx, id); err != nil {
				return err
			}
			return audit.Record(ctx, s.store, s.now(), audit.Change{Action: audit.OrganizationDeleted, Subject: id,
				Before: audit.Fields{"organization_id": id}, After: audit.Fields{"usage_hours": done.UsageHours}})
		})
		if err != nil {
			return done, err
		}
	}
	done.Compaction = s.compactFor(ctx, compactionWait)
	return done, nil
}
