package room

import (
	"context"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/seal"
)

// Rating is a participant's answer to the question how the meeting was.
type Rating string

// The ratings.
const (
	RatedGood Rating = "good"
	RatedBad  Rating = "bad"
)

// GiveFeedback stores how the caller, who is or was in the room, rated the meeting,
// and emits FeedbackGiven. Only the first rating of a seat counts; later ones do
// nothing. It is allowed after the end of the room. Errors: NotFound, Forbidden
// (never in the room, or hidden), Invalid.
func (s *Moderation) GiveFeedback(ctx context.Context, roomID, seatKey string, rating Rating) error {
	if rating != RatedGood && rating != RatedBad {
		return fault.Invalidf("rating must be good or bad")
	}
	if err := checkSeatKey(seatKey); err != nil {
		return err
	}
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		seat, err := s.store.SeatByKey(ctx, r.ID, seal.Hash(seatKey))
		switch {
		case fault.Is(err, fault.NotFound), err == nil && seat.unused() && !s.reportQueue.hasPending(seat.ID):
			return fault.New(fault.Forbidden, "not_in_room", "you were not in this room")
		case err != nil:
			return err
		case seat.Hidden: // no event is about hidden participants
			return fault.New(fault.Forbidden, "hidden", "hidden participants cannot rate a meeting")
		case seat.Rating != "":
			return nil
		}
		seat.Rating = rating
		data := r.eventData()
		data.Feedback = &event.Feedback{Identity: seat.PublicID(), Name: seat.Name, Role: string(seat.Role),
			Rating: string(rating)}
		r.appendEvent(event.FeedbackGiven, now, data)
		return s.store.UpdateSeat(ctx, seat)
	})
}
