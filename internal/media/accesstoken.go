package media

import (
	"fmt"

	"github.com/livekit/protocol/auth"
	"github.com/livekit/protocol/livekit"

	"parley/internal/room"
)

// RoleAttribute is the participant attribute that carries the role. Pages of
// the others read it; nobody can write it.
const RoleAttribute = "role"

// AccessToken returns a token that opens one session for one identity and grants
// nothing by itself.
func (e *Engine) AccessToken(p room.AccessTokenSpec) (string, error) {
	if p.Session == "" || p.Identity == "" {
		return "", fmt.Errorf("media: a pass needs a session and an identity")
	}
	if p.TTL <= 0 {
		// LiveKit would take this for six hours.
		return "", fmt.Errorf("media: a pass needs a time to live")
	}
	token, err := auth.NewAccessToken(e.cfg.SigningKey, e.cfg.SigningSecret).
		SetIdentity(p.Identity).
		SetVideoGrant(&auth.VideoGrant{RoomJoin: true, Room: p.Session}).
		SetValidFor(p.TTL).
		ToJWT()
	if err != nil {
		return "", fmt.Errorf("media: sign a pass: %w", err)
	}
	return token, nil
}

// participantGrants returns the claims with which LiveKit admits a participant: those of
// the authorization and nothing of the token.
func participantGrants(session, identity string, a room.Authorization) (*auth.ClaimGrants, error) {
	may, err := participantPermission(a.Type, a.Grants, a.Hidden)
	if err != nil {
		return nil, err
	}
	grant := &auth.VideoGrant{RoomJoin: true, Room: session}
	grant.UpdateFromPermission(may)
	return &auth.ClaimGrants{Identity: identity, Name: a.Name, Video: grant,
		Attributes: map[string]string{RoleAttribute: string(a.Role)}}, nil
}

// participantPermission is what one participant may do: when it connects, and afterwards
// whenever that changes. Everybody may look and listen. Who is hidden
// sends nothing at all: their words would arrive without a sender, as the
// server's do.
func participantPermission(t room.Type, g room.Grants, hidden bool) (*livekit.ParticipantPermission, error) {
	sources, err := allowedSources(t, g)
	if err != nil {
		return nil, err
	}
	if hidden {
		return &livekit.ParticipantPermission{CanSubscribe: true, Hidden: true}, nil
	}
	return &livekit.ParticipantPermission{
		CanSubscribe: true,
		// LiveKit takes an empty list of sources for all of them.
		CanPublish:        len(sources) > 0,
		CanPublishSources: sources,
		CanPublishData:    g.Chat,
	}, nil
}

// allowedSources lists what may be published, by label. What a track really is
// has to be checked elsewhere: see kinds.go.
func allowedSources(t room.Type, g room.Grants) ([]livekit.TrackSource, error) {
	switch t {
	case room.Audio:
		g.Camera, g.ScreenShare = false, false
	case room.Video:
	default:
		return nil, fmt.Errorf("media: unknown room type %q", t)
	}
	var sources []livekit.TrackSource
	if g.Camera {
		sources = append(sources, livekit.TrackSource_CAMERA)
	}
	if g.Microphone {
		sources = append(sources, livekit.TrackSource_MICROPHONE)
	}
	if g.ScreenShare {
		sources = append(sources, livekit.TrackSource_SCREEN_SHARE, livekit.TrackSource_SCREEN_SHARE_AUDIO)
	}
	return sources, nil
}
