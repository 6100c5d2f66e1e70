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
)

// maxPreviewNames is how many of the people in a room a preview names.
const maxPreviewNames = 3

// Preview is what the page shows a visitor before joining.
type Preview struct {
	Room            *Room
	TakenSeats      int
	Others          int      // taken seats without the visitor's own
	OtherNames      []string // up to three of them; nil if a host has to let the visitor in
	Role            Role
	Grants          Grants // what this visitor may publish
	Name            string // suggested display name; may be empty
	Returning       bool   // this browser has a seat, also one that its visitor has left
	MustWait        bool   // a host has to let the visitor in
	Full            bool   // the room has no seat for the visitor; if not MustWait, joining now is refused with room_full
	HostPresent     bool   // a host or co-host is in the room
	JoinedElsewhere bool   // the visitor is in the room in another browser; joining here disconnects it there
	LinkStatus      LinkStatus
	OpensAt         time.Time // when this visitor may enter a scheduled room; zero if it is open
	LogoutURL       string    // opened after leaving; may be empty
	Test            bool      // the room belongs to a test project
	BrandName       string    // of the project; may be empty
	BrandColor      string    // of the project; may be empty
	BrandLogo       project.Logo
}

// Preview returns what a visitor would get by joining now. Transitions that are due but not
// stored yet are taken into account, except that an expired reservation takes a seat until the
// next sweep. It writes nothing. LinkStatus is also set if the visitor lacks an invitation.
func (s *Joining) Preview(ctx context.Context, roomID string, v JoinRequest) (Preview, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return Preview{}, err
	}
	now := s.now()
	r.openWhenDue(now)
	project, o, err := s.loadForPreview(ctx, r, now)
	if err != nil {
		return Preview{}, err
	}
	f, from, err := s.recognize(ctx, r, project, v, now)
	if err != nil {
		return Preview{LinkStatus: from.status}, err
	}
	f.occupancy = o
	p := newPreview(r, project, o, from)
	if p.BrandLogo, err = s.store.Logo(ctx, project.ID); err != nil {
		return Preview{}, err
	}
	if p.Full, err = s.isFull(ctx, f, from, v, now); err != nil {
		return Preview{}, err
	}
	if p.MustWait {
		return p, f.denial(from.keyHash, now)
	}
	p.OtherNames, err = s.store.PresentNames(ctx, r.ID, from.seat.ID, maxPreviewNames)
	return p, err
}

// isFull reports whether the room has no seat for a visitor who joins now. It reads the seats
// only if one may be displaced; for a guest, that is only a seat that was never connected to.
func (s *Joining) isFull(ctx context.Context, f facts, from visitor, v JoinRequest, now time.Time) (
	full bool, err error,
) {
	mayDisplace := from.role != Guest || f.occupancy.Unused > 0
	if mayDisplace && f.occupancy.Taken >= f.room.MaxParticipants {
		if f.taken, err = s.store.Seats(ctx, f.room.ID); err != nil {
			return false, err
		}
	}
	err = f.reserve(&decision{visitor: from}, v, now)
	if fault.From(err).Code == codeRoomFull {
		return true, nil
	}
	return false, err
}

// recognize returns what is known about a visitor who may see the room. The visitor's link
// status is also set if the visitor lacks an invitation.
func (s *Joining) recognize(ctx context.Context, r *Room, p project.Project, v JoinRequest, now time.Time) (
	f facts, from visitor, err error,
) {
	if v.SeatKey != "" {
		if err := checkSeatKey(v.SeatKey); err != nil {
			return f, from, err
		}
	}
	if f, err = s.loadVisitor(ctx, r, v); err != nil {
		return f, from, err
	}
	if from, err = f.identify(v, now); err != nil {
		return f, from, err
	}
	return f, from, checkInvitation(p, from.status, from.known)
}

// loadForPreview returns the project and the occupancy of a room that a visitor may see: one that
// is joinable, or not open yet.
func (s *Joining) loadForPreview(ctx context.Context, r *Room, now time.Time) (
	p project.Project, o Occupancy, err error,
) {
	if r.State != Scheduled {
		if err := checkOpen(r); err != nil {
			return p, o, err
		}
	}
	if p, err = s.checkProject(ctx, r); err != nil {
		return p, o, err
	}
	o, err = s.store.Occupancy(ctx, r.ID)
	if err == nil && r.State != Scheduled {
		err = r.checkJoinable(p, o, now)
	}
	return p, o, err
}

func newPreview(r *Room, p project.Project, o Occupancy, from visitor) Preview {
	out := Preview{
		Room:        r,
		TakenSeats:  o.Taken,
		Others:      o.Taken,
		HostPresent: o.Hosts > 0,
		LogoutURL:   logoutURL(r, p),
		Test:        p.Test,
		BrandName:   p.Settings.BrandName,
		BrandColor:  p.Settings.BrandColor,
		LinkStatus:  from.status,
		Role:        from.role,
		Name:        cmp.Or(from.seat.Name, from.link.Name),
		Returning:   from.known && from.seat.KeyHash == from.keyHash,
		MustWait:    r.mustWait(from),
	}
	out.JoinedElsewhere = from.known && !out.Returning && from.seat.State == Joined
	if hidden := from.seat.Hidden && from.status != LinkOK || from.link.Hidden; !hidden {
		out.Grants = r.grants(out.Role)
	}
	if r.State == Scheduled {
		out.OpensAt = r.opensAtForRole(out.Role)
	}
	if from.known && from.seat.State != Free && !from.seat.Hidden {
		out.Others--
	}
	return out
}

// LinkStatus returns the status of a link's token for the browser with a seat key. It writes
// nothing. The error is NotFound if the room does not exist.
func (s *Joining) LinkStatus(ctx context.Context, roomID, token, seatKey string) (LinkStatus, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return NoLink, err
	}
	f := facts{room: r}
	if err := s.loadLink(ctx, &f, token); err != nil {
		return NoLink, err
	}
	_, status := f.resolveLink(token, seal.Hash(seatKey), s.now())
	return status, nil
}

// Preflight returns a token with which the page of a visitor who may see the room tests the
// connection to the media engine. It takes no seat and writes nothing.
func (s *Joining) Preflight(ctx context.Context, roomID string, v JoinRequest) (token string, err error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return "", err
	}
	if r.State != Scheduled { // the test is allowed before the room opens
		if err := checkOpen(r); err != nil {
			return "", err
		}
	}
	p, err := s.checkProject(ctx, r)
	if err != nil {
		return "", err
	}
	if _, _, err := s.recognize(ctx, r, p, v, s.now()); err != nil {
		return "", err
	}
	return s.PreflightToken(ctx, v.ClientAddr)
}

// PreflightToken returns a token with which a client tests the connection to the media engine for some
// seconds. The error is Exhausted or Unavailable, with CodePreflightBusy if too many tests are running.
func (s *Joining) PreflightToken(ctx context.Context, client netip.Addr) (token string, err error) {
	token, err = s.media.PreflightToken(ctx, network.ClientPrefix(client).String())
	if err != nil && fault.From(err).Code != CodePreflightBusy {
		err = mediaUnavailable(err)
	}
	return token, err
}
