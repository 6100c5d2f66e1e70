package room

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"parley/internal/fault"
	"parley/internal/network"
	"parley/internal/project"
	"parley/internal/seal"
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
func (s *Service) ReserveSeat(ctx context.Context, roomID string, v JoinRequest) (Admission, error) {
	v.Name = validate.CleanName(v.Name)
	if err := firstError(validate.Name("name", v.Name, 1, validate.MaxText), checkSeatKey(v.SeatKey)); err != nil {
		return Admission{}, err
	}
	if err := s.checkJoinLimit(ctx, roomID, v); err != nil {
		return Admission{}, err
	}
	var out Admission
	request := joinAttempt{JoinRequest: v}
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) (err error) {
		out, err = s.reserveSeat(ctx, r, &request, now)
		return err
	})
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

// resolvedIdentity is a visitor's existing seat, if any, and role.
type resolvedIdentity struct {
	seat         Seat // the visitor's existing seat; valid if known
	known        bool
	role         Role
	previousSeat Seat // seat that this browser has as another person and must give up; ID is empty if none
}

// resolveIdentity finds the seat that a visitor already has: the seat of this
// browser or, with a personal link, the seat of the person, whichever browser it
// was reserved from. It returns errRemoved if a host removed the browser or the
// person.
func (s *Service) resolveIdentity(ctx context.Context, r *Room, keyHash string, link Link) (resolvedIdentity, error) {
	out := resolvedIdentity{role: cmp.Or(link.Role, Guest)}
	browserSeat, err := s.store.SeatByKey(ctx, r.ID, keyHash)
	known := err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		return out, err
	}
	if link.UserID == "" || browserSeat.UserID == link.UserID {
		out.seat, out.known = browserSeat, known
	} else {
		if browserSeat.UserID == "" && known {
			out.role = rank(out.role, browserSeat.Role) // the link names the same person for the first time
		}
		out.previousSeat = browserSeat
		out.seat, err = s.store.SeatByUser(ctx, r.ID, link.UserID)
		if out.known = err == nil; err != nil && !fault.Is(err, fault.NotFound) {
			return out, err
		}
	}
	if !out.seat.RemovedAt.IsZero() || !out.previousSeat.RemovedAt.IsZero() {
		return out, errRemoved
	}
	if out.known {
		out.role = rank(out.role, out.seat.Role)
	}
	if out.role == CoHost && out.seat.Demoted {
		out.role = Guest
	}
	return out, nil
}

// rank returns the higher of two roles, because a link never takes a role away.
func rank(a, b Role) Role {
	for _, r := range []Role{Host, CoHost} {
		if a == r || b == r {
			return r
		}
	}
	return Guest
}

// reserveSeat finds or creates the visitor's seat, in the transaction that holds
// the lock on the room.
func (s *Service) reserveSeat(ctx context.Context, r *Room, v *joinAttempt, now time.Time) (Admission, error) {
	e, err := s.checkEntry(ctx, r, v, now)
	if err != nil {
		return Admission{}, err
	}
	if r.mustWait(e.visitor, e.link) {
		o, err := s.store.Occupancy(ctx, r.ID)
		if err != nil {
			return Admission{}, err
		}
		if e.visitor.known { // a seat that was reserved before the waiting room was on
			if err := s.releaseSeat(ctx, e.visitor.seat); err != nil {
				return Admission{}, err
			}
		}
		return Admission{RetryAfter: knockRetryInterval, HostPresent: o.Hosts > 0, LinkStatus: e.status},
			s.recordKnock(ctx, r, e.knocks, e.keyHash, v.JoinRequest, now)
	}
	if e.visitor.seat.KeyHash != e.keyHash { // a waiting visitor may have opened a personal link meanwhile
		if err := s.deleteKnocks(ctx, r, func(k Knock) bool { return k.KeyHash == e.keyHash }); err != nil {
			return Admission{}, err
		}
	}
	if e.visitor.previousSeat.ID != "" {
		if err := s.revokeSeat(ctx, e.visitor.previousSeat); err != nil {
			return Admission{}, err
		}
	}
	return s.occupySeat(ctx, r, v, e, now)
}

// entrant is a visitor who may enter the room or its waiting room.
type entrant struct {
	keyHash string // of the visitor's seat key
	link    Link   // empty unless status is LinkOK
	status  LinkStatus
	visitor resolvedIdentity
	knocks  []Knock // of all visitors
	project project.Project
}

// checkEntry identifies a visitor and checks that they may enter the room. It opens
// a scheduled room for a host who comes early.
func (s *Service) checkEntry(ctx context.Context, r *Room, v *joinAttempt, now time.Time) (entrant, error) {
	e := entrant{keyHash: seal.Hash(v.SeatKey)}
	o, err := s.occupancy(ctx, r, now)
	if err != nil {
		return e, err
	}
	if e.link, e.status, err = s.resolveLink(ctx, r, v.LinkToken, e.keyHash, now); err != nil {
		return e, err
	}
	if e.visitor, err = s.resolveIdentity(ctx, r, e.keyHash, e.link); err != nil {
		return e, err
	}
	if e.knocks, err = s.listKnocks(ctx, r); err != nil {
		return e, err
	}
	if r.isNewcomer(e.visitor, e.link, e.keyHash, e.knocks) {
		if err := s.countJoin(v); err != nil {
			return e, err
		}
	}
	r.openForRole(e.visitor.role, now)
	if e.project, err = s.checkJoinable(ctx, r, o, now); err != nil {
		return e, err
	}
	if err := checkInvitation(e.project, e.status, e.visitor.known); err != nil {
		return e, err
	}
	if (e.link.Hidden || e.visitor.known && e.visitor.seat.Hidden && e.status != LinkOK) &&
		!e.project.Settings.HiddenParticipants {
		return e, fault.New(fault.Forbidden, "hidden_participants_off",
			"the project does not allow hidden participants any more")
	}
	if e.visitor.seat.Demoted { // the page of a demoted co-host still shows the earlier role
		return e, nil
	}
	return e, checkExpectedRole(v.ExpectedRole, e.visitor.role, e.status)
}

// occupySeat reserves the visitor's seat, or a new one. It returns Conflict
// (room_full) if there is none.
func (s *Service) occupySeat(ctx context.Context, r *Room, v *joinAttempt, e entrant, now time.Time) (
	_ Admission, err error,
) {
	seat := e.visitor.seat
	if !e.visitor.known {
		seat = Seat{ID: s.newID(), RoomID: r.ID, UserID: e.link.UserID, State: Free, CreatedAt: now}
	}
	seat.KeyHash, seat.Name, seat.Role = e.keyHash, v.Name, e.visitor.role
	client := network.ClientPrefix(v.ClientAddr).String()
	seat.Invited = seat.Invited || e.link.SingleUse || e.link.UserID != ""
	out := Admission{Room: r, LinkStatus: e.status, LogoutURL: logoutURL(r, e.project),
		InvitationsRequired: e.project.Settings.InvitationsRequired}
	// A participant who becomes hidden or visible has to reconnect, because the current
	// connection was recorded, and would be counted, the other way.
	if e.status == LinkOK && seat.Hidden != e.link.Hidden {
		if out.sessionsToLeave, err = s.disconnect(ctx, r, &seat, now, LeftReplaced); err != nil {
			return Admission{}, err
		}
		seat.Hidden = e.link.Hidden
	}
	if seat.State == Free {
		if out.displaced, err = s.ensureCapacity(ctx, r, seat, client, now); err != nil {
			return Admission{Seat: seat}, err
		}
		seat.State = Reserved
		r.lowerHand(&seat)
	}
	if err := s.redeemLink(ctx, r, e.link, e.keyHash); err != nil {
		return Admission{}, err
	}
	if out.Breakout, err = s.prepareSession(ctx, r, &seat, now); err != nil {
		return Admission{}, err
	}
	if seat.unused() && seat.anonymous() {
		seat.Network = client
	}
	// The seat of a connected participant is held too, because the page is about to
	// reconnect, possibly to another session, and its old connection may end first.
	s.extendReservation(&seat, v, now)
	out.Seat, out.SessionID = seat, SessionID(r.ID, cmp.Or(out.Breakout.Session, r.Session))
	if e.visitor.known {
		return out, s.store.UpdateSeat(ctx, seat)
	}
	return out, s.store.InsertSeat(ctx, seat)
}

// checkExpectedRole returns Conflict if the page showed a host's or co-host's role
// and the link no longer grants it.
func checkExpectedRole(role, granted Role, status LinkStatus) error {
	if role == "" || role == Guest || granted != Guest {
		return nil
	}
	switch status {
	case LinkTaken, LinkUnknown:
		return fault.New(fault.Conflict, "link_taken", "this link was already used in another browser")
	case LinkExpired:
		return fault.New(fault.Conflict, "link_taken", "this link has expired")
	}
	return nil
}

// extendReservation holds a seat for the connection that the page is about to make.
// A visitor who never connects cannot hold a seat forever by asking again, because
// that renews the reservation only in its last ten seconds, and each renewal
// counts against the limit of the address.
func (s *Service) extendReservation(seat *Seat, a *joinAttempt, now time.Time) {
	if !seat.unused() {
		seat.HeldUntil = now.Add(rejoinTimeout)
		return
	}
	expired := !seat.HeldUntil.After(now)
	if expired || seat.HeldUntil.Sub(now) < renewalWindow && s.countJoin(a) == nil {
		seat.HeldUntil = now.Add(connectTimeout)
	}
}

// prepareSession starts a session of the room if none is live. It returns the seat's
// breakout room, or zero for the room itself if that breakout room is closed.
func (s *Service) prepareSession(ctx context.Context, r *Room, seat *Seat, now time.Time) (Breakout, error) {
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
func (s *Service) startSession(ctx context.Context, r *Room, breakout int, now time.Time) (n int, err error) {
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
