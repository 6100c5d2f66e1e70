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

// Pass returns a token that opens one session for one identity and grants
// nothing beyond taking part. A pass for somebody who was removed lets them
// in again: whoever asks for a pass has decided that.
func (e *Engine) Pass(p room.MediaPass) (string, error) {
	if p.Session == "" || p.Identity == "" {
		return "", fmt.Errorf("media: a pass needs a session and an identity")
	}
	if p.TTL <= 0 {
		// LiveKit would take this for six hours.
		return "", fmt.Errorf("media: a pass needs a time to live")
	}
	sources, err := sourcesOf(p.Type)
	if err != nil {
		return "", err
	}
	grant := &auth.VideoGrant{RoomJoin: true, Room: p.Session}
	grant.SetCanPublish(true)
	grant.SetCanPublishSources(sources)
	grant.SetCanPublishData(true)
	grant.SetCanSubscribe(true)
	grant.SetCanUpdateOwnMetadata(false)

	token, err := auth.NewAccessToken(e.cfg.SigningKey, e.cfg.SigningSecret).
		SetIdentity(p.Identity).
		SetName(p.Name).
		SetAttributes(map[string]string{RoleAttribute: string(p.Role)}).
		SetVideoGrant(grant).
		SetValidFor(p.TTL).
		ToJWT()
	if err != nil {
		return "", fmt.Errorf("media: sign a pass: %w", err)
	}
	e.shut.forgive(p.Session, p.Identity)
	return token, nil
}

// sourcesOf lists what may be published, by label. What a track really is
// has to be checked elsewhere: see sound.go.
func sourcesOf(t room.Type) ([]livekit.TrackSource, error) {
	switch t {
	case room.Audio:
		return []livekit.TrackSource{livekit.TrackSource_MICROPHONE}, nil
	case room.Video:
		return []livekit.TrackSource{
			livekit.TrackSource_CAMERA,
			livekit.TrackSource_MICROPHONE,
			livekit.TrackSource_SCREEN_SHARE,
			livekit.TrackSource_SCREEN_SHARE_AUDIO,
		}, nil
	}
	return nil, fmt.Errorf("media: unknown room type %q", t)
}
