package project

import (
	"parley/internal/audit"
	"parley/internal/event"
)

// auditFields returns the values of the organization for the audit log.
func (o Organization) auditFields() audit.Fields {
	return audit.Fields{"name": o.Name, "plan": o.Plan, "currency": o.Currency, "unit_price": o.UnitPrice,
		"suspended_at": audit.Timestamp(o.SuspendedAt)}
}

// createdFields returns the values of a new project for the audit log.
func (p Project) createdFields() audit.Fields {
	return audit.Fields{"name": p.Name, "organization_id": p.OrganizationID, "test": p.Test}
}

// auditFields returns the values of the project for the audit log, under the names that
// the management API and the command line use.
func (p Project) auditFields() audit.Fields {
	s := p.Settings
	return audit.Fields{
		"name":                      p.Name,
		"status":                    p.Status,
		"suspended_at":              audit.Timestamp(p.SuspendedAt),
		"require_secret_signatures": s.RequireSecretSignatures,
		"default_empty_timeout":     s.DefaultEmptyTimeout,
		"default_logout_url":        s.DefaultLogoutURL,
		"default_webhook_url":       audit.Target(s.DefaultWebhookURL),
		"webhook_events":            append([]event.Type{}, s.WebhookEvents...),
		"invitations_required":      s.InvitationsRequired,
		"hidden_participants":       s.HiddenParticipants,
		"embed_origins":             append([]string{}, s.EmbedOrigins...),
		"brand_name":                s.BrandName,
		"brand_color":               s.BrandColor,
		"features.max_participants": s.Features.MaxParticipants,
		"features.room_duration":    s.Features.RoomDuration,
		"features.breakout_rooms":   s.Features.BreakoutRooms,
		"features.camera":           !s.Features.NoCamera,
		"features.screen_share":     !s.Features.NoScreenShare,
		"features.chat":             !s.Features.NoChat,
		"locks.microphone":          s.Locks.Microphone,
		"locks.camera":              s.Locks.Camera,
		"locks.screen_share":        s.Locks.ScreenShare,
		"locks.chat":                s.Locks.Chat,
		"locks.waiting_room":        s.Locks.WaitingRoom,
		"retention.rooms_days":      s.Retention.RoomsDays,
		"retention.people_days":     s.Retention.PeopleDays,
		"retention.deliveries_days": s.Retention.DeliveriesDays,
		"retention.calls_days":      s.Retention.CallsDays,
	}
}
