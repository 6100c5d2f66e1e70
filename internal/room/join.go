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
	// accessTokenTTL is how long a media token opens the door; connections outlive it.
	accessTokenTTL = 10 * time.Minute
	// maxHiddenParticipants is how many hidden participants a room bears beside its seats.
	maxHiddenParticipants = 16
)

// JoinRequest is what somebody at the door brings.
type JoinRequest struct {
	LinkToken    string // token of the link's fragment; may be empty
	SeatKey      string // secret the browser keeps; 22 to 128 printable characters, empty only in a preview
	Name         string
	ExpectedRole Role       // the role the page promised; empty when it promised none
	ClientAddr   netip.Addr // where they come from, for what is limited per address
}

// Preview is what a visitor sees before joining.
type Preview struct {
	Room            *Room
	TakenSeats      int // seats taken now
	Role            Role
	Grants          Grants // what this visitor may send
	Name            string // to be filled in; may be empty
	Returning       bool
	MustWait        bool // a host has to let them in
	JoinedElsewhere bool // the visitor is in the room in another browser; joining here ends it there
	LinkStatus      LinkStatus
	OpensAt         time.Time // when this visitor may enter a scheduled room; zero once it is open
	LogoutURL       string    // where to go after leaving; may be empty
}

// Admission is a seat with the token that opens the media connection; or, for
// somebody who has to wait until a host lets them in, neither.
type Admission struct {
	RetryAfter          time.Duration // after how long to ask again; zero for who is in
	Seat                Seat
	Room                *Room
	SessionID           string
	Breakout            Breakout // where the seat is; zero in the room itself
	Token               string
	LinkStatus          LinkStatus
	LogoutURL           string
	InvitationsRequired bool // the project lets in only who has a link

	displaced       displacedGuest // whose seat it was
	sessionsToLeave []string       // sessions that the seat's holder has to leave first
}

// Preview says what a visitor would find and be at this moment: what is due and
// not written down yet has happened for them. It changes nothing.
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
	if r.State == Scheduled { // who is early may look
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
	link, verdict, err := s.resolveLink(ctx, r, v.LinkToken, keyHash, now)
	if err != nil {
		return Preview{}, err
	}
	mine, err := s.resolveIdentity(ctx, r, keyHash, link)
	if err != nil {
		return Preview{}, err
	}
	p.LinkStatus, p.Role, p.Returning = verdict, mine.role, mine.known && mine.seat.KeyHash == keyHash
	p.JoinedElsewhere = mine.known && !p.Returning && mine.seat.State == Joined
	p.Name = cmp.Or(mine.seat.Name, link.Name)
	if hidden := mine.seat.Hidden && verdict != LinkOK || link.Hidden; !hidden {
		p.Grants = r.grants(p.Role)
	}
	if err := checkInvitation(project, verdict, p.Returning); err != nil {
		return Preview{}, err
	}
	if r.State == Scheduled {
		p.OpensAt = r.opensAtForRole(p.Role)
	}
	if p.MustWait = r.mustWait(mine, link); p.MustWait {
		return p, s.checkNotDenied(ctx, r, keyHash)
	}
	return p, nil
}

// Preflight returns a token with which somebody at the door of a room tries the way
// to the media engine. It takes no seat, and nothing is written down.
func (s *Service) Preflight(ctx context.Context, roomID string, client netip.Addr) (token string, err error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return "", err
	}
	if r.State != Scheduled { // who is early has the time to check
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

// ReserveSeat reserves a seat, or gives a visitor's own back, before any token is
// made: of N+1 people who ask at once for N seats exactly one is refused. A
// link for one person is claimed here, by the first browser that joins with
// it. The answer leads to where the seat is: the room, or a breakout room. Who
// has to wait is told to ask again, which keeps them waiting.
// Refusals: NotFound, Gone (over), Conflict (room_full, room_not_open,
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
		// What fails here the next look repeats.
		s.logFailure(ctx, "take out a guest whose seat the host has", s.media.Remove(ctx, session, out.displaced.identity), "room_id", roomID)
	}
	return out, s.completeAdmission(ctx, &out)
}

// resolvedIdentity is what somebody at the door has a right to.
type resolvedIdentity struct {
	seat         Seat // theirs already, where known
	known        bool
	role         Role
	previousSeat Seat // the browser's seat as somebody else, which it gives up; without an id where there is none
}

// resolveIdentity says which seat a visitor has already: the one of this browser or,
// with a personal link, the person's own, in whatever browser it was taken. A
// browser or a person that a host has removed has a right to nothing.
func (s *Service) resolveIdentity(ctx context.Context, r *Room, keyHash string, link Link) (resolvedIdentity, error) {
	c := resolvedIdentity{role: cmp.Or(link.Role, Guest)}
	own, err := s.store.SeatByKey(ctx, r.ID, keyHash)
	known := err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		return c, err
	}
	if link.UserID == "" || own.UserID == link.UserID {
		c.seat, c.known = own, known
	} else {
		if own.UserID == "" && known {
			c.role = rank(c.role, own.Role) // the same person, who is named only now
		}
		c.previousSeat = own
		c.seat, err = s.store.SeatByUser(ctx, r.ID, link.UserID)
		if c.known = err == nil; err != nil && !fault.Is(err, fault.NotFound) {
			return c, err
		}
	}
	if !c.seat.RemovedAt.IsZero() || !c.previousSeat.RemovedAt.IsZero() {
		return c, errRemoved
	}
	if c.known {
		c.role = rank(c.role, c.seat.Role)
	}
	if c.role == CoHost && c.seat.Demoted {
		c.role = Guest
	}
	return c, nil
}

// revokeSeat leaves a seat to nobody: its key opens nothing any more. Whoever is
// in with it keeps it until they leave.
func (s *Service) revokeSeat(ctx context.Context, seat Seat) error {
	seat.KeyHash = "given up: " + seat.ID
	if seat.State != Joined {
		return s.releaseSeat(ctx, seat)
	}
	return s.store.UpdateSeat(ctx, seat)
}

// reserveSeat finds or makes the visitor's seat, in the transaction that holds the room.
func (s *Service) reserveSeat(ctx context.Context, r *Room, v *joinAttempt, now time.Time) (Admission, error) {
	keyHash := seal.Hash(v.SeatKey)
	o, err := s.occupancy(ctx, r, now)
	if err != nil {
		return Admission{}, err
	}
	link, verdict, err := s.resolveLink(ctx, r, v.LinkToken, keyHash, now)
	if err != nil {
		return Admission{}, err
	}
	mine, err := s.resolveIdentity(ctx, r, keyHash, link)
	if err != nil {
		return Admission{}, err
	}
	knocks, err := s.listKnocks(ctx, r)
	if err != nil {
		return Admission{}, err
	}
	if r.isNewcomer(mine, link, keyHash, knocks) {
		if err := s.countJoin(v); err != nil {
			return Admission{}, err
		}
	}
	r.openForRole(mine.role, now)
	project, err := s.checkJoinable(ctx, r, o, now)
	if err != nil {
		return Admission{}, err
	}
	if err := checkInvitation(project, verdict, mine.known); err != nil {
		return Admission{}, err
	}
	if !mine.seat.Demoted { // otherwise their page promises what was true before
		if err := checkExpectedRole(v.ExpectedRole, mine.role, verdict); err != nil {
			return Admission{}, err
		}
	}
	if r.mustWait(mine, link) {
		return Admission{RetryAfter: knockRetryInterval, LinkStatus: verdict}, s.recordKnock(ctx, r, knocks, keyHash, v.JoinRequest, now)
	}
	if mine.seat.KeyHash != keyHash { // who waited may have found a link of their own
		if err := s.deleteKnocks(ctx, r, func(k Knock) bool { return k.KeyHash == keyHash }); err != nil {
			return Admission{}, err
		}
	}
	if mine.previousSeat.ID != "" {
		if err := s.revokeSeat(ctx, mine.previousSeat); err != nil {
			return Admission{}, err
		}
	}
	seat := mine.seat
	if !mine.known {
		seat = Seat{ID: s.newID(), RoomID: r.ID, UserID: link.UserID, State: Free, CreatedAt: now}
	}
	seat.KeyHash, seat.Name, seat.Role = keyHash, v.Name, mine.role
	seat.Invited = seat.Invited || link.SingleUse || link.UserID != ""
	out := Admission{Room: r, LinkStatus: verdict, LogoutURL: logoutURL(r, project), InvitationsRequired: project.Settings.InvitationsRequired}
	if verdict == LinkOK && seat.Hidden != link.Hidden {
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
	// Also whoever is in is waited for: the page connects anew, here or
	// elsewhere, and its old connection may end first.
	s.extendReservation(&seat, v, now)
	out.Seat, out.SessionID = seat, SessionID(r.ID, cmp.Or(out.Breakout.Session, r.Session))
	if mine.known {
		return out, s.store.UpdateSeat(ctx, seat)
	}
	return out, s.store.InsertSeat(ctx, seat)
}

// checkExpectedRole refuses a visitor whose page promised more than a guest's seat,
// when the link does not grant it after all.
func checkExpectedRole(role, granted Role, verdict LinkStatus) error {
	if role == "" || role == Guest || granted != Guest {
		return nil
	}
	switch verdict {
	case LinkTaken, LinkUnknown:
		return fault.New(fault.Conflict, "link_taken", "this link was already used in another browser")
	case LinkExpired:
		return fault.New(fault.Conflict, "link_taken", "this link has expired")
	}
	return nil
}

// disconnect writes down that somebody's connections end, and returns their
// sessions, for the engine to end them. The seat is free then. Who was seen and
// will be hidden, or the other way round, has to come in anew: as they are, they
// would be counted wrongly.
func (s *Service) disconnect(ctx context.Context, r *Room, seat *Seat, now time.Time, reason LeaveReason) (sessions []string, err error) {
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

// checkCapacity fails when there is none left for one more.
func (s *Service) checkCapacity(ctx context.Context, r *Room, seat Seat) error {
	o, err := s.store.Occupancy(ctx, r.ID)
	switch {
	case err != nil:
		return err
	case seat.Hidden && o.Hidden >= maxHiddenParticipants:
		return fault.New(fault.Conflict, codeRoomFull, "this room has %d hidden participants already, and no more are allowed", maxHiddenParticipants)
	case !seat.Hidden && o.Taken >= r.MaxParticipants:
		return fault.New(fault.Conflict, codeRoomFull, "this room is full: all %d seats are taken", r.MaxParticipants)
	}
	return nil
}

// assignBreakout returns the breakout room the seat is in, zero for the room itself,
// and begins a session where none is live.
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

// startSession gives a room, or one of its breakout rooms, a live period.
func (s *Service) startSession(ctx context.Context, r *Room, breakout int, now time.Time) (n int, err error) {
	r.LastSession++
	return r.LastSession, s.store.InsertSession(ctx, Session{RoomID: r.ID, N: r.LastSession, Breakout: breakout, State: SessionLive}, now)
}

// completeAdmission opens the session an admission leads to and makes its token.
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
	if a.Room.LastSession > a.Room.Session { // there are, or were, breakout rooms
		if all, err = s.store.Breakouts(ctx, a.Room.ID); err != nil {
			return err
		}
	}
	if err := s.media.Open(ctx, MediaSession{Name: a.SessionID, Type: a.Room.Type, MaxParticipants: a.Room.MaxParticipants + maxHiddenParticipants,
		Metadata: newMetadata(a.Room, a.Breakout, all, hands, len(waiting))}); err != nil {
		return mediaUnavailable(err)
	}
	token, err := s.media.AccessToken(AccessTokenSpec{Session: a.SessionID, Identity: a.Seat.ID, TTL: accessTokenTTL})
	a.Token = token
	return err
}

func mediaUnavailable(err error) error {
	return &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
		Message: "the media engine does not answer, try again in a moment", RetryAfter: time.Second, Err: err}
}

// checkJoinable says whether anybody may come in at all at now.
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

func (s *Service) checkProject(ctx context.Context, r *Room) (project.Project, error) {
	p, err := s.store.Project(ctx, r.ProjectID)
	if err != nil {
		return p, err
	}
	return p, p.AllowsJoins()
}

// checkInvitation holds visitors to have a link where the project demands one.
func checkInvitation(p project.Project, verdict LinkStatus, returning bool) error {
	if p.Settings.InvitationsRequired && verdict != LinkOK && !returning {
		message := "this room is entered with an invitation: open the link you were sent"
		switch verdict {
		case LinkTaken:
			message = "this room is entered with an invitation, and yours was already used in another browser: ask for a new one"
		case LinkExpired:
			message = "this room is entered with an invitation, and yours has expired: ask for a new one"
		}
		return &fault.Error{Kind: fault.Forbidden, Code: "invitation_required", Message: message}
	}
	return nil
}

// rank returns the greater of two roles: a link never takes one away.
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

// checkSeatKey holds a seat key to the length that at least 128 random bits
// need in Base64url.
func checkSeatKey(key string) error {
	if len(key) < 22 || len(key) > 128 {
		return fault.Invalidf("seat_key must have 22 to 128 characters")
	}
	return nil
}
