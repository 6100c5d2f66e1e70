package media

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/livekit/livekit-server/pkg/rtc"
	"github.com/livekit/protocol/livekit"

	"parley/internal/room"
)

// Topic is the topic of the server's data messages. Participants can use the topic too;
// only a message of the server has no sender.
const Topic = "parley"

// closingCheckInterval is the time between two checks whether a room is closing.
const closingCheckInterval = 50 * time.Millisecond

// encodeMetadata returns the metadata of a LiveKit room as JSON, which pages read. The
// type in it is the one with which the session was opened.
func encodeMetadata(t room.Type, info room.Metadata) (string, error) {
	info.RoomType = t
	text, err := json.Marshal(info)
	if err != nil {
		return "", fmt.Errorf("media: encode the metadata of a session: %w", err)
	}
	return string(text), nil
}

// typeFromMetadata returns the session type in a LiveKit room's metadata. It is empty if
// Open did not write the metadata.
func typeFromMetadata(metadata string) room.Type {
	var info room.Metadata
	if json.Unmarshal([]byte(metadata), &info) != nil {
		return ""
	}
	return info.RoomType
}

// UpdateMetadata replaces the metadata of a session but not its type. LiveKit does not
// notify pages of metadata that they already have.
func (e *Engine) UpdateMetadata(ctx context.Context, session string, info room.Metadata) error {
	location, err := e.locate(ctx, session)
	if err != nil || !location.exists {
		return err
	}
	text, err := encodeMetadata(location.roomType, info)
	if err != nil {
		return err
	}
	if location.local {
		if rm := e.node.rooms.GetRoom(ctx, livekit.RoomName(session)); rm != nil {
			err = awaitUpdate(ctx, rm, rm.SetMetadata(text))
		}
	} else {
		_, err = e.node.api.UpdateRoomMetadata(e.node.withRoomAdmin(ctx, session),
			&livekit.UpdateRoomMetadataRequest{Room: session, Metadata: text})
	}
	return unavailableError("update the metadata of a session", ignoreNotFound(err))
}

// awaitUpdate waits until an update of a room is applied. That of a room that is closing never is.
func awaitUpdate(ctx context.Context, rm *rtc.Room, applied <-chan struct{}) error {
	tick := time.NewTicker(closingCheckInterval)
	defer tick.Stop()
	for !rm.IsClosed() {
		select {
		case <-applied:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// SendMessage sends a message on the reliable data channel, which keeps the order of the
// messages. It goes to the given identities, or to all participants if there are none.
// LiveKit writes the sender's identity into the messages of participants, and a message
// of the server has none. A page has to check the identity and not the participant that
// belongs to it, because the page may not know the sender yet.
func (e *Engine) SendMessage(ctx context.Context, session string, identities []string, message room.Message) error {
	location, err := e.locate(ctx, session)
	if err != nil || !location.exists {
		return err
	}
	text, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("media: encode a message: %w", err)
	}
	topic := Topic
	req := &livekit.SendDataRequest{
		Room:                  session,
		Data:                  text,
		Kind:                  livekit.DataPacket_RELIABLE,
		Topic:                 &topic,
		DestinationIdentities: identities,
	}
	if location.local {
		_, err = e.node.rooms.SendData(ctx, req)
	} else {
		_, err = e.node.api.SendData(e.node.withRoomAdmin(ctx, session), req)
	}
	return unavailableError("send a message", ignoreNotFound(err))
}

// UpdatePermissions changes the role and the grants of a participant. LiveKit removes
// tracks that are no longer permitted. A hidden participant stays hidden and still may not
// send.
func (e *Engine) UpdatePermissions(
	ctx context.Context, session, identity string, role room.Role, grants room.Grants,
) error {
	location, err := e.locate(ctx, session)
	if err != nil || !location.exists {
		return err
	}
	current, err := e.getParticipant(ctx, location, session, identity)
	if err != nil {
		return unavailableError("get a participant", ignoreNotFound(err))
	}
	permission, err := participantPermission(location.roomType, grants, current.GetPermission().GetHidden())
	if err != nil {
		return err
	}
	req := &livekit.UpdateParticipantRequest{Room: session, Identity: identity, Permission: permission}
	// LiveKit ignores an unchanged permission, but announces an unchanged attribute.
	if current.Attributes[RoleAttribute] != string(role) {
		req.Attributes = map[string]string{RoleAttribute: string(role)}
	}
	if location.local {
		_, err = e.node.rooms.UpdateParticipant(ctx, req)
	} else {
		_, err = e.node.api.UpdateParticipant(e.node.withRoomAdmin(ctx, session), req)
	}
	return unavailableError("update the permissions of a participant", ignoreNotFound(err))
}

// Mute mutes the microphones of the participants on the server and notifies their pages.
// It returns the identities that were not muted before. Participants may unmute
// themselves.
func (e *Engine) Mute(ctx context.Context, session string, identities []string) (muted []string, err error) {
	location, err := e.locate(ctx, session)
	if err != nil || !location.exists {
		return nil, err
	}
	participants, err := e.listParticipants(ctx, location, session)
	if err != nil {
		return nil, err
	}
	for _, p := range participants {
		unmuted := false
		for _, track := range p.Tracks {
			if track.Source != livekit.TrackSource_MICROPHONE || track.Muted ||
				!slices.Contains(identities, p.Identity) {
				continue
			}
			unmuted = true
			req := &livekit.MuteRoomTrackRequest{Room: session, Identity: p.Identity, TrackSid: track.Sid, Muted: true}
			if location.local {
				_, err = e.node.rooms.MutePublishedTrack(ctx, req)
			} else {
				_, err = e.node.api.MutePublishedTrack(e.node.withRoomAdmin(ctx, session), req)
			}
			if err = ignoreNotFound(err); err != nil {
				return muted, unavailableError("mute a participant", err)
			}
		}
		if unmuted {
			muted = append(muted, p.Identity)
		}
	}
	return muted, nil
}

// getParticipant returns the participant as the process that hosts the session knows it.
func (e *Engine) getParticipant(ctx context.Context, location sessionLocation, session,
	identity string) (*livekit.ParticipantInfo, error) {
	req := &livekit.RoomParticipantIdentity{Room: session, Identity: identity}
	if location.local {
		return e.node.rooms.GetParticipant(ctx, req)
	}
	return e.node.api.GetParticipant(e.node.withRoomAdmin(ctx, session), req)
}
