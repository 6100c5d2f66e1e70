package room

import (
	"context"
	"crypto/subtle"
	"time"

	"parley/internal/fault"
	"parley/internal/field"
	"parley/internal/project"
	"parley/internal/seal"
)

// LinkVerdict is what became of the link a visitor came with.
type LinkVerdict string

// The verdicts. NoLink is for visitors who came without one.
const (
	NoLink      LinkVerdict = ""
	LinkOK      LinkVerdict = "ok"      // grants its role to this visitor
	LinkTaken   LinkVerdict = "taken"   // another browser used it first
	LinkExpired LinkVerdict = "expired" // its time is over
	LinkUnknown LinkVerdict = "unknown" // not a link of this room
)

// maxLinkSeconds bounds how far ahead a link may expire by itself: as far as
// a room may be scheduled.
const maxLinkSeconds = 366 * 24 * 60 * 60

// maxMadeIn is how many links people in a room may make there.
const maxMadeIn = 100

// Invitation says what a new link shall be.
type Invitation struct {
	Role      Role
	Single    bool   // the first browser that joins with it keeps it
	Personal  bool   // for the one whose name is in it
	Name      string // required of a personal one
	UserID    string // the person in the client's own system
	Hidden    bool   // needs the project's setting
	ExpiresIn int    // seconds; 0: with its room
	Once      *Once
	// Signed is the body of a call that is signed over its body alone. A body
	// that was a join event of the room first is refused.
	Signed []byte

	madeBy string // the seat of who made it in the room
}

// Invite makes a link into a room that is not over and returns it:
// {public_url}/r/{room_id}#t=TOKEN. The project must be the room's own and
// admit joins. Refusals: NotFound, Conflict when the room is over, Forbidden
// (project), Invalid with the field and the bound.
func (s *Service) Invite(ctx context.Context, p project.Project, roomID string, q Invitation) (link string, err error) {
	if err := q.check(p.Settings); err != nil {
		return "", err
	}
	if err := p.Admits(); err != nil {
		return "", err
	}
	err = s.change(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if err := r.belongsTo(p); err != nil {
			return err
		}
		if r.Over() {
			return errOver(r)
		}
		if q.Signed != nil {
			if err := s.usedAsCall(ctx, r, q.Signed, now); err != nil {
				return err
			}
		}
		if link, err = s.invite(ctx, r, q, now); err != nil {
			return err
		}
		return s.told(ctx, q.Once, Created{ID: r.ID, Type: r.Type, FinalLink: link}, now)
	})
	return link, err
}

// InviteFrom makes a link as a host or co-host in the room wishes: one that many
// may open as guests, or one that makes a single person a co-host. It lives as
// long as its room, and as whoever made it runs that. Refusals: NotFound, Gone
// (over), Forbidden (not a host, project), Conflict (not open yet, or too many),
// Invalid.
func (s *Service) InviteFrom(ctx context.Context, roomID, seatKey string, role Role) (link string, err error) {
	if role != Guest && role != CoHost {
		return "", fault.Invalidf("role must be cohost or guest")
	}
	err = s.change(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		host, err := s.hostSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		if _, err := s.admittingProject(ctx, r); err != nil {
			return err
		}
		made, err := s.store.CountLinksMadeIn(ctx, r.ID)
		if err != nil {
			return err
		}
		if made >= maxMadeIn {
			return fault.New(fault.Conflict, "too_many_invitations", "%d links were made in this room, and no more are allowed: use one of those", maxMadeIn)
		}
		link, err = s.invite(ctx, r, Invitation{Role: role, Single: role == CoHost, madeBy: host.ID}, now)
		return err
	})
	return link, err
}

// invite writes a link inside the transaction that holds its room.
func (s *Service) invite(ctx context.Context, r *Room, q Invitation, now time.Time) (string, error) {
	token := seal.NewLinkToken().Reveal()
	l := Link{ID: s.newID(), RoomID: r.ID, TokenHash: seal.Hash(token), Role: q.Role, Single: q.Single,
		Name: q.Name, UserID: q.UserID, Hidden: q.Hidden, MadeBy: q.madeBy, CreatedAt: now}
	if q.ExpiresIn > 0 {
		l.ExpiresAt = now.Add(time.Duration(q.ExpiresIn) * time.Second)
	}
	return s.linkTo(r.ID, token), s.store.InsertLink(ctx, l)
}

func (s *Service) linkTo(roomID, token string) string {
	return s.publicURL() + "/r/" + roomID + "#t=" + token
}

// check holds an invitation to its bounds. A personal one stands in user_info.
func (q Invitation) check(settings project.Settings) error {
	name, user := error(nil), "user_id"
	if q.Personal {
		name, user = field.Name("user_info.name", q.Name, 1, maxText), "user_info.client_user_id"
	}
	if err := firstError(name, field.Text(user, q.UserID, 0, maxText, false), field.Range("expires_in", q.ExpiresIn, 0, maxLinkSeconds)); err != nil {
		return err
	}
	if q.Hidden && !settings.HiddenParticipants {
		return fault.New(fault.Forbidden, "hidden_participants_off", "user_info.is_hidden needs the project's setting hidden_participants, which is off")
	}
	return nil
}

// belongsTo answers another project's room as one that does not exist.
func (r *Room) belongsTo(p project.Project) error {
	if r.ProjectID != p.ID {
		return errNoRoom
	}
	return nil
}

var errNoRoom = fault.New(fault.NotFound, "room_not_found", "there is no such room")

func errOver(r *Room) error {
	return fault.New(fault.Conflict, "room_over", "the room is over already: its state is %s", r.State)
}

// judge says what the link with that token is worth to the visitor with that
// seat key. The link is empty unless the verdict is OK.
func (s *Service) judge(ctx context.Context, r *Room, token, keyHash string, now time.Time) (Link, LinkVerdict, error) {
	if token == "" {
		return Link{}, NoLink, nil
	}
	hash := seal.Hash(token)
	l := r.creatorLink()
	if subtle.ConstantTimeCompare([]byte(hash), []byte(r.CreatorLinkHash)) != 1 {
		var err error
		if l, err = s.store.LinkByHash(ctx, r.ID, hash); fault.Is(err, fault.NotFound) {
			return Link{}, LinkUnknown, nil
		} else if err != nil {
			return Link{}, "", err
		}
	}
	switch {
	case l.Single && l.Claim != "" && l.Claim != keyHash:
		return Link{}, LinkTaken, nil
	case !l.ExpiresAt.IsZero() && !now.Before(l.ExpiresAt) && l.Claim == "":
		return Link{}, LinkExpired, nil // who has used it in time may come back
	case l.MadeBy != "" && l.Claim == "":
		if runs, err := s.runs(ctx, r, l.MadeBy); err != nil || !runs {
			return Link{}, LinkExpired, err
		}
	}
	return l, LinkOK, nil
}

// runs reports whether a seat's holder still is a host or co-host of a room.
func (s *Service) runs(ctx context.Context, r *Room, seatID string) (bool, error) {
	seat, err := s.store.Seat(ctx, r.ID, seatID)
	return seat.Role != Guest && seat.RemovedAt.IsZero(), err
}

func (r *Room) creatorLink() Link {
	return Link{RoomID: r.ID, TokenHash: r.CreatorLinkHash, Role: Host, Single: true, Name: r.CreatorName,
		UserID: r.ExternalUserID, Claim: r.CreatorLinkClaim}
}

// claim gives a link that admits one person to the browser with that seat key.
func (s *Service) claim(ctx context.Context, r *Room, l Link, keyHash string) error {
	if !l.Single || l.Claim != "" {
		return nil
	}
	if l.ID == "" {
		r.CreatorLinkClaim = keyHash
		return nil
	}
	return s.store.ClaimLink(ctx, l.ID, keyHash)
}
