package media

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/livekit/protocol/livekit"

	"parley/internal/room"
)

// Topic is the topic of the server's messages. A participant can send under
// it too: what tells the server's apart is that they name no sender.
const Topic = "parley"

// encodeMetadata is what pages read of a session. The type in it is the one the
// session was opened with.
func encodeMetadata(t room.Type, info room.Metadata) (string, error) {
	info.RoomType = t
	text, err := json.Marshal(info)
	if err != nil {
		return "", fmt.Errorf("media: encode what pages read of a session: %w", err)
	}
	return string(text), nil
}

// typeFromMetadata reads the type out of a room's metadata. It is empty in what Open
// did not write.
func typeFromMetadata(metadata string) room.Type {
	var info room.Metadata
	if json.Unmarshal([]byte(metadata), &info) != nil {
		return ""
	}
	return info.RoomType
}

// UpdateMetadata replaces what pages read of a session. The type stays. A page does
// not hear of info that it has.
func (e *Engine) UpdateMetadata(ctx context.Context, session string, info room.Metadata) error {
	at, err := e.locate(ctx, session)
	if err != nil || !at.exists {
		return err
	}
	text, err := encodeMetadata(at.roomType, info)
	if err != nil {
		return err
	}
	req := &livekit.UpdateRoomMetadataRequest{Room: session, Metadata: text}
	if at.local {
		_, err = e.node.rooms.UpdateRoomMetadata(ctx, req)
	} else {
		_, err = e.node.api.UpdateRoomMetadata(e.node.withRoomAdmin(ctx, session), req)
	}
	return unavailableError("announce a change", ignoreNotFound(err))
}

// SendMessage sends a message on the reliable channel, in order with what else is
// sent there. LiveKit writes the sender's identity into what participants
// send; a message of the server has none. A page has to look at that identity
// itself: a sender whom the page does not know yet is not the server.
func (e *Engine) SendMessage(ctx context.Context, session string, identities []string, message room.Message) error {
	at, err := e.locate(ctx, session)
	if err != nil || !at.exists {
		return err
	}
	text, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("media: encode a message: %w", err)
	}
	topic := Topic
	req := &livekit.SendDataRequest{
		Room: session, Data: text, Kind: livekit.DataPacket_RELIABLE, Topic: &topic, DestinationIdentities: identities,
	}
	if at.local {
		_, err = e.node.rooms.SendData(ctx, req)
	} else {
		_, err = e.node.api.SendData(e.node.withRoomAdmin(ctx, session), req)
	}
	return unavailableError("send a message", ignoreNotFound(err))
}

// UpdatePermissions changes what a participant may send. What they send already and may
// not any more is taken out. Who is hidden stays hidden and sends nothing.
func (e *Engine) UpdatePermissions(ctx context.Context, session, identity string, role room.Role, grants room.Grants) error {
	at, err := e.locate(ctx, session)
	if err != nil || !at.exists {
		return err
	}
	now, err := e.getParticipant(ctx, at, session, identity)
	if err != nil {
		return unavailableError("look for a participant", ignoreNotFound(err))
	}
	may, err := participantPermission(at.roomType, grants, now.GetPermission().GetHidden())
	if err != nil {
		return err
	}
	req := &livekit.UpdateParticipantRequest{Room: session, Identity: identity, Permission: may}
	// The same permission is no news to LiveKit; the same role would be.
	if now.Attributes[RoleAttribute] != string(role) {
		req.Attributes = map[string]string{RoleAttribute: string(role)}
	}
	if at.local {
		_, err = e.node.rooms.UpdateParticipant(ctx, req)
	} else {
		_, err = e.node.api.UpdateParticipant(e.node.withRoomAdmin(ctx, session), req)
	}
	return unavailableError("change what a participant may do", ignoreNotFound(err))
}

// Mute has the server forward no more of participants' microphones, and tells
// their pages. They may unmute themselves.
func (e *Engine) Mute(ctx context.Context, session string, identities []string) (muted []string, err error) {
	at, err := e.locate(ctx, session)
	if err != nil || !at.exists {
		return nil, err
	}
	people, err := e.listParticipants(ctx, at, session)
	if err != nil {
		return nil, err
	}
	for _, p := range people {
		heard := false
		for _, track := range p.Tracks {
			if track.Source != livekit.TrackSource_MICROPHONE || track.Muted || !slices.Contains(identities, p.Identity) {
				continue
			}
			heard = true
			req := &livekit.MuteRoomTrackRequest{Room: session, Identity: p.Identity, TrackSid: track.Sid, Muted: true}
			if at.local {
				_, err = e.node.rooms.MutePublishedTrack(ctx, req)
			} else {
				_, err = e.node.api.MutePublishedTrack(e.node.withRoomAdmin(ctx, session), req)
			}
			if err = ignoreNotFound(err); err != nil {
				return muted, unavailableError("mute a participant", err)
			}
		}
		if heard {
			muted = append(muted, p.Identity)
		}
	}
	return muted, nil
}

// getParticipant asks the process that hosts the session.
func (e *Engine) getParticipant(ctx context.Context, at sessionLocation, session, identity string) (*livekit.ParticipantInfo, error) {
	req := &livekit.RoomParticipantIdentity{Room: session, Identity: identity}
	if at.local {
		return e.node.rooms.GetParticipant(ctx, req)
	}
	return e.node.api.GetParticipant(e.node.withRoomAdmin(ctx, session), req)
}
