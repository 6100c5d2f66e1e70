package room

import (
	"cmp"
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/field"
	"parley/internal/project"
	"parley/internal/seal"
)

const (
	// passTTL is how long a media token opens the door; connections outlive it.
	passTTL = 10 * time.Minute
	// maxHidden is how many hidden participants a room bears beside its seats.
	maxHidden = 16
)

// Visit is what somebody at the door brings.
type Visit struct {
	Link    string // token of the link's fragment; may be empty
	SeatKey string // secret the browser keeps; 22 to 128 printable characters, empty only in a preview
	Name    string
	Role    Role // the role the page promised; empty when it promised none
}

// Preview is what a visitor sees before joining.
type Preview struct {
	Room      *Room
	Taken     int // seats taken now
	Role      Role
	Name      string // to be filled in; may be empty
	Returning bool
	Link      LinkVerdict
	OpensAt   time.Time // when this visitor may enter a scheduled room; zero once it is open
	LogoutURL string    // where to go after leaving; may be empty
}

// Admission is a seat with the token that opens the media connection.
type Admission struct {
	Seat      Seat
	Room      *Room
	SessionID string
	Breakout  Breakout // where the seat is; zero in the room itself
	Token     string
	Link      LinkVerdict
	LogoutURL string
}

// Preview says what a visitor would find and be. It changes nothing.
func (s *Service) Preview(ctx context.Context, roomID string, v Visit) (Preview, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return Preview{}, err
	}
	if r.State != Scheduled { // who is early may look
		if err := refusal(r); err != nil {
			return Preview{}, err
		}
	}
	project, err := s.admittingProject(ctx, r)
	if err != nil {
		return Preview{}, err
	}
	o, err := s.store.Occupancy(ctx, r.ID)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Room: r, Taken: o.Taken, Role: Guest, LogoutURL: logoutURL(r, project)}
	keyHash := ""
	if v.SeatKey != "" {
		if err := checkSeatKey(v.SeatKey); err != nil {
			return Preview{}, err
		}
		keyHash = seal.Hash(v.SeatKey)
		seat, err := s.store.SeatByKey(ctx, r.ID, keyHash)
		if err == nil {
			p.Returning, p.Name, p.Role = true, seat.Name, seat.Role
		} else if !fault.Is(err, fault.NotFound) {
			return Preview{}, err
		}
	}
	link, verdict, err := s.judge(ctx, r, v.Link, keyHash, s.now())
	if err != nil {
		return Preview{}, err
	}
	if p.Link = verdict; verdict == LinkOK {
		p.Role, p.Name = rank(p.Role, link.Role), cmp.Or(p.Name, link.Name)
	}
	if err := invited(project, verdict, p.Returning); err != nil {
		return Preview{}, err
	}
	if r.State == Scheduled {
		p.OpensAt = r.opensFor(p.Role)
	}
	return p, nil
}

// TakeSeat reserves a seat, or gives a visitor's own back, before any token is
// made: of N+1 people who ask at once for N seats exactly one is refused. A
// link for one person is claimed here, by the first browser that joins with
// it. The answer leads to where the seat is: the room, or a breakout room.
// Refusals: NotFound, Gone (over), Conflict (room_full, room_not_open,
// link_taken), Forbidden (project, invitation_required), Invalid (name).
func (s *Service) TakeSeat(ctx context.Context, roomID string, v Visit) (Admission, error) {
	if err := firstError(field.Text("name", v.Name, 1, maxText, false), checkSeatKey(v.SeatKey)); err != nil {
		return Admission{}, err
	}
	var out Admission
	err := s.change(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) (err error) {
		out, err = s.seat(ctx, r, v, now)
		return err
	})
	if err != nil {
		return Admission{}, err
	}
	return out, s.admit(ctx, &out)
}

// seat finds or makes the visitor's seat, in the transaction that holds the room.
func (s *Service) seat(ctx context.Context, r *Room, v Visit, now time.Time) (Admission, error) {
	keyHash := seal.Hash(v.SeatKey)
	link, verdict, err := s.judge(ctx, r, v.Link, keyHash, now)
	if err != nil {
		return Admission{}, err
	}
	seat, known, err := s.seatOf(ctx, r, keyHash, link)
	if err != nil {
		return Admission{}, err
	}
	if !known {
		seat = Seat{ID: s.newID(), RoomID: r.ID, Role: Guest, State: Free, CreatedAt: now}
	}
	seat.KeyHash, seat.Name = keyHash, v.Name
	if verdict == LinkOK {
		seat.Role, seat.Hidden = rank(seat.Role, link.Role), link.Hidden
		seat.UserID = cmp.Or(seat.UserID, link.UserID)
	}
	r.openFor(seat.Role, now)
	project, err := s.admits(ctx, r, now)
	if err != nil {
		return Admission{}, err
	}
	if err := invited(project, verdict, known); err != nil {
		return Admission{}, err
	}
	if verdict != LinkOK && verdict != NoLink && v.Role != "" && v.Role != Guest && seat.Role == Guest {
		return Admission{}, fault.New(fault.Conflict, "link_taken", "this link was already used in another browser")
	}
	if seat.State == Free {
		if err := s.room(ctx, r, seat); err != nil {
			return Admission{}, err
		}
	}
	if err := s.claim(ctx, r, link, keyHash); verdict == LinkOK && err != nil {
		return Admission{}, err
	}
	place, err := s.place(ctx, r, &seat, now)
	if err != nil {
		return Admission{}, err
	}
	if seat.State != Joined {
		seat.State, seat.HeldUntil = Reserved, now.Add(reserveFor)
	}
	if known {
		err = s.store.UpdateSeat(ctx, seat)
	} else {
		err = s.store.InsertSeat(ctx, seat)
	}
	return Admission{Seat: seat, Room: r, SessionID: SessionID(r.ID, cmp.Or(place.Session, r.Session)), Breakout: place,
		Link: verdict, LogoutURL: logoutURL(r, project)}, err
}

// seatOf returns the seat the visitor has already: in this browser, or, with a
// personal link, in another one, which it then leaves.
func (s *Service) seatOf(ctx context.Context, r *Room, keyHash string, link Link) (seat Seat, known bool, err error) {
	seat, err = s.store.SeatByKey(ctx, r.ID, keyHash)
	if fault.Is(err, fault.NotFound) && link.UserID != "" {
		seat, err = s.store.SeatByUser(ctx, r.ID, link.UserID)
	}
	if fault.Is(err, fault.NotFound) {
		return Seat{}, false, nil
	}
	return seat, err == nil, err
}

// room fails when there is none left for one more.
func (s *Service) room(ctx context.Context, r *Room, seat Seat) error {
	o, err := s.store.Occupancy(ctx, r.ID)
	switch {
	case err != nil:
		return err
	case seat.Hidden && o.Hidden >= maxHidden:
		return fault.New(fault.Conflict, "room_full", "this room has %d hidden participants already, and no more are allowed", maxHidden)
	case !seat.Hidden && o.Taken >= r.MaxParticipants:
		return fault.New(fault.Conflict, "room_full", "this room is full: all %d seats are taken", r.MaxParticipants)
	}
	return nil
}

// place returns the breakout room the seat is in, zero for the room itself,
// and begins a session where none is live. Who is on the way from one place to
// another keeps the seat while the old connection ends.
func (s *Service) place(ctx context.Context, r *Room, seat *Seat, now time.Time) (Breakout, error) {
	place, err := s.openBreakout(ctx, r, seat.Breakout)
	if err != nil {
		return Breakout{}, err
	}
	seat.Breakout = place.N
	if !r.SessionLive {
		if r.Session, err = s.beginSession(ctx, r, 0, now); err != nil {
			return Breakout{}, err
		}
		r.SessionLive = true
	}
	if seat.State == Joined {
		present, err := s.store.Present(ctx, r.ID)
		if err != nil {
			return Breakout{}, err
		}
		for _, a := range present {
			if a.SeatID == seat.ID && a.Connection == seat.Connection && a.Session != cmp.Or(place.Session, r.Session) {
				seat.onTheWay()
			}
		}
	}
	return place, nil
}

// beginSession gives a room, or one of its breakout rooms, a live period.
func (s *Service) beginSession(ctx context.Context, r *Room, breakout int, now time.Time) (n int, err error) {
	r.LastSession++
	return r.LastSession, s.store.InsertSession(ctx, Session{RoomID: r.ID, N: r.LastSession, Breakout: breakout, State: SessionLive}, now)
}

// onTheWay keeps a seat for its holder, whatever becomes of the connection
// they leave.
func (seat *Seat) onTheWay() { seat.State, seat.Connection = Reserved, "" }

// admit opens the session an admission leads to and makes its token.
func (s *Service) admit(ctx context.Context, a *Admission) error {
	var all []Breakout
	if a.Room.LastSession > a.Room.Session { // there are, or were, breakout rooms
		var err error
		if all, err = s.store.Breakouts(ctx, a.Room.ID); err != nil {
			return err
		}
	}
	if err := s.media.Open(ctx, MediaSession{Name: a.SessionID, Type: a.Room.Type, MaxParticipants: a.Room.MaxParticipants + maxHidden,
		Info: info(a.Room, a.Breakout, all)}); err != nil {
		return &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
			Message: "the media engine does not answer, try again in a moment", RetryAfter: time.Second, Err: err}
	}
	token, err := s.media.Pass(MediaPass{Session: a.SessionID, Identity: a.Seat.ID, Name: a.Seat.Name, Role: a.Seat.Role,
		Type: a.Room.Type, Grants: a.Room.grants(a.Seat.Role), Hidden: a.Seat.Hidden, TTL: passTTL})
	a.Token = token
	return err
}

// admits says whether anybody may come in at all at now.
func (s *Service) admits(ctx context.Context, r *Room, now time.Time) (project.Project, error) {
	if err := refusal(r); err != nil {
		return project.Project{}, err
	}
	p, err := s.admittingProject(ctx, r)
	if err != nil {
		return p, err
	}
	if err := s.store.ReleaseSeats(ctx, r.ID, now); err != nil {
		return p, err
	}
	o, err := s.store.Occupancy(ctx, r.ID)
	if err != nil {
		return p, err
	}
	if state, reason, over := r.verdict(now, o); over {
		ended := *r
		ended.State, ended.EndReason = state, reason
		return p, refusal(&ended)
	}
	return p, nil
}

func (s *Service) admittingProject(ctx context.Context, r *Room) (project.Project, error) {
	p, err := s.store.Project(ctx, r.ProjectID)
	if err != nil {
		return p, err
	}
	return p, p.Admits()
}

// invited holds visitors to have a link where the project demands one.
func invited(p project.Project, verdict LinkVerdict, returning bool) error {
	if p.Settings.InvitationsRequired && verdict != LinkOK && !returning {
		return fault.New(fault.Forbidden, "invitation_required", "this room is entered with an invitation: open the link you were sent")
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
