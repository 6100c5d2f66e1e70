package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// OpenEarlyRequest is a request to open a scheduled room before its start.
type OpenEarlyRequest struct {
	Name           string // the host's display name
	ExternalUserID string // must be empty or the one from the room's creation
	IdempotencyKey *IdempotencyKey
}

// OpenEarly opens a scheduled room now and returns a new link for its host. If the
// room is already open, it only returns the link. The project must allow joins.
// Errors: NotFound, Conflict when the room is over, Forbidden (project), Invalid
// with the field and the bound.
func (s *Bookings) OpenEarly(ctx context.Context, p project.Project, roomID string, q OpenEarlyRequest) (
	link string, err error,
) {
	if saved := q.IdempotencyKey.savedResult(); saved != nil {
		return saved.FinalLink, nil
	}
	if err := validate.Name("name", q.Name, 1, validate.MaxText); err != nil {
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
			return fault.Invalidf("external_user_id cannot first be assigned at start: " +
				"leave it out, or send that of the room's creation")
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
