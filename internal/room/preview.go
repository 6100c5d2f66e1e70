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
	Returning       bool   // this browser has a seat already
	MustWait        bool   // a host has to let the visitor in
	HostPresent     bool   // a host or co-host is in the room
	JoinedElsewhere bool   // the visitor is in the room in another browser; joining here disconnects it there
	LinkStatus      LinkStatus
	OpensAt         time.Time // when this visitor may enter a scheduled room; zero if it is open
	LogoutURL       string    // opened after leaving; may be empty
	BrandName       string    // of the project; may be empty
	BrandColor      string    // of the project; may be empty
	BrandLogo       project.Logo
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
	p := Preview{Room: r, TakenSeats: o.Taken, HostPresent: o.Hosts > 0, LogoutURL: logoutURL(r, project),
		BrandName: project.Settings.BrandName, BrandColor: project.Settings.BrandColor}
	if p.BrandLogo, err = s.store.Logo(ctx, project.ID); err != nil {
		return Preview{}, err
	}
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
	p.Others = o.Taken
	if visitor.known && visitor.seat.State != Free && !visitor.seat.Hidden {
		p.Others--
	}
	if p.MustWait = r.mustWait(visitor, link); p.MustWait {
		return p, s.checkNotDenied(ctx, r, keyHash)
	}
	p.OtherNames, err = s.store.PresentNames(ctx, r.ID, visitor.seat.ID, maxPreviewNames)
	return p, err
}

// LinkStatus returns the status of a link's token for the browser with a seat key. It writes
// nothing. The error is NotFound if the room does not exist.
func (s *Service) LinkStatus(ctx context.Context, roomID, token, seatKey string) (LinkStatus, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return NoLink, err
	}
	_, status, err := s.resolveLink(ctx, r, token, seal.Hash(seatKey), s.now())
	return status, err
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
