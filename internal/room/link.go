package room

import (
	"context"
	"crypto/subtle"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/seal"
	"parley/internal/validate"
)

// LinkStatus is what became of the link a visitor came with.
type LinkStatus string

// The verdicts. NoLink is for visitors who came without one.
const (
	NoLink      LinkStatus = ""
	LinkOK      LinkStatus = "ok"      // grants its role to this visitor
	LinkTaken   LinkStatus = "taken"   // another browser used it first
	LinkExpired LinkStatus = "expired" // its time is over
	LinkUnknown LinkStatus = "unknown" // not a link of this room
)

// maxLinkSeconds bounds how far ahead a link may expire by itself: as far as
// a room may be scheduled.
const maxLinkSeconds = 366 * 24 * 60 * 60

// maxLinksCreatedInRoom is how many links people in a room may make there.
const maxLinksCreatedInRoom = 100

// Invitation says what a new link shall be.
type Invitation struct {
	Role           Role
	SingleUse      bool   // the first browser that joins with it keeps it
	Personal       bool   // for the one whose name is in it
	Name           string // required of a personal one
	UserID         string // the person in the client's own system
	Hidden         bool   // needs the project's setting
	ExpiresIn      int    // seconds; 0: with its room
	IdempotencyKey *IdempotencyKey
	// Signed is the body of a call that is signed over its body alone. A body
	// that was a join event of the room first is refused.
	SignedBody []byte

	createdBy string // the seat of who made it in the room
}

// Invite makes a link into a room that is not over and returns it:
// {public_url}/r/{room_id}#t=TOKEN. The project must be the room's own and
// admit joins. Refusals: NotFound, Conflict when the room is over, Forbidden
// (project), Invalid with the field and the bound.
func (s *Service) Invite(ctx context.Context, p project.Project, roomID string, q Invitation) (link string, err error) {
	if saved := q.IdempotencyKey.savedResult(); saved != nil {
		return saved.FinalLink, nil
	}
	if err := q.validate(p.Settings); err != nil {
		return "", err
	}
	if err := p.AllowsJoins(); err != nil {
		return "", err
	}
	err = s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if err := r.checkOwner(p); err != nil {
			return err
		}
		if r.Over() {
			return errRoomOver(r)
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

// InviteAsHost makes a link as a host or co-host in the room wishes: one that many
// may open as guests, or one that makes a single person a co-host. It lives as
// long as its room, and as whoever made it runs that. Refusals: NotFound, Gone
// (over), Forbidden (not a host, project), Conflict (not open yet, or too many),
// Invalid.
func (s *Service) InviteAsHost(ctx context.Context, roomID, seatKey string, role Role) (link string, err error) {
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
		made, err := s.store.CountLinksCreatedInRoom(ctx, r.ID)
		if err != nil {
			return err
		}
		if made >= maxLinksCreatedInRoom {
			return fault.New(fault.Conflict, "too_many_invitations", "%d links were made in this room, and no more are allowed: use one of those", maxLinksCreatedInRoom)
		}
		link, err = s.createLink(ctx, r, Invitation{Role: role, SingleUse: role == CoHost, createdBy: host.ID}, now)
		return err
	})
	return link, err
}

// createLink writes a link inside the transaction that holds its room.
func (s *Service) createLink(ctx context.Context, r *Room, q Invitation, now time.Time) (string, error) {
	token := seal.NewLinkToken().Reveal()
	l := Link{ID: s.newID(), RoomID: r.ID, TokenHash: seal.Hash(token), Role: q.Role, SingleUse: q.SingleUse,
		Name: q.Name, UserID: q.UserID, Hidden: q.Hidden, CreatedBy: q.createdBy, CreatedAt: now}
	if q.ExpiresIn > 0 {
		l.ExpiresAt = now.Add(time.Duration(q.ExpiresIn) * time.Second)
	}
	return s.linkURL(r.ID, token), s.store.InsertLink(ctx, l)
}

func (s *Service) linkURL(roomID, token string) string {
	return s.publicURL() + "/r/" + roomID + "#t=" + token
}

// validate holds an invitation to its bounds. A personal one stands in user_info.
func (q Invitation) validate(settings project.Settings) error {
	name, user := error(nil), "user_id"
	if q.Personal {
		name, user = validate.Name("user_info.name", q.Name, 1, maxText), "user_info.client_user_id"
	}
	if err := firstError(name, validate.Text(user, q.UserID, 0, maxText, false), validate.Range("expires_in", q.ExpiresIn, 0, maxLinkSeconds)); err != nil {
		return err
	}
	if q.Hidden && !settings.HiddenParticipants {
		return fault.New(fault.Forbidden, "hidden_participants_off", "user_info.is_hidden needs the project's setting hidden_participants, which is off")
	}
	return nil
}

// checkOwner answers another project's room as one that does not exist.
func (r *Room) checkOwner(p project.Project) error {
	if r.ProjectID != p.ID {
		return errRoomNotFound
	}
	return nil
}

var errRoomNotFound = fault.New(fault.NotFound, "room_not_found", "there is no such room")

func errRoomOver(r *Room) error {
	return fault.New(fault.Conflict, "room_over", "the room is over already: its state is %s", r.State)
}

// resolveLink says what the link with that token is worth to the visitor with that
// seat key. The link is empty unless the verdict is OK.
func (s *Service) resolveLink(ctx context.Context, r *Room, token, keyHash string, now time.Time) (Link, LinkStatus, error) {
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
	case l.SingleUse && l.RedeemedBy != "" && l.RedeemedBy != keyHash:
		return Link{}, LinkTaken, nil
	case !l.ExpiresAt.IsZero() && !now.Before(l.ExpiresAt) && l.RedeemedBy == "":
		return Link{}, LinkExpired, nil // who has used it in time may come back
	case l.CreatedBy != "" && l.RedeemedBy == "":
		if runs, err := s.isStillHost(ctx, r, l.CreatedBy); err != nil || !runs {
			return Link{}, LinkExpired, err
		}
	}
	return l, LinkOK, nil
}

// isStillHost reports whether a seat's holder still is a host or co-host of a room.
func (s *Service) isStillHost(ctx context.Context, r *Room, seatID string) (bool, error) {
	seat, err := s.store.Seat(ctx, r.ID, seatID)
	return seat.Role != Guest && seat.RemovedAt.IsZero(), err
}

func (r *Room) creatorLink() Link {
	return Link{RoomID: r.ID, TokenHash: r.CreatorLinkHash, Role: Host, SingleUse: true, Name: r.CreatorName,
		UserID: r.ExternalUserID, RedeemedBy: r.CreatorLinkRedeemedBy}
}

// redeemLink gives a link that admits one person to the browser with that seat key.
func (s *Service) redeemLink(ctx context.Context, r *Room, l Link, keyHash string) error {
	if !l.SingleUse || l.RedeemedBy != "" {
		return nil
	}
	if l.ID == "" {
		r.CreatorLinkRedeemedBy = keyHash
		return nil
	}
	return s.store.RedeemLink(ctx, l.ID, keyHash)
}
