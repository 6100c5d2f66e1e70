package room

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"parley/internal/fault"
	"parley/internal/validate"
)

// JoinRequest is a visitor's request to preview or join a room.
type JoinRequest struct {
	LinkToken    string     // token from the link's fragment; may be empty
	SeatKey      string     // secret that the browser stores; 22 to 128 printable characters, empty only in a preview
	Name         string     // as the visitor typed it; ReserveSeat cleans it with validate.CleanName
	ExpectedRole Role       // role that the page showed to the visitor; empty if it showed none
	ClientAddr   netip.Addr // the visitor's address, for limits per address
}

// ReserveSeat reserves a seat for a visitor, or returns the seat they already
// have, and then creates the access token. The seat is reserved under the room's
// lock, so that of N+1 visitors who ask at once for N seats exactly one is
// refused. It redeems a single-use link. The admission leads to the room or to
// the seat's breakout room. A visitor who has to wait for a host gets RetryAfter
// and must ask again within that time to stay in the waiting room.
//
// Errors: NotFound, Gone (over), Conflict (room_full, room_not_open,
// link_taken, waiting_room_full), Forbidden (project, invitation_required,
// removed, turned_away, hidden_participants_off), Exhausted (too_many_joins), Invalid (name).
func (s *Joining) ReserveSeat(ctx context.Context, roomID string, v JoinRequest) (Admission, error) {
	v.Name = validate.CleanName(v.Name)
	if err := firstError(validate.Name("name", v.Name, 1, validate.MaxText), checkSeatKey(v.SeatKey)); err != nil {
		return Admission{}, err
	}
	out, err := s.reserveWithToken(ctx, roomID, v)
	if fault.From(err).Code == codeRoomFull && !out.Seat.Hidden {
		s.logRoomFull(ctx, roomID, v)
	}
	if err != nil || out.RetryAfter > 0 {
		return out, err
	}
	for _, session := range out.displaced.sessions {
		// The next reconciliation repeats this if it fails.
		s.logFailure(ctx, "remove displaced guest", s.media.Remove(ctx, session, out.displaced.identity), "room_id", roomID)
	}
	return out, s.completeAdmission(ctx, &out)
}

// reserveSeat decides about a visitor and carries the decision out, in the transaction that
// holds the lock on the room. It returns a tokenError if a token has to be asked for first.
func (s *Joining) reserveSeat(
	ctx context.Context, r *Room, v JoinRequest, token tokenState, now time.Time,
) (Admission, error) {
	f, err := s.loadFacts(ctx, r, v, now)
	if err != nil {
		return Admission{}, err
	}
	f.token = token
	d, err := admit(f, v, now)
	if d.token != noToken {
		err = tokenError{d.token}
	}
	if err != nil {
		return Admission{Seat: d.seat}, err
	}
	r.openForRole(d.visitor.role, now)
	if d.mustWait {
		return Admission{RetryAfter: knockRetryInterval, HostPresent: f.occupancy.Hosts > 0,
			LinkStatus: d.visitor.status}, s.applyWait(ctx, r, d, now)
	}
	out := Admission{
		Room:                r,
		LinkStatus:          d.visitor.status,
		LogoutURL:           logoutURL(r, f.project),
		InvitationsRequired: f.project.Settings.InvitationsRequired,
		Test:                f.project.Test,
	}
	return out, s.applySeat(ctx, r, d, &out, now)
}

// applyWait stores that a visitor waits.
func (s *Joining) applyWait(ctx context.Context, r *Room, d decision, now time.Time) error {
	// A seat that was reserved before the waiting room was on.
	if d.visitor.known && d.visitor.seat.State != Free {
		if err := s.releaseSeat(ctx, d.visitor.seat); err != nil {
			return err
		}
	}
	r.metadataChanged = r.metadataChanged || !d.knock.CreatedAt.Before(now)
	if !d.storeKnock {
		return nil
	}
	d.knock.ID = cmp.Or(d.knock.ID, d.visitor.seat.ID, CompactID(s.newID()))
	return s.store.UpsertKnock(ctx, d.knock)
}

// applySeat stores the seat of a visitor, and what its reservation changes.
func (s *Joining) applySeat(ctx context.Context, r *Room, d decision, out *Admission, now time.Time) (err error) {
	from, seat := d.visitor, d.seat
	if from.seat.KeyHash != from.keyHash { // a waiting visitor may have opened a personal link meanwhile
		if err := s.deleteKnocks(ctx, r, func(k Knock) bool { return k.KeyHash == from.keyHash }); err != nil {
			return err
		}
	}
	leaving := LeftRemoved
	switch from.previousSeat.ID {
	case "":
	case d.displaced.ID:
		d.displaced.revokeKey()
		leaving = LeftReplaced
	default:
		if err := s.revokeSeat(ctx, from.previousSeat); err != nil {
			return err
		}
	}
	if d.reconnects {
		if out.sessionsToLeave, err = s.disconnect(ctx, r, &from.seat, now, LeftReplaced); err != nil {
			return err
		}
	}
	if d.displaced.ID != "" {
		if out.displaced, err = s.displace(ctx, r, d.displaced, now, leaving); err != nil {
			return err
		}
	}
	if d.wasFree {
		r.lowerHand(&seat)
	}
	if err := s.redeemLink(ctx, r, from.link, from.keyHash); err != nil {
		return err
	}
	if out.Breakout, err = s.prepareSession(ctx, r, &seat, now); err != nil {
		return err
	}
	seat.ID = cmp.Or(seat.ID, CompactID(s.newID()))
	out.Seat, out.SessionID = seat, SessionID(r.ID, cmp.Or(out.Breakout.Session, r.Session))
	if from.known {
		return s.store.UpdateSeat(ctx, seat)
	}
	return s.store.InsertSeat(ctx, seat)
}

// displace frees the seat of a guest for another visitor, or for the same person.
func (s *Joining) displace(
	ctx context.Context, r *Room, guest Seat, now time.Time, reason LeaveReason,
) (out displacedGuest, err error) {
	out.identity = guest.ID
	r.lowerHand(&guest)
	if guest.unused() {
		out.sessions = []string{SessionID(r.ID, r.Session)}
		return out, s.releaseSeat(ctx, guest)
	}
	out.sessions, err = s.disconnect(ctx, r, &guest, now, reason)
	return out, err
}

// prepareSession starts a session of the room if none is live. It returns the seat's
// breakout room, or zero for the room itself if that breakout room is closed.
func (s *Joining) prepareSession(ctx context.Context, r *Room, seat *Seat, now time.Time) (Breakout, error) {
	breakout, err := s.openBreakout(ctx, r, seat.Breakout)
	if err != nil {
		return Breakout{}, err
	}
	seat.Breakout = breakout.N
	if !r.SessionLive {
		if r.Session, err = s.startSession(ctx, r, 0, now); err != nil {
			return Breakout{}, err
		}
		r.SessionLive = true
	}
	return breakout, nil
}

// startSession starts a session of a room or of one of its breakout rooms and
// returns its number.
func (s *core) startSession(ctx context.Context, r *Room, breakout int, now time.Time) (n int, err error) {
	r.LastSession++
	session := Session{RoomID: r.ID, N: r.LastSession, Breakout: breakout, State: SessionLive}
	return session.N, s.store.InsertSession(ctx, session, now)
}

// checkSeatKey returns Invalid unless the key has 22 to 128 characters; 22 is the
// length of 128 random bits in Base64url.
func checkSeatKey(key string) error {
	if len(key) < 22 || len(key) > 128 {
		return fault.Invalidf("seat_key must have 22 to 128 characters")
	}
	return nil
}
