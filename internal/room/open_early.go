package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// OpenEarlyRequest says who opens a scheduled room before its start.
type OpenEarlyRequest struct {
	Name           string // the host's display name
	ExternalUserID string // the one the room was created with, or empty
	IdempotencyKey *IdempotencyKey
}

// OpenEarly opens a scheduled room now and returns a link that makes its holder
// the host. Of a room that is open already it returns such a link too. The
// project must admit joins. Refusals: NotFound, Conflict when the room is over,
// Forbidden (project), Invalid with the field and the bound.
func (s *Service) OpenEarly(ctx context.Context, p project.Project, roomID string, q OpenEarlyRequest) (link string, err error) {
	if saved := q.IdempotencyKey.savedResult(); saved != nil {
		return saved.FinalLink, nil
	}
	if err := validate.Name("name", q.Name, 1, maxText); err != nil {
		return "", err
	}
	if err := p.AllowsJoins(); err != nil {
		return "", err
	}
	err = s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if err := r.checkOwner(p); err != nil {
			return err
		}
		if q.ExternalUserID != "" && q.ExternalUserID != r.ExternalUserID {
			return fault.Invalidf("external_user_id cannot first be assigned at start: leave it out, or send that of the room's creation")
		}
		if r.Over() {
			return errRoomOver(r)
		}
		r.openEarly(now)
		host := Invitation{Role: Host, SingleUse: true, Name: q.Name, UserID: q.ExternalUserID}
		if link, err = s.createLink(ctx, r, host, now); err != nil {
			return err
		}
		return s.saveResult(ctx, q.IdempotencyKey, Created{ID: r.ID, Type: r.Type, FinalLink: link}, now)
	})
	return link, err
}
