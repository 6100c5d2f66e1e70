package manage

import (
	"bytes"
	"encoding/json"

	"parley/internal/event"
	"parley/internal/project"
)

// newProjectSettings converts the settings of a project to their JSON form.
func newProjectSettings(s project.Settings) ProjectSettings {
	return ProjectSettings{
		RequireSecretSignatures: s.RequireSecretSignatures,
		DefaultEmptyTimeout:     s.DefaultEmptyTimeout,
		DefaultLogoutUrl:        s.DefaultLogoutURL,
		DefaultWebhookUrl:       s.DefaultWebhookURL,
		InvitationsRequired:     s.InvitationsRequired,
		HiddenParticipants:      s.HiddenParticipants,
		EmbedOrigins:            append([]string{}, s.EmbedOrigins...),
		BrandName:               s.BrandName,
		BrandColor:              s.BrandColor,
		WebhookEvents:           convertStrings[string](s.WebhookEvents),
		Features: ProjectFeatures{
			MaxParticipants: s.Features.MaxParticipants,
			RoomDuration:    s.Features.RoomDuration,
			BreakoutRooms:   s.Features.BreakoutRooms,
			Camera:          !s.Features.NoCamera,
			ScreenShare:     !s.Features.NoScreenShare,
			Chat:            !s.Features.NoChat,
		},
		Locks: ProjectLocks{
			Microphone:  s.Locks.Microphone,
			Camera:      s.Locks.Camera,
			ScreenShare: s.Locks.ScreenShare,
			Chat:        s.Locks.Chat,
			WaitingRoom: s.Locks.WaitingRoom,
		},
		Retention: ProjectRetention{RoomsDays: s.Retention.RoomsDays, PeopleDays: s.Retention.PeopleDays,
			DeliveriesDays: s.Retention.DeliveriesDays, CallsDays: s.Retention.CallsDays},
	}
}

// toDomain is the inverse of newProjectSettings.
func (s ProjectSettings) toDomain() project.Settings {
	return project.Settings{
		RequireSecretSignatures: s.RequireSecretSignatures,
		DefaultEmptyTimeout:     s.DefaultEmptyTimeout,
		DefaultLogoutURL:        s.DefaultLogoutUrl,
		DefaultWebhookURL:       s.DefaultWebhookUrl,
		InvitationsRequired:     s.InvitationsRequired,
		HiddenParticipants:      s.HiddenParticipants,
		EmbedOrigins:            s.EmbedOrigins,
		BrandName:               s.BrandName,
		BrandColor:              s.BrandColor,
		WebhookEvents:           convertStrings[event.Type](s.WebhookEvents),
		Features: project.Features{
			MaxParticipants: s.Features.MaxParticipants,
			RoomDuration:    s.Features.RoomDuration,
			BreakoutRooms:   s.Features.BreakoutRooms,
			NoCamera:        !s.Features.Camera,
			NoScreenShare:   !s.Features.ScreenShare,
			NoChat:          !s.Features.Chat,
		},
		Locks: project.Locks{
			Microphone:  s.Locks.Microphone,
			Camera:      s.Locks.Camera,
			ScreenShare: s.Locks.ScreenShare,
			Chat:        s.Locks.Chat,
			WaitingRoom: s.Locks.WaitingRoom,
		},
		Retention: project.Retention{RoomsDays: s.Retention.RoomsDays, PeopleDays: s.Retention.PeopleDays,
			DeliveriesDays: s.Retention.DeliveriesDays, CallsDays: s.Retention.CallsDays},
	}
}

// convertStrings converts the strings of a list to another type. It returns an
// empty list for nil.
func convertStrings[To, From ~string](from []From) []To {
	to := make([]To, len(from))
	for i, value := range from {
		to[i] = To(value)
	}
	return to
}

// patchSettings applies body to the settings as a JSON merge patch (RFC 7396): an
// absent field keeps its value, and null restores the default. The caller has
// checked the body against ProjectChanges.
func patchSettings(to *project.Settings, body []byte) error {
	current, err := toJSONObject(newProjectSettings(*to))
	if err != nil {
		return err
	}
	defaults, err := toJSONObject(newProjectSettings(project.Settings{}))
	if err != nil {
		return err
	}
	changes, err := toJSONObject(json.RawMessage(body))
	if err != nil {
		return err
	}
	merge(current, changes, defaults)
	merged, err := json.Marshal(current)
	if err != nil {
		return err
	}
	var out ProjectSettings
	if err := json.Unmarshal(merged, &out); err != nil {
		return err
	}
	*to = out.toDomain()
	return nil
}

func merge(to, changes, defaults map[string]any) {
	for name, value := range changes {
		inner, nested := value.(map[string]any)
		switch {
		case nested:
			merge(to[name].(map[string]any), inner, defaults[name].(map[string]any))
		case value == nil:
			to[name] = defaults[name]
		default:
			to[name] = value
		}
	}
}

// toJSONObject converts a value to its JSON object.
func toJSONObject(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out map[string]any
	return out, d.Decode(&out)
}
