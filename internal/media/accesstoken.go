package media

import (
	"fmt"

	"github.com/livekit/protocol/auth"
	"github.com/livekit/protocol/livekit"

	"parley/internal/room"
)

// RoleAttribute is the participant attribute that carries the role. The pages of
// all participants read it, and no participant can write it.
const RoleAttribute = "role"

// AccessToken returns a token that identifies one participant of one session. The
// token grants nothing by itself, because the authorizer decides at each connection.
// It returns an error if the session, the identity or the time to live is missing.
func (e *Engine) AccessToken(p room.AccessTokenSpec) (string, error) {
	if p.Session == "" || p.Identity == "" {
		return "", fmt.Errorf("media: an access token needs a session and an identity")
	}
	if p.TTL <= 0 {
		// LiveKit replaces a missing time to live by six hours.
		return "", fmt.Errorf("media: the time to live of an access token must be positive")
	}
	token, err := auth.NewAccessToken(e.cfg.SigningKey, e.cfg.SigningSecret).
		SetIdentity(p.Identity).
		SetVideoGrant(&auth.VideoGrant{RoomJoin: true, Room: p.Session}).
		SetValidFor(p.TTL).
		ToJWT()
	if err != nil {
		return "", fmt.Errorf("media: sign an access token: %w", err)
	}
	return token, nil
}

// participantGrants returns the claims with which LiveKit admits a participant. They
// contain the authorization and nothing of the token.
func participantGrants(session, identity string, a room.Authorization) (*auth.ClaimGrants, error) {
	permission, err := participantPermission(a.Type, a.Grants, a.Hidden)
	if err != nil {
		return nil, err
	}
	grant := &auth.VideoGrant{RoomJoin: true, Room: session}
	grant.UpdateFromPermission(permission)
	return &auth.ClaimGrants{Identity: identity, Name: a.Name, Video: grant,
		Attributes: map[string]string{RoleAttribute: string(a.Role)}}, nil
}

// participantPermission returns the LiveKit permission of a participant. It is used when
// the participant connects and whenever the grants change. Every participant may
// subscribe. A hidden participant may not send anything, because a message of a hidden
// participant would arrive without a sender, as the messages of the server do.
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
		// LiveKit treats an empty list of sources as all sources.
		CanPublish:        len(sources) > 0,
		CanPublishSources: sources,
		CanPublishData:    g.Chat,
	}, nil
}

// allowedSources returns the sources that a participant may publish. A source is only
// a label; trackTypes checks the media of each track.
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
