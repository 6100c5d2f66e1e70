package room

import (
	"cmp"
	"context"

	"parley/internal/fault"
)

// Reaction is an emoji that a participant shows to the others for a moment.
type Reaction string

// The reactions.
const (
	ThumbsUp  Reaction = "thumbs_up"
	Heart     Reaction = "heart"
	Laughing  Reaction = "laughing"
	Clapping  Reaction = "clapping"
	Surprised Reaction = "surprised"
)

// React shows the caller's reaction to all participants in the same session. It is
// not stored. Errors: NotFound, Gone (over), Forbidden (not in the room, or hidden),
// Conflict (not open yet), Exhausted (too often), Invalid, Unavailable (the media
// engine does not respond).
func (s *Moderation) React(ctx context.Context, roomID, seatKey string, reaction Reaction) error {
	switch reaction {
	case ThumbsUp, Heart, Laughing, Clapping, Surprised:
	default:
		return fault.Invalidf("reaction must be thumbs_up, heart, laughing, clapping or surprised")
	}
	r, seat, err := s.reactingSeat(ctx, roomID, seatKey)
	if err != nil {
		return err
	}
	breakout, err := s.openBreakout(ctx, r, seat.Breakout)
	if err != nil {
		return err
	}
	session := SessionID(r.ID, cmp.Or(breakout.Session, r.Session))
	message := Message{Kind: MessageReaction, Identity: seat.ID, Reaction: reaction}
	if err := s.media.SendMessage(ctx, session, nil, message); err != nil {
		return mediaUnavailable(err)
	}
	return nil
}
