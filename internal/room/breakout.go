package room

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/internal/fault"
	"parley/internal/seal"
	"parley/internal/validate"
)

// Breakout rooms: rooms beside a room, for some of its people for a while.
// They are sessions of their room: its seats, its time and its ledger are
// theirs. Where somebody belongs is written on their seat; a page that is told
// to move asks for its seat again and is led there.

const (
	maxBreakoutName = 60
	maxBroadcast    = 500
)

// OpenBreakoutsRequest says which breakout rooms to open, and who goes where.
type OpenBreakoutsRequest struct {
	Names            []string       // one for each room, 1 to 60 characters
	DistributeEvenly bool           // deal out the guests who are in
	Assign           map[string]int // by identity: the place of their room in Names, from 0
}

// OpenBreakouts opens breakout rooms, as a host or co-host wishes. As many may
// be open at once as the room allows. Refusals: NotFound, Gone (over), Forbidden
// (not a host), Conflict (not open yet, or too many), Invalid.
func (s *Service) OpenBreakouts(ctx context.Context, roomID, seatKey string, q OpenBreakoutsRequest) ([]Breakout, error) {
	if err := q.validate(); err != nil {
		return nil, err
	}
	var opened []Breakout
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		opened = nil
		host, err := s.hostSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		all, err := s.store.Breakouts(ctx, r.ID)
		if err != nil {
			return err
		}
		if err := q.checkTargets(ctx, s, r, host); err != nil {
			return err
		}
		if wait := openBreakoutsRetryAfter(all, len(q.Names), now); wait > 0 {
			return &fault.Error{Kind: fault.Exhausted, Code: "too_many_attempts", RetryAfter: wait,
				Message: fmt.Sprintf("a room may open %d breakout rooms an hour, try again later", maxBreakoutsPerHour)}
		}
		if open := len(listOpenBreakouts(all)); open+len(q.Names) > r.BreakoutRooms {
			return fault.New(fault.Conflict, "too_many_breakouts", "this room may have %d breakout rooms, and %d are open", r.BreakoutRooms, open)
		}
		for i, name := range q.Names {
			b := Breakout{RoomID: r.ID, N: len(all) + i + 1, Name: name, OpenedAt: now}
			if b.Session, err = s.startSession(ctx, r, b.N, now); err != nil {
				return err
			}
			if err := s.store.InsertBreakout(ctx, b); err != nil {
				return err
			}
			opened = append(opened, b)
		}
		r.metadataChanged = true
		return s.assignSeats(ctx, r, q, opened)
	})
	if err != nil {
		return nil, err
	}
	s.requestMoves(ctx, roomID)
	return opened, nil
}

// maxBreakoutsPerHour bounds the breakout rooms that a room opens in an hour, open or
// closed since: each is a row that lives as long as its room.
const maxBreakoutsPerHour = 6 * maxBreakoutRooms

// openBreakoutsRetryAfter returns how long to wait until n more breakout rooms may be opened;
// 0 for now. all are in the order of their opening.
func openBreakoutsRetryAfter(all []Breakout, n int, now time.Time) time.Duration {
	i := len(all) + n - maxBreakoutsPerHour - 1 // has to be an hour old
	if i < 0 {
		return 0
	}
	return max(0, all[min(i, len(all)-1)].OpenedAt.Add(time.Hour).Sub(now))
}

// checkTargets refuses that a co-host moves a host.
func (q OpenBreakoutsRequest) checkTargets(ctx context.Context, s *Service, r *Room, by Seat) error {
	if by.Role == Host || len(q.Assign) == 0 {
		return nil
	}
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, seat := range seats {
		if _, named := q.Assign[seat.ID]; named && seat.Role == Host {
			return errTargetIsHost
		}
	}
	return nil
}

func (q OpenBreakoutsRequest) validate() error {
	if len(q.Names) == 0 || len(q.Names) > maxBreakoutRooms {
		return fault.Invalidf("names must have 1 to %d entries", maxBreakoutRooms)
	}
	for _, name := range q.Names {
		if err := validate.Name("names", name, 1, maxBreakoutName); err != nil {
			return err
		}
	}
	for _, i := range q.Assign {
		if i < 0 || i >= len(q.Names) {
			return fault.Invalidf("assign must say where in names somebody's room stands, from 0 to %d", len(q.Names)-1)
		}
	}
	return nil
}

// assignSeats writes on the seats who belongs where.
func (s *Service) assignSeats(ctx context.Context, r *Room, q OpenBreakoutsRequest, opened []Breakout) error {
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return err
	}
	dealt := 0
	for _, seat := range seats {
		i, named := q.Assign[seat.ID]
		if !named && (!q.DistributeEvenly || seat.Hidden || seat.Role != Guest || seat.Breakout != 0) {
			continue
		}
		if !named {
			i = dealt % len(opened)
			dealt++
		}
		seat.Breakout = opened[i].N
		r.lowerHand(&seat)
		if err := s.store.UpdateSeat(ctx, seat); err != nil {
			return err
		}
	}
	return nil
}

// Move says where somebody belongs from now: in a breakout room that is open,
// or, with 0, in the room itself. Everybody may move themselves, hosts
// anybody, co-hosts anybody but hosts. An empty identity is the caller's own.
func (s *Service) Move(ctx context.Context, roomID, seatKey, identity string, to int) error {
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, _ time.Time) error {
		own, err := s.ownSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		seat := own
		if identity != "" && identity != own.ID {
			if own.Role == Guest {
				return errNotHost
			}
			if seat, err = s.store.Seat(ctx, r.ID, identity); err != nil {
				return err
			}
			if seat.Role == Host && own.Role != Host {
				return errTargetIsHost
			}
		}
		place, err := s.openBreakout(ctx, r, to)
		if err != nil {
			return err
		}
		if place.N != to {
			return fault.New(fault.NotFound, "breakout_not_found", "there is no open breakout room %d", to)
		}
		if seat.Breakout != to {
			r.lowerHand(&seat)
		}
		seat.Breakout = to
		return s.store.UpdateSeat(ctx, seat)
	})
	if err == nil {
		s.requestMoves(ctx, roomID)
	}
	return err
}

// CloseBreakouts ends all breakout rooms of a room; who is in them belongs in
// the room again. Closing none is not an error.
func (s *Service) CloseBreakouts(ctx context.Context, roomID, seatKey string) error {
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if _, err := s.hostSeat(ctx, r, seatKey); err != nil {
			return err
		}
		seats, err := s.store.Seats(ctx, r.ID)
		if err != nil {
			return err
		}
		present, err := s.store.CurrentAttendance(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, seat := range seats {
			// Where they are decides, not where they belong: who was called
			// and has not moved stays where they are.
			away := slices.ContainsFunc(present, func(a Attendance) bool {
				return a.SeatID == seat.ID && a.Connection == seat.Connection && a.Session != r.Session
			})
			if away || seat.Breakout > 0 && seat.State == Reserved {
				seat.HeldUntil = now.Add(rejoinTimeout)
			}
			if seat.Breakout > 0 {
				r.lowerHand(&seat)
			}
			seat.Breakout = 0
			if err := s.store.UpdateSeat(ctx, seat); err != nil {
				return err
			}
		}
		r.metadataChanged = true
		return s.store.CloseSessions(ctx, r.ID, true, now)
	})
	if err == nil {
		s.wakeRun() // the engine closes them, and the pages ask for their seats
	}
	return err
}

// Broadcast says something to everybody in the room and its breakout rooms.
func (s *Service) Broadcast(ctx context.Context, roomID, seatKey, text string) error {
	if err := validate.Text("text", text, 1, maxBroadcast, true); err != nil {
		return err
	}
	_, host, err := s.roomAsHost(ctx, roomID, seatKey)
	if err != nil {
		return err
	}
	message := Message{Kind: MessageBroadcast, Text: strings.TrimSpace(text), From: host.Name}
	return s.eachSession(ctx, roomID, func(session string, _ *Room, _ Metadata) error {
		if err := s.media.SendMessage(ctx, session, nil, message); err != nil {
			return mediaUnavailable(err)
		}
		return nil
	})
}

// EndByHost ends the room for all. Only a host may, not a co-host.
func (s *Service) EndByHost(ctx context.Context, roomID, seatKey string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, _ time.Time) error {
		seat, err := s.ownSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		if seat.Role != Host {
			return fault.New(fault.Forbidden, "not_host", "only a host may end the room for all")
		}
		r.requestEnd(EndedHost)
		return nil
	})
}

var errNotHost = fault.New(fault.Forbidden, "not_host", "only a host or co-host may do this")

// ownSeat returns the taken seat of whoever has the seat key.
func (s *Service) ownSeat(ctx context.Context, r *Room, seatKey string) (Seat, error) {
	if err := checkSeatKey(seatKey); err != nil {
		return Seat{}, err
	}
	if err := checkOpen(r); err != nil {
		return Seat{}, err
	}
	seat, err := s.store.SeatByKey(ctx, r.ID, seal.Hash(seatKey))
	if fault.Is(err, fault.NotFound) || err == nil && seat.State == Free {
		return Seat{}, fault.New(fault.Forbidden, "not_in_room", "you are not in this room")
	}
	return seat, err
}

func (s *Service) hostSeat(ctx context.Context, r *Room, seatKey string) (Seat, error) {
	seat, err := s.ownSeat(ctx, r, seatKey)
	if err == nil && seat.Role == Guest {
		return Seat{}, errNotHost
	}
	return seat, err
}

// roomAsHost returns a room and the seat of a host or co-host in it.
func (s *Service) roomAsHost(ctx context.Context, roomID, seatKey string) (*Room, Seat, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return nil, Seat{}, err
	}
	host, err := s.hostSeat(ctx, r, seatKey)
	return r, host, err
}

// openBreakout returns the breakout room of that number while it is open, and
// otherwise zero: the room itself.
func (s *Service) openBreakout(ctx context.Context, r *Room, n int) (Breakout, error) {
	if n == 0 {
		return Breakout{}, nil
	}
	all, err := s.store.Breakouts(ctx, r.ID)
	if err != nil {
		return Breakout{}, err
	}
	for _, b := range all {
		if b.N == n && b.ClosedAt.IsZero() {
			return b, nil
		}
	}
	return Breakout{}, nil
}

// requestMoves tells the pages of those who belong elsewhere than they are. What
// fails here is made up for by the next look.
func (s *Service) requestMoves(ctx context.Context, roomID string) {
	s.logFailure(ctx, "tell people to move", s.sendMoveRequests(ctx, roomID), "room_id", roomID)
}

func (s *Service) sendMoveRequests(ctx context.Context, roomID string) error {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return err
	}
	all, err := s.store.Breakouts(ctx, roomID)
	if err != nil {
		return err
	}
	present, err := s.store.CurrentAttendance(ctx, roomID)
	if err != nil {
		return err
	}
	seats, err := s.store.Seats(ctx, roomID)
	if err != nil {
		return err
	}
	belongs := map[string]int{} // seat → session
	for _, seat := range seats {
		belongs[seat.ID] = r.Session
		if i := slices.IndexFunc(all, func(b Breakout) bool { return b.N == seat.Breakout && b.ClosedAt.IsZero() }); i >= 0 {
			belongs[seat.ID] = all[i].Session
		}
	}
	astray := map[int][]string{}
	for _, a := range present {
		if n, taken := belongs[a.SeatID]; taken && n != a.Session {
			astray[a.Session] = append(astray[a.Session], a.SeatID)
		}
	}
	for n, identities := range astray {
		err = errors.Join(err, s.media.SendMessage(ctx, SessionID(roomID, n), identities, Message{Kind: MessageMove}))
	}
	return err
}
