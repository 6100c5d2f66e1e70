package room

import (
	"cmp"
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
)

// RescheduleRequest is what is asked to be other than at a room's creation. What is nil,
// and a zero start, stays.
type RescheduleRequest struct {
	StartAt         time.Time
	MaxParticipants *int
	EmptyTimeout    *int // seconds; 0 is the project's default
	Title           *string
	WelcomeMessage  *string
	Name            *string
	ExternalUserID  *string
	LogoutURL       *string
	WebhookURL      *string
	Duration        *int // minutes; 0 is the plan's own limit
	BreakoutRooms   *int
	IdempotencyKey  *IdempotencyKey
}

// Reschedule changes a scheduled room, within the same bounds and policy as at
// its creation, and returns it with a fresh link for its host; the first one
// stays good. The project must admit rooms. Refusals: NotFound, Conflict when
// the room is not scheduled any more, Forbidden (project), Invalid with the
// field and the bound.
func (s *Service) Reschedule(ctx context.Context, p project.Project, roomID string, q RescheduleRequest) (Created, error) {
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
			return fault.New(fault.Conflict, "room_not_scheduled", "only a scheduled room can be rescheduled, and this one is %s", r.State)
		}
		r.reschedule(cmp.Or(q.StartAt, r.StartAt), now)
		if err := s.store.UpdateRoomSpec(ctx, r); err != nil {
			return err
		}
		link, err := s.createLink(ctx, r, Invitation{Role: Host, SingleUse: true, Name: r.CreatorName, UserID: r.ExternalUserID}, now)
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

// apply makes the change to the room, its start aside, as the policy allows it,
// and names what was lowered. What stays is not judged anew: a plan may have
// changed since.
func (q RescheduleRequest) apply(r *Room, allowed Entitlements, settings project.Settings, now time.Time) (adjusted []string, err error) {
	asked := CreateRequest{Type: r.Type, StartAt: r.StartAt, Name: r.CreatorName, MaxParticipants: 1, Title: r.Title,
		WelcomeMessage: r.WelcomeMessage, ExternalUserID: r.ExternalUserID, LogoutURL: r.LogoutURL, WebhookURL: r.WebhookURL,
		BreakoutRooms: q.BreakoutRooms}
	setIfGiven(&asked.MaxParticipants, q.MaxParticipants)
	setIfGiven(&asked.EmptyTimeout, q.EmptyTimeout)
	setIfGiven(&asked.Title, q.Title)
	setIfGiven(&asked.WelcomeMessage, q.WelcomeMessage)
	setIfGiven(&asked.Name, q.Name)
	setIfGiven(&asked.ExternalUserID, q.ExternalUserID)
	setIfGiven(&asked.LogoutURL, q.LogoutURL)
	setIfGiven(&asked.WebhookURL, q.WebhookURL)
	setIfGiven(&asked.Duration, q.Duration)
	if !q.StartAt.IsZero() {
		if err := checkStart(q.StartAt, now); err != nil {
			return nil, err
		}
		asked.StartAt = q.StartAt
	}
	decided, adjusted, err := applyPolicy(allowed, settings, asked)
	if err != nil {
		return nil, err
	}
	r.Title, r.WelcomeMessage, r.CreatorName = decided.Title, decided.WelcomeMessage, decided.CreatorName
	r.ExternalUserID, r.LogoutURL, r.WebhookURL = decided.ExternalUserID, decided.LogoutURL, decided.WebhookURL
	if q.MaxParticipants != nil {
		r.MaxParticipants = decided.MaxParticipants
	}
	if q.EmptyTimeout != nil {
		r.EmptyTimeout = decided.EmptyTimeout
	}
	if q.Duration != nil {
		r.Duration = decided.Duration
	}
	if q.BreakoutRooms != nil {
		r.BreakoutRooms = decided.BreakoutRooms
	}
	return adjusted, nil
}

// setIfGiven puts a value that was given where it belongs.
func setIfGiven[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}
