package room

import (
	"context"
	"strings"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/seal"
	"parley/internal/validate"
)

// LinkStatus says whether a visitor's link is valid.
type LinkStatus string

// The statuses of a link. NoLink means that the visitor came without a link.
const (
	NoLink      LinkStatus = ""
	LinkOK      LinkStatus = "ok"      // grants its role to this visitor
	LinkTaken   LinkStatus = "taken"   // another browser redeemed it
	LinkExpired LinkStatus = "expired" // it expired, or its creator is no longer a host
	LinkUnknown LinkStatus = "unknown" // not a link of this room
)

// maxLinkSeconds is the maximum of Invitation.ExpiresIn, in seconds. It is as far
// ahead as a room may be scheduled.
const maxLinkSeconds = maxDaysAhead * 24 * 60 * 60

// maxLinksCreatedInRoom is the maximum number of links that hosts and co-hosts may
// create in a room.
const maxLinksCreatedInRoom = 100

// Invitation describes a new link.
type Invitation struct {
	Role           Role
	SingleUse      bool   // only the first browser that joins with the link can use it
	Personal       bool   // for the person whose name is in it
	Name           string // display name; required if Personal
	UserID         string // the person's id in the integrator's system
	Hidden         bool   // requires the project's setting hidden_participants
	ExpiresIn      int    // seconds; 0 means that the link expires with its room
	IdempotencyKey *IdempotencyKey
	// SignedBody is the body of a call whose signature covers only the body. A body
	// that was used as a join event of the room first is refused.
	SignedBody []byte

	createdBy string // seat of the host or co-host who creates the link in the room
}

// Invite creates a link into a room that is not over and returns it:
// {public_url}/r/{room_id}#t=TOKEN. The project must own the room and admit joins.
// Errors: NotFound, Conflict when the room is over, Forbidden (project), Invalid
// with the field and the bound.
func (s *Bookings) Invite(
	ctx context.Context, p project.Project, roomID string, q Invitation,
) (link string, err error) {
	if saved := q.IdempotencyKey.savedResult(); saved != nil {
		return saved.FinalLink, nil
	}
	if err := q.validate(p.Settings); err != nil {
		return "", err
	}
	if err := p.AllowsJoins(); err != nil {
		return "", err
	}
	allowed, err := s.entitlements(ctx, p)
	if err != nil {
		return "", err
	}
	err = s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if err := r.checkOwner(p); err != nil {
			return err
		}
		if r.Over() {
			return errRoomOver(r)
		}
		if err := s.useQuota(ctx, p, QuotaLinks, allowed.Quotas.Links, now); err != nil {
			return err
		}
		if q.SignedBody != nil {
			if err := s.markBodyAsCall(ctx, r, q.SignedBody, now); err != nil {
				return err
			}
		}
		if link, err = s.createLink(ctx, r, q, now); err != nil {
			return err
		}
		return s.saveResult(ctx, q.IdempotencyKey, Created{ID: r.ID, Type: r.Type, FinalLink: link}, now)
	})
	return link, err
}

// CreateInvitation creates a link for a host or co-host in the room: a guest link that
// any number of people can use, or a co-host link for one person. The link expires
// with its room, or when its creator is no longer a host or co-host. Errors:
// NotFound, Gone (over), Forbidden (not a host, project), Conflict (not open yet,
// or too many links), Invalid.
func (s *Moderation) CreateInvitation(ctx context.Context, roomID, seatKey string, role Role) (link string, err error) {
	if role != Guest && role != CoHost {
		return "", fault.Invalidf("role must be cohost or guest")
	}
	err = s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		host, err := s.hostSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		if _, err := s.checkProject(ctx, r); err != nil {
			return err
		}
		count, err := s.store.CountLinksCreatedInRoom(ctx, r.ID)
		if err != nil {
			return err
		}
		if count >= maxLinksCreatedInRoom {
			return fault.New(fault.Conflict, "too_many_invitations",
				"hosts may create at most %d links in a room: use one of the existing links", maxLinksCreatedInRoom)
		}
		link, err = s.createLink(ctx, r, Invitation{Role: role, SingleUse: role == CoHost, createdBy: host.ID}, now)
		return err
	})
	return link, err
}

// createLink stores a new link, in the transaction that holds the lock on its room,
// and returns its URL.
func (s *core) createLink(ctx context.Context, r *Room, q Invitation, now time.Time) (string, error) {
	token, err := s.createLinkToken(ctx, r, q, now)
	return s.linkURL(r.ID, token), err
}

// createLinkToken does the same and returns the token of the link.
func (s *core) createLinkToken(ctx context.Context, r *Room, q Invitation, now time.Time) (string, error) {
	token := seal.NewLinkToken().Reveal()
	l := Link{
		ID:        s.newID(),
		RoomID:    r.ID,
		TokenHash: seal.Hash(token),
		Role:      q.Role,
		SingleUse: q.SingleUse,
		Name:      q.Name,
		UserID:    q.UserID,
		Hidden:    q.Hidden,
		CreatedBy: q.createdBy,
		CreatedAt: now,
	}
	if q.ExpiresIn > 0 {
		l.ExpiresAt = now.Add(time.Duration(q.ExpiresIn) * time.Second)
	}
	return token, s.store.InsertLink(ctx, l)
}

func (s *core) linkURL(roomID, token string) string {
	return s.publicURL() + "/r/" + roomID + "#t=" + token
}

// validate returns Invalid with the field and the bound, or Forbidden if the
// project does not allow hidden participants.
func (q Invitation) validate(settings project.Settings) error {
	name := error(nil)
	if q.Personal {
		name = validate.Name("name", q.Name, 1, validate.MaxText)
	}
	err := firstError(name, validate.Text("user_id", q.UserID, 0, validate.MaxText, false),
		validate.Range("expires_in", q.ExpiresIn, 0, maxLinkSeconds))
	if err != nil {
		return err
	}
	if q.Hidden && !settings.HiddenParticipants {
		return &fault.Error{Kind: fault.Forbidden, Code: "hidden_participants_off", Field: "hidden",
			Message: "hidden needs the project's setting hidden_participants, which is off"}
	}
	return nil
}

// checkOwner returns NotFound if the room belongs to another project.
func (r *Room) checkOwner(p project.Project) error {
	if r.ProjectID != p.ID {
		return ErrNotFound
	}
	return nil
}

// ErrNotFound is the error for a room that does not exist or belongs to another project.
var ErrNotFound = fault.New(fault.NotFound, "room_not_found", "there is no such room")

func errRoomOver(r *Room) error {
	return fault.New(fault.Conflict, "room_over", "the room is over already: its state is %s", r.State)
}

// SignedLinks verifies links that a backend has signed itself.
type SignedLinks interface {
	// Verify returns what a link says; signed is false if it was not signed with a live secret of
	// the project. A link that has expired is valid. The error is Invalid for a link that is signed
	// but not acceptable.
	Verify(ctx context.Context, projectID, token string) (l SignedLink, signed bool, err error)
}

// SignedLink is a link that a backend has signed itself.
type SignedLink struct {
	RoomID              string
	Role                Role
	Name                string
	UserID              string
	SingleUse           bool
	IssuedAt, ExpiresAt time.Time
}

// signedLinkSkew is how far the clock of a backend that signs links may be ahead.
const signedLinkSkew = 5 * time.Minute

// signedLink returns the link into a room that a backend has signed itself. It is not stored, unless it
// is single-use and was redeemed. The page says of a link with a mistake only that it is unknown, so the
// log names the mistake.
func (s *Joining) signedLink(ctx context.Context, r *Room, token string) (l Link, found bool, err error) {
	if s.options.SignedLinks == nil {
		return Link{}, false, nil
	}
	link, signed, err := s.options.SignedLinks.Verify(ctx, r.ProjectID, token)
	if !signed {
		return Link{}, false, err
	}
	if err == nil {
		err = link.checkFor(r, s.now())
	}
	if fault.Is(err, fault.Invalid) {
		s.log.Warn("refused a signed join link", "project_id", r.ProjectID, "room_id", r.ID, "error", err)
		return Link{}, false, nil
	}
	if err != nil {
		return Link{}, false, err
	}
	return Link{
		RoomID:    r.ID,
		TokenHash: seal.Hash(token),
		Role:      link.Role,
		SingleUse: link.SingleUse,
		Name:      validate.CleanName(link.Name),
		UserID:    link.UserID,
		Signed:    true,
		CreatedAt: link.IssuedAt,
		ExpiresAt: link.ExpiresAt,
	}, true, nil
}

// checkFor returns Invalid if the link is not one into the room at this time.
func (l SignedLink) checkFor(r *Room, now time.Time) error {
	if !strings.EqualFold(l.RoomID, r.ID) {
		return fault.InvalidField("room_id", "is another room")
	}
	if l.IssuedAt.After(now.Add(signedLinkSkew)) {
		return fault.InvalidField("iat", "must be at most %v ahead of the clock of the server, which is at %d",
			signedLinkSkew, now.Unix())
	}
	return validate.Text("user_id", l.UserID, 0, validate.MaxText, false)
}

func (r *Room) creatorLink() Link {
	return Link{
		RoomID:     r.ID,
		TokenHash:  r.CreatorLinkHash,
		Role:       Host,
		SingleUse:  true,
		Name:       r.CreatorName,
		UserID:     r.ExternalUserID,
		RedeemedBy: r.CreatorLinkRedeemedBy,
	}
}

// redeemLink records that a single-use link was used with the seat key of that
// hash. It does nothing for other links and for redeemed ones.
func (s *Joining) redeemLink(ctx context.Context, r *Room, l Link, keyHash string) error {
	if !l.SingleUse || l.RedeemedBy != "" {
		return nil
	}
	if l.Signed {
		l.ID, l.RedeemedBy = s.newID(), keyHash
		return s.store.InsertLink(ctx, l)
	}
	if l.ID == "" {
		r.CreatorLinkRedeemedBy = keyHash
		return nil
	}
	return s.store.RedeemLink(ctx, l.ID, keyHash)
}
