package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
)

// SpecChange is a change of the settings of a scheduled room; see Spec. Nil fields
// and a zero start time are left unchanged.
type SpecChange struct {
	StartAt         time.Time
	Title           *string
	WelcomeMessage  *string
	CreatorName     *string
	ExternalUserID  *string
	LogoutURL       *string
	WebhookURL      *string
	MaxParticipants *int
	EmptyTimeout    *time.Duration // 0 means the project's default
	Duration        *time.Duration // 0 means the limit of the plan
	BreakoutRooms   *int           // 0 means none
}

// Reschedule changes a scheduled room, with the same bounds and policy as for its
// creation, and returns it with a new link for its host. Earlier links stay valid.
// The project must allow joins. Errors: NotFound, Conflict when the room is no
// longer scheduled, Forbidden (project), Invalid with the field and the bound.
func (s *Bookings) Reschedule(ctx context.Context, p project.Project, roomID string, change SpecChange,
	key *IdempotencyKey,
) (Created, error) {
	if saved := key.savedResult(); saved != nil {
		return *saved, nil
	}
	if err := p.AllowsJoins(); err != nil {
		return Created{}, err
	}
	allowed, err := s.entitlements(ctx, p)
	if err != nil {
		return Created{}, err
	}
	var out Created
	err = s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if err := r.checkOwner(p); err != nil {
			return err
		}
		adjusted, err := change.apply(&r.Spec, allowed, p.Settings, now)
		if err != nil {
			return err
		}
		if r.State != Scheduled {
			return fault.New(fault.Conflict, "room_not_scheduled",
				"only a scheduled room can be rescheduled, and this one is %s", r.State)
		}
		r.reschedule(now)
		if err := s.store.UpdateRoomSpec(ctx, r); err != nil {
			return err
		}
		host := Invitation{Role: Host, SingleUse: true, Name: r.CreatorName, UserID: r.ExternalUserID}
		link, err := s.createLink(ctx, r, host, now)
		if err != nil {
			return err
		}
		out = Created{
			ID:           r.ID,
			ClientRoomID: r.ClientRoomID,
			Type:         r.Type,
			StartAt:      r.StartAt,
			FinalLink:    link,
			GuestLink:    s.publicURL() + "/r/" + r.ID,
			Adjusted:     adjusted,
		}
		return s.saveResult(ctx, key, out, now)
	})
	if err != nil {
		return Created{}, err
	}
	return out, nil
}

// apply changes the settings of a room as far as the policy allows, and returns the
// names of the features that were lowered. It does not check unchanged limits again,
// because the plan may have changed since the room was created.
func (c SpecChange) apply(spec *Spec, allowed Entitlements, settings project.Settings, now time.Time) (
	adjusted []string, err error,
) {
	changed := *spec
	changed.MaxParticipants, changed.EmptyTimeout, changed.Duration, changed.BreakoutRooms = 1, 0, 0, 0
	if !c.StartAt.IsZero() {
		if err := checkStart(c.StartAt, now); err != nil {
			return nil, err
		}
		changed.StartAt = c.StartAt
	}
	setIfGiven(&changed.Title, c.Title)
	setIfGiven(&changed.WelcomeMessage, c.WelcomeMessage)
	setIfGiven(&changed.CreatorName, c.CreatorName)
	setIfGiven(&changed.ExternalUserID, c.ExternalUserID)
	setIfGiven(&changed.LogoutURL, c.LogoutURL)
	setIfGiven(&changed.WebhookURL, c.WebhookURL)
	setIfGiven(&changed.MaxParticipants, c.MaxParticipants)
	setIfGiven(&changed.EmptyTimeout, c.EmptyTimeout)
	setIfGiven(&changed.Duration, c.Duration)
	setIfGiven(&changed.BreakoutRooms, c.BreakoutRooms)
	changed.NoBreakoutRooms = changed.BreakoutRooms == 0
	if adjusted, err = changed.resolve(allowed, settings); err != nil {
		return nil, err
	}
	if c.MaxParticipants == nil {
		changed.MaxParticipants = spec.MaxParticipants
	}
	if c.EmptyTimeout == nil {
		changed.EmptyTimeout = spec.EmptyTimeout
	}
	if c.Duration == nil {
		changed.Duration = spec.Duration
	}
	if c.BreakoutRooms == nil {
		changed.BreakoutRooms = spec.BreakoutRooms
	}
	*spec = changed
	return adjusted, nil
}

// setIfGiven sets *target to *value unless value is nil.
func setIfGiven[T any](target *T, value *T) {
	if value != nil {
		*target = *value
	}
}
