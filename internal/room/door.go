package room

import (
	"context"
	"crypto/subtle"
	"time"

	"parley/internal/fault"
	"parley/internal/field"
	"parley/internal/seal"
)

// passTTL is how long a media token opens the door; connections outlive it.
const passTTL = 10 * time.Minute

// LinkVerdict is what became of the link a visitor came with.
type LinkVerdict string

// The verdicts. NoLink is for visitors who came without one.
const (
	NoLink      LinkVerdict = ""
	LinkOK      LinkVerdict = "ok"      // grants its role to this visitor
	LinkTaken   LinkVerdict = "taken"   // another browser used it first
	LinkUnknown LinkVerdict = "unknown" // not a link of this room
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
}

// Admission is a seat with the token that opens the media connection.
type Admission struct {
	Seat      Seat
	Room      *Room
	SessionID string
	Token     string
	Link      LinkVerdict
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
	if err := s.projectAdmits(ctx, r); err != nil {
		return Preview{}, err
	}
	o, err := s.store.Occupancy(ctx, r.ID)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Room: r, Taken: o.Taken, Role: Guest}
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
	if p.Link = r.judge(v.Link, keyHash); p.Link == LinkOK {
		p.Role = Host
		if p.Name == "" {
			p.Name = r.CreatorName
		}
	}
	return p, nil
}

// TakeSeat reserves a seat, or gives a visitor's own back, before any token is
// made: of N+1 people who ask at once for N seats exactly one is refused. The
// creator's link is claimed here, by the first browser that joins with it.
// Refusals: NotFound, Gone (over), Conflict (room_full, room_not_open,
// link_taken), Forbidden (project), Invalid (name).
func (s *Service) TakeSeat(ctx context.Context, roomID string, v Visit) (Admission, error) {
	if err := firstError(field.Text("name", v.Name, 1, maxText, false), checkSeatKey(v.SeatKey)); err != nil {
		return Admission{}, err
	}
	keyHash := seal.Hash(v.SeatKey)
	var out Admission
	err := s.change(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		out = Admission{}
		if err := s.admits(ctx, r); err != nil {
			return err
		}
		if err := s.store.ReleaseSeats(ctx, r.ID, now); err != nil {
			return err
		}
		o, err := s.store.Occupancy(ctx, r.ID)
		if err != nil {
			return err
		}
		if state, reason, over := r.verdict(now, o); over {
			ended := *r
			ended.State, ended.EndReason = state, reason
			return refusal(&ended)
		}
		seat, err := s.store.SeatByKey(ctx, r.ID, keyHash)
		known := err == nil
		if !known {
			if !fault.Is(err, fault.NotFound) {
				return err
			}
			seat = Seat{ID: s.newID(), RoomID: r.ID, KeyHash: keyHash, Role: Guest, State: Free, CreatedAt: now}
		}
		out.Link = r.judge(v.Link, keyHash)
		switch out.Link {
		case LinkOK:
			seat.Role, r.CreatorLinkClaim = Host, keyHash
		case LinkTaken, LinkUnknown:
			if v.Role == Host && seat.Role != Host {
				return fault.New(fault.Conflict, "link_taken", "this link was already used in another browser")
			}
		}
		if seat.State == Free && o.Taken >= r.MaxParticipants {
			return full(r)
		}
		seat.Name = v.Name
		if seat.State != Joined {
			seat.State, seat.HeldUntil = Reserved, now.Add(reserveFor)
		}
		if known {
			err = s.store.UpdateSeat(ctx, seat)
		} else {
			err = s.store.InsertSeat(ctx, seat)
		}
		if err != nil {
			return err
		}
		if !r.SessionLive {
			r.Session++
			r.SessionLive = true
			if err := s.store.InsertSession(ctx, Session{RoomID: r.ID, N: r.Session, State: SessionLive}, now); err != nil {
				return err
			}
		}
		out.Seat, out.Room, out.SessionID = seat, r, SessionID(r.ID, r.Session)
		return nil
	})
	if err != nil {
		return Admission{}, err
	}
	if err := s.media.Open(ctx, MediaSession{Name: out.SessionID, Type: out.Room.Type, MaxParticipants: out.Room.MaxParticipants}); err != nil {
		return Admission{}, &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
			Message: "the media engine does not answer, try again in a moment", RetryAfter: time.Second, Err: err}
	}
	out.Token, err = s.media.Pass(MediaPass{Session: out.SessionID, Identity: out.Seat.ID, Name: out.Seat.Name,
		Role: out.Seat.Role, Type: out.Room.Type, TTL: passTTL})
	return out, err
}

// admits says whether anybody may come in at all.
func (s *Service) admits(ctx context.Context, r *Room) error {
	if err := refusal(r); err != nil {
		return err
	}
	return s.projectAdmits(ctx, r)
}

func (s *Service) projectAdmits(ctx context.Context, r *Room) error {
	p, err := s.store.Project(ctx, r.ProjectID)
	if err != nil {
		return err
	}
	return p.Admits()
}

// judge says what a link's token is worth to the visitor with that seat key.
func (r *Room) judge(token, keyHash string) LinkVerdict {
	switch {
	case token == "":
		return NoLink
	case subtle.ConstantTimeCompare([]byte(seal.Hash(token)), []byte(r.CreatorLinkHash)) != 1:
		return LinkUnknown
	case r.CreatorLinkClaim == "" || r.CreatorLinkClaim == keyHash:
		return LinkOK
	}
	return LinkTaken
}

func full(r *Room) error {
	return fault.New(fault.Conflict, "room_full", "this room is full: all %d seats are taken", r.MaxParticipants)
}

// checkSeatKey holds a seat key to the length that at least 128 random bits
// need in Base64url.
func checkSeatKey(key string) error {
	if len(key) < 22 || len(key) > 128 {
		return fault.Invalidf("seat_key must have 22 to 128 characters")
	}
	return nil
}
