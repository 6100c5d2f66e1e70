package room

import (
	"cmp"
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
)

// RescheduleRequest is a request to change a scheduled room. Nil fields and a zero
// start time are left unchanged.
type RescheduleRequest struct {
	StartAt         time.Time
	MaxParticipants *int
	EmptyTimeout    *int // seconds; 0 means the project's default
	Title           *string
	WelcomeMessage  *string
	Name            *string
	ExternalUserID  *string
	LogoutURL       *string
	WebhookURL      *string
	Duration        *int // minutes; 0 means the limit of the plan
	BreakoutRooms   *int
	IdempotencyKey  *IdempotencyKey
}

// Reschedule changes a scheduled room, with the same bounds and policy as for its
// creation, and returns it with a new link for its host. Earlier links stay valid.
// The project must allow joins. Errors: NotFound, Conflict when the room is no
// longer scheduled, Forbidden (project), Invalid with the field and the bound.
func (s *Service) Reschedule(ctx context.Context, p project.Project, roomID string, q RescheduleRequest) (
	Created, error,
) {
	if saved := q.IdempotencyKey.savedResult(); saved != nil {
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
		adjusted, err := q.apply(r, allowed, p.Settings, now)
		if err != nil {
			return err
		}
		if r.State != Scheduled {
			return fault.New(fault.Conflict, "room_not_scheduled",
				"only a scheduled room can be rescheduled, and this one is %s", r.State)
		}
		r.reschedule(cmp.Or(q.StartAt, r.StartAt), now)
		if err := s.store.UpdateRoomSpec(ctx, r); err != nil {
			return err
		}
		host := Invitation{Role: Host, SingleUse: true, Name: r.CreatorName, UserID: r.ExternalUserID}
		link, err := s.createLink(ctx, r, host, now)
		if err != nil {
			return err
		}
		out = Created{ID: r.ID, ClientRoomID: r.ClientRoomID, Type: r.Type, StartAt: r.StartAt, FinalLink: link,
			GuestLink: s.publicURL() + "/r/" + r.ID, Adjusted: adjusted}
		return s.saveResult(ctx, q.IdempotencyKey, out, now)
	})
	if err != nil {
		return Created{}, err
	}
	return out, nil
}

// apply changes the room as far as the policy allows, except for its start, and
// returns the names of the features that were lowered. It does not check unchanged
// fields again, because the plan may have changed since the room was created.
func (q RescheduleRequest) apply(r *Room, allowed Entitlements, settings project.Settings, now time.Time) (
	adjusted []string, err error,
) {
	request := CreateRequest{Type: r.Type, StartAt: r.StartAt, Name: r.CreatorName, MaxParticipants: 1, Title: r.Title,
		WelcomeMessage: r.WelcomeMessage, ExternalUserID: r.ExternalUserID, LogoutURL: r.LogoutURL, WebhookURL: r.WebhookURL,
		BreakoutRooms: q.BreakoutRooms}
	setIfGiven(&request.MaxParticipants, q.MaxParticipants)
	setIfGiven(&request.EmptyTimeout, q.EmptyTimeout)
	setIfGiven(&request.Title, q.Title)
	setIfGiven(&request.WelcomeMessage, q.WelcomeMessage)
	setIfGiven(&request.Name, q.Name)
	setIfGiven(&request.ExternalUserID, q.ExternalUserID)
	setIfGiven(&request.LogoutURL, q.LogoutURL)
	setIfGiven(&request.WebhookURL, q.WebhookURL)
	setIfGiven(&request.Duration, q.Duration)
	if !q.StartAt.IsZero() {
		if err := checkStart(q.StartAt, now); err != nil {
			return nil, err
		}
		request.StartAt = q.StartAt
	}
	changed, adjusted, err := applyPolicy(allowed, settings, request)
	if err != nil {
		return nil, err
	}
	r.Title, r.WelcomeMessage, r.CreatorName = changed.Title, changed.WelcomeMessage, changed.CreatorName
	r.ExternalUserID, r.LogoutURL, r.WebhookURL = changed.ExternalUserID, changed.LogoutURL, changed.WebhookURL
	if q.MaxParticipants != nil {
		r.MaxParticipants = changed.MaxParticipants
	}
	if q.EmptyTimeout != nil {
		r.EmptyTimeout = changed.EmptyTimeout
	}
	if q.Duration != nil {
		r.Duration = changed.Duration
	}
	if q.BreakoutRooms != nil {
		r.BreakoutRooms = changed.BreakoutRooms
	}
	return adjusted, nil
}

// setIfGiven sets *target to *value unless value is nil.
func setIfGiven[T any](target *T, value *T) {
	if value != nil {
		*target = *value
	}
}
