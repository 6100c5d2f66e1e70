package join

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/refusal"
	"parley/internal/room"
)

// Joining is the part of the room service for visitors.
type Joining interface {
	Preview(ctx context.Context, roomID string, req room.JoinRequest) (room.Preview, error)
	Preflight(ctx context.Context, roomID string, req room.JoinRequest) (token string, err error)
	LinkStatus(ctx context.Context, roomID, token, seatKey string) (room.LinkStatus, error)
	ReserveSeat(ctx context.Context, roomID string, req room.JoinRequest) (room.Admission, error)
	StopWaiting(ctx context.Context, roomID, seatKey string) error
	PublicTitle(ctx context.Context, roomID string) (string, error)
}

// Moderation is the part of the room service for the people in a room.
type Moderation interface {
	OpenBreakouts(ctx context.Context, roomID, seatKey string, req room.OpenBreakoutsRequest) ([]room.Breakout, error)
	CloseBreakouts(ctx context.Context, roomID, seatKey string) error
	Move(ctx context.Context, roomID, seatKey, identity string, to int) error
	Broadcast(ctx context.Context, roomID, seatKey, text string) error
	People(ctx context.Context, roomID, seatKey string) (room.People, error)
	Admit(ctx context.Context, roomID, seatKey, identity string) error
	Deny(ctx context.Context, roomID, seatKey, identity string) error
	CreateInvitation(ctx context.Context, roomID, seatKey string, role room.Role) (link string, err error)
	Mute(ctx context.Context, roomID, seatKey, identity string) error
	AskToUnmute(ctx context.Context, roomID, seatKey, identity string) error
	Remove(ctx context.Context, roomID, seatKey, identity string) error
	Readmit(ctx context.Context, roomID, seatKey, identity string) error
	UpdateLocks(ctx context.Context, roomID, seatKey string, change room.LockChange) error
	SetRole(ctx context.Context, roomID, seatKey, identity string, role room.Role) error
	EndByHost(ctx context.Context, roomID, seatKey string) error
	RaiseHand(ctx context.Context, roomID, seatKey string) error
	LowerHand(ctx context.Context, roomID, seatKey, identity string) error
	LowerHands(ctx context.Context, roomID, seatKey string) error
	React(ctx context.Context, roomID, seatKey string, reaction room.Reaction) error
	GiveFeedback(ctx context.Context, roomID, seatKey string, rating room.Rating) error
}

// Limiter limits the attempts of each client address.
type Limiter interface {
	// RecordAttempt records an attempt and reports whether the address has
	// exceeded its limit, and then when it may try again.
	RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration)
}

// Limits are the limits for each client address; nil means no limit.
type Limits struct {
	Guesses Limiter // unknown rooms, links and checks
	Checks  Limiter // connection checks
	Calls   Limiter // all calls
}

// Server handles the requests of the room page.
type Server struct {
	joining    Joining
	moderation Moderation
	checks     ConnectionChecks
	logos      Logos
	limits     Limits
	refusals   *refusal.Recorder
	now        func() time.Time
}

// NewHandler returns the handler for all paths under /api/join/. refusals counts
// and logs the requests that exceed a limit.
func NewHandler(joining Joining, moderation Moderation, checks ConnectionChecks, logos Logos, limits Limits,
	refusals *refusal.Recorder, now func() time.Time) http.Handler {
	s := &Server{
		joining:    joining,
		moderation: moderation,
		checks:     checks,
		logos:      logos,
		limits:     limits,
		refusals:   refusals,
		now:        now,
	}
	mux := httpx.NewMux(notFound, notAllowed)
	mux.Handle(routes("/api/join", s))
	return httpx.WithRequestID(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if err := s.countCall(r); err != nil {
			s.writeError(w, r, err)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// countCall counts a call against the limit of its address.
func (s *Server) countCall(r *http.Request) error {
	if s.limits.Calls == nil {
		return nil
	}
	over, retryAfter := s.limits.Calls.RecordAttempt(httpx.FromContext(r.Context()).Client)
	if !over {
		return nil
	}
	return &fault.Error{Kind: fault.Exhausted, Code: string(ErrorCodeTooManyAttempts), RetryAfter: retryAfter,
		Message: "too many requests from your network, try again in a moment"}
}

// PreviewRoom responds with the room as the visitor sees it before joining.
func (s *Server) PreviewRoom(w http.ResponseWriter, r *http.Request, roomID string) {
	p, err := s.preview(w, r, roomID)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, p)
}

func (s *Server) preview(w http.ResponseWriter, r *http.Request, roomID string) (Preview, error) {
	o, err := readObject(w, r)
	if err != nil {
		return Preview{}, err
	}
	req := room.JoinRequest{LinkToken: httpx.OrZero(o.Text("link")), SeatKey: httpx.OrZero(o.Text("seat_key")),
		ClientAddr: httpx.FromContext(r.Context()).Client}
	if err := o.Err(); err != nil {
		return Preview{}, err
	}
	p, err := s.joining.Preview(r.Context(), roomID, req)
	if p.LinkStatus == room.LinkUnknown {
		if err := s.recordGuess(r); err != nil {
			return Preview{}, err
		}
	}
	if err != nil {
		return Preview{}, err
	}
	id, err := uuid.Parse(p.Room.ID)
	if err != nil {
		return Preview{}, err
	}
	out := Preview{
		RoomId:          id,
		RoomType:        RoomType(p.Room.Type),
		Title:           p.Room.Title,
		WelcomeMessage:  p.Room.WelcomeMessage,
		State:           PreviewState(p.Room.State),
		Participants:    p.TakenSeats,
		MaxParticipants: p.Room.MaxParticipants,
		Features:        newFeatures(p.Room),
		ServerTime:      s.now().UTC(),
	}
	out.HostPresent = p.HostPresent
	out.Others.Count, out.Others.Names = p.Others, append([]string{}, p.OtherNames...)
	if at := p.Room.StartAt; !at.IsZero() {
		out.StartTime = &at
	}
	if at := p.OpensAt; !at.IsZero() {
		out.OpensAt = &at
	}
	out.Test = trueOrNil(p.Test)
	out.LogoutUrl = httpx.OrNil(p.LogoutURL)
	out.BrandName, out.BrandColor = httpx.OrNil(p.BrandName), httpx.OrNil(p.BrandColor)
	out.BrandLogo = brandLogo(p.BrandLogo)
	out.You.Role, out.You.Name, out.You.Returning = Role(p.Role), p.Name, p.Returning
	out.You.Waits, out.You.Full, out.You.Elsewhere = p.MustWait, p.Full, p.JoinedElsewhere
	g := p.Grants
	out.You.MaySend = Sources{Microphone: g.Microphone, Camera: g.Camera, ScreenShare: g.ScreenShare, Chat: g.Chat}
	if p.LinkStatus != room.NoLink {
		link := PreviewYouLink(p.LinkStatus)
		out.You.Link = &link
	}
	return out, nil
}

// Preflight responds with a token for a connection test.
func (s *Server) Preflight(w http.ResponseWriter, r *http.Request, roomID string) {
	token, err := s.preflight(w, r, roomID)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, Check{MediaToken: token})
}

func (s *Server) preflight(w http.ResponseWriter, r *http.Request, roomID string) (string, error) {
	o, err := readObject(w, r)
	if err != nil {
		return "", err
	}
	req := room.JoinRequest{LinkToken: httpx.OrZero(o.Text("link")), SeatKey: httpx.OrZero(o.Text("seat_key")),
		ClientAddr: httpx.FromContext(r.Context()).Client}
	if err := o.Err(); err != nil {
		return "", err
	}
	if err := s.countCheck(req.ClientAddr); err != nil {
		return "", err
	}
	if err := s.countWrongLink(r, roomID, req); err != nil {
		return "", err
	}
	return s.joining.Preflight(r.Context(), roomID, req)
}

// countCheck counts a connection check against the limit of its address.
func (s *Server) countCheck(client netip.Addr) error {
	if s.limits.Checks == nil {
		return nil
	}
	over, retryAfter := s.limits.Checks.RecordAttempt(client)
	if !over {
		return nil
	}
	return &fault.Error{Kind: fault.Exhausted, Code: string(ErrorCodeCheckBusy), RetryAfter: retryAfter,
		Message: "too many connection checks from your address, try again in a moment"}
}

// ReserveSeat reserves a seat, or responds with 202 while the visitor waits for
// admission.
func (s *Server) ReserveSeat(w http.ResponseWriter, r *http.Request, roomID string) {
	a, err := s.reserveSeat(w, r, roomID)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	if a.RetryAfter > 0 {
		httpx.WriteJSON(w, http.StatusAccepted, Wait{AskAgainIn: int(a.RetryAfter / time.Second), HostPresent: a.HostPresent})
		return
	}
	httpx.WriteJSON(w, http.StatusOK, newSeat(a))
}

func (s *Server) reserveSeat(w http.ResponseWriter, r *http.Request, roomID string) (room.Admission, error) {
	o, err := readObject(w, r)
	if err != nil {
		return room.Admission{}, err
	}
	req := room.JoinRequest{
		Name:         o.RequiredText("name"),
		SeatKey:      o.RequiredText("seat_key"),
		LinkToken:    httpx.OrZero(o.Text("link")),
		ExpectedRole: room.Role(httpx.OrZero(o.Text("role"))),
		ClientAddr:   httpx.FromContext(r.Context()).Client,
	}
	if err := o.Err(); err != nil {
		return room.Admission{}, err
	}
	// Counted first, so that a refused guess holds no seat.
	if err := s.countWrongLink(r, roomID, req); err != nil {
		return room.Admission{}, err
	}
	return s.joining.ReserveSeat(r.Context(), roomID, req)
}

// trueOrNil returns nil for false, which the response leaves out.
func trueOrNil(b bool) *bool {
	if !b {
		return nil
	}
	return &b
}

func newSeat(a room.Admission) Seat {
	out := Seat{
		Identity:     a.Seat.ID,
		Name:         a.Seat.Name,
		Role:         Role(a.Seat.Role),
		SessionId:    a.SessionID,
		MediaToken:   a.Token,
		RoomType:     RoomType(a.Room.Type),
		Title:        a.Room.Title,
		Test:         trueOrNil(a.Test),
		MaxBreakouts: a.Room.BreakoutRooms,
		Features:     newFeatures(a.Room),
		LogoutUrl:    httpx.OrNil(a.LogoutURL),
		InvitedOnly:  a.InvitationsRequired,
	}
	if b := a.Breakout; b.N > 0 {
		out.Breakout = &Breakout{Number: b.N, Name: b.Name}
	}
	return out
}

func newFeatures(r *room.Room) Features {
	return Features{Camera: r.Features.Camera, ScreenShare: r.Features.ScreenShare, Chat: r.Features.Chat}
}

func readObject(w http.ResponseWriter, r *http.Request) (*httpx.Object, error) {
	body, err := httpx.ReadJSONBody(w, r)
	if err != nil {
		return nil, err
	}
	return httpx.ParseObject(body)
}

// countWrongLink records a link that does not exist as a guess. A preview reads the link
// itself, so that it reads it once.
func (s *Server) countWrongLink(r *http.Request, roomID string, req room.JoinRequest) error {
	if req.LinkToken == "" {
		return nil
	}
	status, err := s.joining.LinkStatus(r.Context(), roomID, req.LinkToken, req.SeatKey)
	if err == nil && status == room.LinkUnknown {
		err = s.recordGuess(r)
	}
	return err
}

// recordGuess records an unknown room id or link token of the client's address,
// so that nobody can try many of the random ids and tokens. It returns an
// Exhausted error if the address has exceeded the limit.
func (s *Server) recordGuess(r *http.Request) error {
	if s.limits.Guesses == nil {
		return nil
	}
	over, retryAfter := s.limits.Guesses.RecordAttempt(httpx.FromContext(r.Context()).Client)
	if !over {
		return nil
	}
	return &fault.Error{Kind: fault.Exhausted, Code: "too_many_attempts",
		Message: "too many wrong links from your address, try again in a moment", RetryAfter: retryAfter}
}
