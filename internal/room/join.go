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

const (
	// accessTokenTTL is how long a media token can be used to connect. A connection
	// outlives its token.
	accessTokenTTL = 10 * time.Minute
	// maxHiddenParticipants is the number of hidden participants that a room admits
	// in addition to its seats.
	maxHiddenParticipants = 16
)

// JoinRequest is a visitor's request to preview or join a room.
type JoinRequest struct {
	LinkToken    string // token from the link's fragment; may be empty
	SeatKey      string // secret that the browser stores; 22 to 128 printable characters, empty only in a preview
	Name         string
	ExpectedRole Role       // role that the page showed to the visitor; empty if it showed none
	ClientAddr   netip.Addr // the visitor's address, for limits per address
}

// Preview is what the page shows a visitor before joining.
type Preview struct {
	Room            *Room
	TakenSeats      int
	Role            Role
	Grants          Grants // what this visitor may publish
	Name            string // suggested display name; may be empty
	Returning       bool   // this browser has a seat already
	MustWait        bool   // a host has to let the visitor in
	JoinedElsewhere bool   // the visitor is in the room in another browser; joining here disconnects it there
	LinkStatus      LinkStatus
	OpensAt         time.Time // when this visitor may enter a scheduled room; zero if it is open
	LogoutURL       string    // opened after leaving; may be empty
}

// Admission is a reserved seat with the token for the media connection. If the
// visitor has to wait until a host lets them in, it has only RetryAfter and
// LinkStatus.
type Admission struct {
	RetryAfter          time.Duration // when a waiting visitor must ask again; zero if admitted
	Seat                Seat
	Room                *Room
	SessionID           string
	Breakout            Breakout // the seat's breakout room; zero for the room itself
	Token               string
	LinkStatus          LinkStatus
	LogoutURL           string
	InvitationsRequired bool // the project admits only visitors with a link

	displaced       displacedGuest // the guest who lost the seat to this visitor
	sessionsToLeave []string       // sessions from which the participant must be disconnected first
}

// Preview returns what a visitor would get by joining now. Transitions that are
// due but not stored yet are taken into account. It writes nothing.
func (s *Service) Preview(ctx context.Context, roomID string, v JoinRequest) (Preview, error) {
	now := s.now()
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return Preview{}, err
	}
	o, err := s.store.Occupancy(ctx, r.ID)
	if err != nil {
		return Preview{}, err
	}
	r.openWhenDue(now)
	var project project.Project
	if r.State == Scheduled { // a preview is allowed before the room opens
		project, err = s.checkProject(ctx, r)
	} else {
		project, err = s.checkJoinable(ctx, r, o, now)
	}
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Room: r, TakenSeats: o.Taken, LogoutURL: logoutURL(r, project)}
	keyHash := ""
	if v.SeatKey != "" {
		if err := checkSeatKey(v.SeatKey); err != nil {
			return Preview{}, err
		}
		keyHash = seal.Hash(v.SeatKey)
	}
	link, status, err := s.resolveLink(ctx, r, v.LinkToken, keyHash, now)
	if err != nil {
		return Preview{}, err
	}
	visitor, err := s.resolveIdentity(ctx, r, keyHash, link)
	if err != nil {
		return Preview{}, err
	}
	p.LinkStatus, p.Role, p.Returning = status, visitor.role, visitor.known && visitor.seat.KeyHash == keyHash
	p.JoinedElsewhere = visitor.known && !p.Returning && visitor.seat.State == Joined
	p.Name = cmp.Or(visitor.seat.Name, link.Name)
	if hidden := visitor.seat.Hidden && status != LinkOK || link.Hidden; !hidden {
		p.Grants = r.grants(p.Role)
	}
	if err := checkInvitation(project, status, p.Returning); err != nil {
		return Preview{}, err
	}
	if r.State == Scheduled {
		p.OpensAt = r.opensAtForRole(p.Role)
	}
	if p.MustWait = r.mustWait(visitor, link); p.MustWait {
		return p, s.checkNotDenied(ctx, r, keyHash)
	}
	return p, nil
}

// Preflight returns a token with which a visitor's page tests the connection to
// the media engine. It takes no seat and writes nothing.
func (s *Service) Preflight(ctx context.Context, roomID string, client netip.Addr) (token string, err error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return "", err
	}
	if r.State != Scheduled { // the test is allowed before the room opens
		if err := checkOpen(r); err != nil {
			return "", err
		}
	}
	if _, err := s.checkProject(ctx, r); err != nil {
		return "", err
	}
	token, err = s.media.PreflightToken(ctx, network.ClientPrefix(client).String())
	if err != nil && fault.From(err).Code != CodePreflightBusy {
		err = mediaUnavailable(err)
	}
	return token, err
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
// removed, turned_away), Exhausted (too_many_joins), Invalid (name).
func (s *Service) ReserveSeat(ctx context.Context, roomID string, v JoinRequest) (Admission, error) {
	if err := firstError(validate.Name("name", v.Name, 1, maxText), checkSeatKey(v.SeatKey)); err != nil {
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

// revokeSeat makes the key of a seat useless and releases the seat. If its
// participant is connected, the seat is released when they leave.
func (s *Service) revokeSeat(ctx context.Context, seat Seat) error {
	seat.KeyHash = "given up: " + seat.ID
	if seat.State != Joined {
		return s.releaseSeat(ctx, seat)
	}
	return s.store.UpdateSeat(ctx, seat)
}

// reserveSeat finds or creates the visitor's seat, in the transaction that holds
// the lock on the room.
func (s *Service) reserveSeat(ctx context.Context, r *Room, v *joinAttempt, now time.Time) (Admission, error) {
	keyHash := seal.Hash(v.SeatKey)
	o, err := s.occupancy(ctx, r, now)
	if err != nil {
		return Admission{}, err
	}
	link, status, err := s.resolveLink(ctx, r, v.LinkToken, keyHash, now)
	if err != nil {
		return Admission{}, err
	}
	visitor, err := s.resolveIdentity(ctx, r, keyHash, link)
	if err != nil {
		return Admission{}, err
	}
	knocks, err := s.listKnocks(ctx, r)
	if err != nil {
		return Admission{}, err
	}
	if r.isNewcomer(visitor, link, keyHash, knocks) {
		if err := s.countJoin(v); err != nil {
			return Admission{}, err
		}
	}
	r.openForRole(visitor.role, now)
	project, err := s.checkJoinable(ctx, r, o, now)
	if err != nil {
		return Admission{}, err
	}
	if err := checkInvitation(project, status, visitor.known); err != nil {
		return Admission{}, err
	}
	if !visitor.seat.Demoted { // the page of a demoted co-host still shows the earlier role
		if err := checkExpectedRole(v.ExpectedRole, visitor.role, status); err != nil {
			return Admission{}, err
		}
	}
	if r.mustWait(visitor, link) {
		return Admission{RetryAfter: knockRetryInterval, LinkStatus: status},
			s.recordKnock(ctx, r, knocks, keyHash, v.JoinRequest, now)
	}
	if visitor.seat.KeyHash != keyHash { // a waiting visitor may have opened a personal link meanwhile
		if err := s.deleteKnocks(ctx, r, func(k Knock) bool { return k.KeyHash == keyHash }); err != nil {
			return Admission{}, err
		}
	}
	if visitor.previousSeat.ID != "" {
		if err := s.revokeSeat(ctx, visitor.previousSeat); err != nil {
			return Admission{}, err
		}
	}
	seat := visitor.seat
	if !visitor.known {
		seat = Seat{ID: s.newID(), RoomID: r.ID, UserID: link.UserID, State: Free, CreatedAt: now}
	}
	seat.KeyHash, seat.Name, seat.Role = keyHash, v.Name, visitor.role
	seat.Invited = seat.Invited || link.SingleUse || link.UserID != ""
	out := Admission{Room: r, LinkStatus: status, LogoutURL: logoutURL(r, project),
		InvitationsRequired: project.Settings.InvitationsRequired}
	// A participant who becomes hidden or visible has to reconnect, because the current
	// connection was recorded, and would be counted, the other way.
	if status == LinkOK && seat.Hidden != link.Hidden {
		if out.sessionsToLeave, err = s.disconnect(ctx, r, &seat, now, LeftReplaced); err != nil {
			return Admission{}, err
		}
		seat.Hidden = link.Hidden
	}
	if seat.State == Free {
		if out.displaced, err = s.ensureCapacity(ctx, r, seat, now); err != nil {
			return Admission{Seat: seat}, err
		}
		seat.State = Reserved
		r.lowerHand(&seat)
	}
	if err := s.redeemLink(ctx, r, link, keyHash); err != nil {
		return Admission{}, err
	}
	if out.Breakout, err = s.assignBreakout(ctx, r, &seat, now); err != nil {
		return Admission{}, err
	}
	// The seat of a connected participant is held too, because the page is about to
	// reconnect, possibly to another session, and its old connection may end first.
	s.extendReservation(&seat, v, now)
	out.Seat, out.SessionID = seat, SessionID(r.ID, cmp.Or(out.Breakout.Session, r.Session))
	if visitor.known {
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

// disconnect ends the attendance of a seat's participant and frees the seat. It
// returns the sessions from which the caller must remove the participant in the
// engine.
func (s *Service) disconnect(ctx context.Context, r *Room, seat *Seat, now time.Time, reason LeaveReason) (
	sessions []string, err error,
) {
	present, err := s.store.CurrentAttendance(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	for _, a := range present {
		if a.SeatID == seat.ID {
			if err := s.endAttendance(ctx, r, a, later(now, a.JoinedAt), reason); err != nil {
				return nil, err
			}
			sessions = append(sessions, SessionID(r.ID, a.Session))
		}
	}
	if seat.State != Free {
		seat.State, seat.HeldUntil, seat.Connection = Free, time.Time{}, ""
		err = s.store.UpdateSeat(ctx, *seat)
	}
	return sessions, err
}

// checkCapacity returns Conflict (room_full) if the room has no free seat for one
// more participant.
func (s *Service) checkCapacity(ctx context.Context, r *Room, seat Seat) error {
	o, err := s.store.Occupancy(ctx, r.ID)
	switch {
	case err != nil:
		return err
	case seat.Hidden && o.Hidden >= maxHiddenParticipants:
		return fault.New(fault.Conflict, codeRoomFull,
			"this room is full: it already has %d hidden participants, the maximum", maxHiddenParticipants)
	case !seat.Hidden && o.Taken >= r.MaxParticipants:
		return fault.New(fault.Conflict, codeRoomFull, "this room is full: all %d seats are taken", r.MaxParticipants)
	}
	return nil
}

// assignBreakout returns the seat's breakout room, or zero for the room itself if
// that breakout room is closed. It starts a session of the room if none is live.
func (s *Service) assignBreakout(ctx context.Context, r *Room, seat *Seat, now time.Time) (Breakout, error) {
	place, err := s.openBreakout(ctx, r, seat.Breakout)
	if err != nil {
		return Breakout{}, err
	}
	seat.Breakout = place.N
	if !r.SessionLive {
		if r.Session, err = s.startSession(ctx, r, 0, now); err != nil {
			return Breakout{}, err
		}
		r.SessionLive = true
	}
	return place, nil
}

// startSession starts a session of a room or of one of its breakout rooms and
// returns its number.
func (s *Service) startSession(ctx context.Context, r *Room, breakout int, now time.Time) (n int, err error) {
	r.LastSession++
	session := Session{RoomID: r.ID, N: r.LastSession, Breakout: breakout, State: SessionLive}
	return session.N, s.store.InsertSession(ctx, session, now)
}

// completeAdmission disconnects the participant from the sessions to leave, opens
// the admission's session in the engine and creates the access token.
func (s *Service) completeAdmission(ctx context.Context, a *Admission) error {
	for _, session := range a.sessionsToLeave {
		if err := s.media.Remove(ctx, session, a.Seat.ID); err != nil {
			return mediaUnavailable(err)
		}
	}
	hands, err := s.store.RaisedHands(ctx, a.Room.ID)
	if err != nil {
		return err
	}
	waiting, err := s.waitingKnocks(ctx, a.Room)
	if err != nil {
		return err
	}
	var all []Breakout
	if a.Room.LastSession > a.Room.Session { // the room has or had breakout rooms
		if all, err = s.store.Breakouts(ctx, a.Room.ID); err != nil {
			return err
		}
	}
	session := MediaSession{Name: a.SessionID, Type: a.Room.Type,
		MaxParticipants: a.Room.MaxParticipants + maxHiddenParticipants,
		Metadata:        newMetadata(a.Room, a.Breakout, all, hands, len(waiting))}
	if err := s.media.Open(ctx, session); err != nil {
		return mediaUnavailable(err)
	}
	token, err := s.media.AccessToken(AccessTokenSpec{Session: a.SessionID, Identity: a.Seat.ID, TTL: accessTokenTTL})
	a.Token = token
	return err
}

func mediaUnavailable(err error) error {
	return &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
		Message: "the media engine does not respond, try again in a moment", RetryAfter: time.Second, Err: err}
}

// checkJoinable returns an error unless the room is open, its project allows joins
// and the room's end is not due. It returns the room's project.
func (s *Service) checkJoinable(ctx context.Context, r *Room, o Occupancy, now time.Time) (project.Project, error) {
	if err := checkOpen(r); err != nil {
		return project.Project{}, err
	}
	p, err := s.checkProject(ctx, r)
	if err != nil {
		return p, err
	}
	if state, reason, over := r.finalState(now, o); over {
		ended := *r
		ended.State, ended.EndReason = state, reason
		return p, checkOpen(&ended)
	}
	return p, nil
}

// checkProject returns the room's project, and Forbidden if it allows no joins.
func (s *Service) checkProject(ctx context.Context, r *Room) (project.Project, error) {
	p, err := s.store.Project(ctx, r.ProjectID)
	if err != nil {
		return p, err
	}
	return p, p.AllowsJoins()
}

// checkInvitation returns Forbidden if the project requires a link and the visitor
// has neither a valid link nor a seat.
func checkInvitation(p project.Project, status LinkStatus, returning bool) error {
	if p.Settings.InvitationsRequired && status != LinkOK && !returning {
		message := "this room requires an invitation: open the link you were sent"
		switch status {
		case LinkTaken:
			message = "this room requires an invitation, and yours was already used in another browser: ask for a new one"
		case LinkExpired:
			message = "this room requires an invitation, and yours has expired: ask for a new one"
		}
		return &fault.Error{Kind: fault.Forbidden, Code: "invitation_required", Message: message}
	}
	return nil
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

func logoutURL(r *Room, p project.Project) string {
	return cmp.Or(r.LogoutURL, p.Settings.DefaultLogoutURL)
}

// checkSeatKey returns Invalid unless the key has 22 to 128 characters; 22 is the
// length of 128 random bits in Base64url.
func checkSeatKey(key string) error {
	if len(key) < 22 || len(key) > 128 {
		return fault.Invalidf("seat_key must have 22 to 128 characters")
	}
	return nil
}
