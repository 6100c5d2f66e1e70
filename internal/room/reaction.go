package room

import (
	"cmp"
	"context"

	"parley/internal/fault"
)

// Reaction is what somebody shows to the others for a moment.
type Reaction string

// The reactions.
const (
	ThumbsUp  Reaction = "thumbs_up"
	Heart     Reaction = "heart"
	Laughing  Reaction = "laughing"
	Clapping  Reaction = "clapping"
	Surprised Reaction = "surprised"
)

// React shows a reaction of the caller's to everybody in the place where they
// are. It is kept nowhere. Refusals: NotFound, Gone (over), Forbidden (not in
// the room, or hidden), Conflict (not open yet), Exhausted (too often), Invalid.
func (s *Service) React(ctx context.Context, roomID, seatKey string, reaction Reaction) error {
	switch reaction {
	case ThumbsUp, Heart, Laughing, Clapping, Surprised:
	default:
		return fault.Invalidf("reaction must be thumbs_up, heart, laughing, clapping or surprised")
	}
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return err
	}
	seat, err := s.visibleSeat(ctx, r, seatKey, s.now())
	if err != nil {
		return err
	}
	place, err := s.openBreakout(ctx, r, seat.Breakout)
	if err != nil {
		return err
	}
	session := SessionID(r.ID, cmp.Or(place.Session, r.Session))
	if err := s.media.SendMessage(ctx, session, nil, Message{Kind: MessageReaction, Identity: seat.ID, Reaction: reaction}); err != nil {
		return mediaUnavailable(err)
	}
	return nil
}
