package join

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"parley/internal/api/web"
	"parley/internal/fault"
	"parley/internal/refusal"
	"parley/internal/room"
)

// Rooms is what the page needs of the rooms.
type Rooms interface {
	Preview(ctx context.Context, roomID string, v room.Visit) (room.Preview, error)
	Check(ctx context.Context, roomID string, client netip.Addr) (token string, err error)
	TakeSeat(ctx context.Context, roomID string, v room.Visit) (room.Admission, error)
	OpenBreakouts(ctx context.Context, roomID, seatKey string, q room.Opening) ([]room.Breakout, error)
	CloseBreakouts(ctx context.Context, roomID, seatKey string) error
	Move(ctx context.Context, roomID, seatKey, identity string, to int) error
	Broadcast(ctx context.Context, roomID, seatKey, text string) error
	People(ctx context.Context, roomID, seatKey string) (room.People, error)
	LetIn(ctx context.Context, roomID, seatKey, identity string) error
	TurnAway(ctx context.Context, roomID, seatKey, identity string) error
	InviteFrom(ctx context.Context, roomID, seatKey string, role room.Role) (link string, err error)
	Mute(ctx context.Context, roomID, seatKey, identity string) error
	AskToUnmute(ctx context.Context, roomID, seatKey, identity string) error
	Remove(ctx context.Context, roomID, seatKey, identity string) error
	Readmit(ctx context.Context, roomID, seatKey, identity string) error
	Lock(ctx context.Context, roomID, seatKey string, q room.LockChange) error
	Appoint(ctx context.Context, roomID, seatKey, identity string, role room.Role) error
	EndByHost(ctx context.Context, roomID, seatKey string) error
	RaiseHand(ctx context.Context, roomID, seatKey string) error
	LowerHand(ctx context.Context, roomID, seatKey, identity string) error
	LowerHands(ctx context.Context, roomID, seatKey string) error
	React(ctx context.Context, roomID, seatKey string, reaction room.Reaction) error
}

// Limiter bounds how often an address may guess wrong.
type Limiter interface {
	Failed(a netip.Addr) (over bool, retryAfter time.Duration)
}

// Limits bound how often an address may do something; nil is no limit.
type Limits struct {
	Guesses Limiter // wrong rooms and links
	Checks  Limiter // connection checks
}

// Server answers the room page.
type Server struct {
	rooms    Rooms
	limits   Limits
	refusals *refusal.Recorder
	now      func() time.Time
}

// NewHandler returns the handler of everything under /api/join/. refusals
// counts and logs what the limits refuse.
func NewHandler(rooms Rooms, limits Limits, refusals *refusal.Recorder, now func() time.Time) http.Handler {
	s := &Server{rooms: rooms, limits: limits, refusals: refusals, now: now}
	mux := web.NewMux(notFound, notAllowed)
	h := HandlerWithOptions(s, StdHTTPServerOptions{BaseURL: "/api/join", BaseRouter: mux})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-ID", web.From(r.Context()).ID)
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}

// PreviewRoom implements ServerInterface.
func (s *Server) PreviewRoom(w http.ResponseWriter, r *http.Request, roomID RoomID) {
	p, err := s.preview(w, r, roomID)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	web.JSON(w, http.StatusOK, p)
}

func (s *Server) preview(w http.ResponseWriter, r *http.Request, roomID string) (Preview, error) {
	o, err := read(w, r)
	if err != nil {
		return Preview{}, err
	}
	v := room.Visit{Link: text(o.Text("link")), SeatKey: text(o.Text("seat_key"))}
	if err := o.Err(); err != nil {
		return Preview{}, err
	}
	p, err := s.rooms.Preview(r.Context(), roomID, v)
	if err != nil {
		return Preview{}, err
	}
	if p.Link == room.LinkUnknown {
		if err := s.guessed(r); err != nil {
			return Preview{}, err
		}
	}
	id, err := uuid.Parse(p.Room.ID)
	if err != nil {
		return Preview{}, err
	}
	out := Preview{RoomId: id, RoomType: RoomType(p.Room.Type), Title: p.Room.Title, WelcomeMessage: p.Room.WelcomeMessage,
		State: PreviewState(p.Room.State), Participants: p.Taken, MaxParticipants: p.Room.MaxParticipants, Features: features(p.Room), ServerTime: s.now().UTC()}
	if at := p.Room.StartAt; !at.IsZero() {
		out.StartTime = &at
	}
	if at := p.OpensAt; !at.IsZero() {
		out.OpensAt = &at
	}
	out.LogoutUrl = optional(p.LogoutURL)
	out.You.Role, out.You.Name, out.You.Returning = Role(p.Role), p.Name, p.Returning
	out.You.Waits, out.You.Elsewhere = p.Waits, p.Elsewhere
	g := p.Grants
	out.You.MaySend = Sources{Microphone: g.Microphone, Camera: g.Camera, ScreenShare: g.ScreenShare, Chat: g.Chat}
	if p.Link != room.NoLink {
		link := PreviewYouLink(p.Link)
		out.You.Link = &link
	}
	return out, nil
}

// CheckConnection implements ServerInterface.
func (s *Server) CheckConnection(w http.ResponseWriter, r *http.Request, roomID RoomID) {
	token, err := s.check(w, r, roomID)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	web.JSON(w, http.StatusOK, Check{MediaToken: token})
}

func (s *Server) check(w http.ResponseWriter, r *http.Request, roomID string) (string, error) {
	if _, err := read(w, r); err != nil {
		return "", err
	}
	client := web.From(r.Context()).Client
	if s.limits.Checks != nil {
		if over, retryAfter := s.limits.Checks.Failed(client); over {
			return "", &fault.Error{Kind: fault.Exhausted, Code: string(RefusalErrorCodeCheckBusy), RetryAfter: retryAfter,
				Message: "your network has checked its connection too often, try again in a moment"}
		}
	}
	return s.rooms.Check(r.Context(), roomID, client)
}

// TakeSeat implements ServerInterface.
func (s *Server) TakeSeat(w http.ResponseWriter, r *http.Request, roomID RoomID) {
	a, err := s.takeSeat(w, r, roomID)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	if a.Waiting > 0 {
		web.JSON(w, http.StatusAccepted, Wait{AskAgainIn: int(a.Waiting / time.Second)})
		return
	}
	web.JSON(w, http.StatusOK, seat(a))
}

func (s *Server) takeSeat(w http.ResponseWriter, r *http.Request, roomID string) (room.Admission, error) {
	o, err := read(w, r)
	if err != nil {
		return room.Admission{}, err
	}
	v := room.Visit{Name: o.RequiredText("name"), SeatKey: o.RequiredText("seat_key"), Link: text(o.Text("link")), Role: room.Role(text(o.Text("role"))),
		Client: web.From(r.Context()).Client}
	if err := o.Err(); err != nil {
		return room.Admission{}, err
	}
	a, err := s.rooms.TakeSeat(r.Context(), roomID, v)
	if err == nil && a.Link == room.LinkUnknown {
		err = s.guessed(r)
	}
	return a, err
}

func seat(a room.Admission) Seat {
	out := Seat{Identity: a.Seat.ID, Name: a.Seat.Name, Role: Role(a.Seat.Role), SessionId: a.SessionID,
		MediaToken: a.Token, RoomType: RoomType(a.Room.Type), Title: a.Room.Title, MaxBreakouts: a.Room.BreakoutRooms,
		Features: features(a.Room), LogoutUrl: optional(a.LogoutURL), InvitedOnly: a.Invited}
	if b := a.Breakout; b.N > 0 {
		out.Breakout = &Breakout{Number: b.N, Name: b.Name}
	}
	return out
}

func features(r *room.Room) Features {
	return Features{Camera: r.Features.Camera, ScreenShare: r.Features.ScreenShare, Chat: r.Features.Chat}
}

func read(w http.ResponseWriter, r *http.Request) (*web.Object, error) {
	body, err := web.Body(w, r)
	if err != nil {
		return nil, err
	}
	return web.Parse(body)
}

// guessed notes a wrong guess of a room or a link: the ids and tokens are
// random, and this bounds how many can be tried.
func (s *Server) guessed(r *http.Request) error {
	if s.limits.Guesses == nil {
		return nil
	}
	over, retryAfter := s.limits.Guesses.Failed(web.From(r.Context()).Client)
	if !over {
		return nil
	}
	return &fault.Error{Kind: fault.Exhausted, Code: "too_many_attempts",
		Message: "too many wrong links from your address, try again in a moment", RetryAfter: retryAfter}
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
