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

// Breakout rooms are further sessions of their room and share its seats, duration and
// attendance. A seat stores the breakout room that its participant is assigned to. A
// page that receives MessageMove asks for its seat again, and the admission leads it
// to the assigned session.

const (
	maxBreakoutName = 60
	maxBroadcast    = 500
)

// OpenBreakoutsRequest is a request to open breakout rooms and assign participants.
type OpenBreakoutsRequest struct {
	Names            []string       // one for each breakout room, 1 to 60 characters
	DistributeEvenly bool           // distribute the guests who are in the room evenly
	Assign           map[string]int // identity to index in Names
}

// OpenBreakouts opens breakout rooms for a host or co-host, at most as many at once
// as the room allows. Errors: NotFound, Gone (over), Forbidden (not a host),
// Conflict (not open yet, or too many open), Exhausted (too many in an hour),
// Invalid.
func (s *Moderation) OpenBreakouts(ctx context.Context, roomID, seatKey string, q OpenBreakoutsRequest) (
	[]Breakout, error,
) {
	q.Names = slices.Clone(q.Names)
	for i, name := range q.Names {
		q.Names[i] = validate.CleanName(name) // a host typed it
	}
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
				Message: fmt.Sprintf("a room may open at most %d breakout rooms per hour, try again later", maxBreakoutsPerHour)}
		}
		if open := len(listOpenBreakouts(all)); open+len(q.Names) > r.BreakoutRooms {
			return fault.New(fault.Conflict, "too_many_breakouts",
				"this room may have at most %d open breakout rooms, and %d are open already", r.BreakoutRooms, open)
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
		if err := s.assignSeats(ctx, r, q, opened); err != nil {
			return err
		}
		action := HostAction{Kind: HostOpenedBreakouts, By: actorOf(host)}
		action.Details.Count = len(opened)
		return s.recordHostAction(ctx, r, action, now)
	})
	if err != nil {
		return nil, err
	}
	s.requestMoves(ctx, roomID)
	return opened, nil
}

// maxBreakoutsPerHour is the maximum number of breakout rooms that a room opens in an
// hour, including closed ones, because their rows are stored as long as the room.
const maxBreakoutsPerHour = 6 * validate.MaxBreakoutRooms

// openBreakoutsRetryAfter returns how long to wait until n more breakout rooms may be
// opened, or 0 if they may be opened now. all must be in the order of opening.
func openBreakoutsRetryAfter(all []Breakout, n int, now time.Time) time.Duration {
	i := len(all) + n - maxBreakoutsPerHour - 1 // index of the breakout room that must be an hour old
	if i < 0 {
		return 0
	}
	return max(0, all[min(i, len(all)-1)].OpenedAt.Add(time.Hour).Sub(now))
}

// checkTargets returns Forbidden if a co-host assigns a host.
func (q OpenBreakoutsRequest) checkTargets(ctx context.Context, s *Moderation, r *Room, by Seat) error {
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
	if len(q.Names) == 0 || len(q.Names) > validate.MaxBreakoutRooms {
		return fault.Invalidf("names must have 1 to %d entries", validate.MaxBreakoutRooms)
	}
	for _, name := range q.Names {
		if err := validate.Name("names", name, 1, maxBreakoutName); err != nil {
			return err
		}
	}
	for _, i := range q.Assign {
		if i < 0 || i >= len(q.Names) {
			return fault.Invalidf("each value in assign must be an index into names, 0 to %d", len(q.Names)-1)
		}
	}
	return nil
}

// assignSeats assigns the seats to the opened breakout rooms.
func (s *Moderation) assignSeats(ctx context.Context, r *Room, q OpenBreakoutsRequest, opened []Breakout) error {
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return err
	}
	distributed := 0
	for _, seat := range seats {
		i, named := q.Assign[seat.ID]
		if !named && (!q.DistributeEvenly || seat.Hidden || seat.Role != Guest || seat.Breakout != 0) {
			continue
		}
		if !named {
			i = distributed % len(opened)
			distributed++
		}
		seat.Breakout = opened[i].N
		r.lowerHand(&seat)
		if err := s.store.UpdateSeat(ctx, seat); err != nil {
			return err
		}
	}
	return nil
}

// Move assigns a participant to an open breakout room, or to the room itself if to
// is 0. All participants may move themselves; hosts may move all others, co-hosts all
// others except hosts. An empty identity means the caller's own.
func (s *Moderation) Move(ctx context.Context, roomID, seatKey, identity string, to int) error {
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		caller, err := s.ownSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		seat := caller
		if identity != "" && identity != caller.ID {
			if caller.Role == Guest {
				return errNotHost
			}
			if seat, err = s.store.Seat(ctx, r.ID, identity); err != nil {
				return err
			}
			if seat.Role == Host && caller.Role != Host {
				return errTargetIsHost
			}
		}
		breakout, err := s.openBreakout(ctx, r, to)
		if err != nil {
			return err
		}
		if breakout.N != to {
			return fault.New(fault.NotFound, "breakout_not_found", "there is no open breakout room %d", to)
		}
		moved := seat.Breakout != to
		if moved {
			r.lowerHand(&seat)
		}
		seat.Breakout = to
		if err := s.store.UpdateSeat(ctx, seat); err != nil || !moved || seat.ID == caller.ID {
			return err
		}
		action := HostAction{Kind: HostMoved, By: actorOf(caller), Target: actorOf(seat)}
		action.Details.Breakout = &to
		return s.recordHostAction(ctx, r, action, now)
	})
	if err == nil {
		s.requestMoves(ctx, roomID)
	}
	return err
}

// CloseBreakouts closes all breakout rooms of a room and assigns their participants
// to the room itself. It does nothing if none is open.
func (s *Moderation) CloseBreakouts(ctx context.Context, roomID, seatKey string) error {
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		host, err := s.hostSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		all, err := s.store.Breakouts(ctx, r.ID)
		if err != nil {
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
			// The actual session counts, not the assigned one. A participant who was
			// assigned to a breakout room but has not moved yet need not reconnect.
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
		if err := s.store.CloseSessions(ctx, r.ID, true, now); err != nil {
			return err
		}
		action := HostAction{Kind: HostClosedBreakouts, By: actorOf(host)}
		if action.Details.Count = len(listOpenBreakouts(all)); action.Details.Count == 0 {
			return nil
		}
		return s.recordHostAction(ctx, r, action, now)
	})
	if err == nil {
		s.wakeRun() // Run closes the sessions, and then the pages ask for their seats
	}
	return err
}

// Broadcast sends a text from a host or co-host to all participants of the room and
// its breakout rooms.
func (s *Moderation) Broadcast(ctx context.Context, roomID, seatKey, text string) error {
	if err := validate.Text("text", text, 1, maxBroadcast, true); err != nil {
		return err
	}
	_, host, err := s.roomAsHost(ctx, roomID, seatKey)
	if err != nil {
		return err
	}
	message := Message{Kind: MessageBroadcast, Text: strings.TrimSpace(text), From: host.Name}
	err = s.eachSession(ctx, roomID, func(session string, _ *Room, _ Metadata) error {
		if err := s.media.SendMessage(ctx, session, nil, message); err != nil {
			return mediaUnavailable(err)
		}
		return nil
	})
	if err == nil {
		s.recordDoneAction(ctx, roomID, HostAction{Kind: HostBroadcast, By: actorOf(host)})
	}
	return err
}

// EndByHost ends the room for all participants. The caller must be a host; a co-host
// is not sufficient.
func (s *Moderation) EndByHost(ctx context.Context, roomID, seatKey string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		seat, err := s.ownSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		if seat.Role != Host {
			return fault.New(fault.Forbidden, "not_host", "only a host may end the room for all")
		}
		r.requestEnd(EndedHost)
		return s.recordHostAction(ctx, r, HostAction{Kind: HostEnded, By: actorOf(seat)}, now)
	})
}

var errNotHost = fault.New(fault.Forbidden, "not_host", "only a host or co-host may do this")

// ownSeat returns the taken seat with that seat key, or Forbidden if there is none.
func (s *Moderation) ownSeat(ctx context.Context, r *Room, seatKey string) (Seat, error) {
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

// hostSeat returns the same seat as ownSeat, and Forbidden if it is a guest's.
func (s *Moderation) hostSeat(ctx context.Context, r *Room, seatKey string) (Seat, error) {
	seat, err := s.ownSeat(ctx, r, seatKey)
	if err == nil && seat.Role == Guest {
		return Seat{}, errNotHost
	}
	return seat, err
}

// roomAsHost returns a room and the caller's seat in it, and Forbidden unless the
// caller is a host or co-host.
func (s *Moderation) roomAsHost(ctx context.Context, roomID, seatKey string) (*Room, Seat, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return nil, Seat{}, err
	}
	host, err := s.hostSeat(ctx, r, seatKey)
	return r, host, err
}

// openBreakout returns breakout room n, or the zero Breakout, which stands for the
// room itself, if it is not open.
func (s *core) openBreakout(ctx context.Context, r *Room, n int) (Breakout, error) {
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

// requestMoves sends MessageMove to the participants who are in another session than
// assigned. A failure is only logged, because the next reconciliation repeats it.
func (s *core) requestMoves(ctx context.Context, roomID string) {
	s.logFailure(ctx, "request moves", s.sendMoveRequests(ctx, roomID), "room_id", roomID)
}

func (s *core) sendMoveRequests(ctx context.Context, roomID string) error {
	p, err := s.loadPlacement(ctx, roomID)
	if err != nil {
		return err
	}
	misplaced := map[int][]string{} // identities by their current session
	for _, a := range p.present {
		if n, taken := p.assigned[a.SeatID]; taken && n != a.Session {
			misplaced[a.Session] = append(misplaced[a.Session], a.SeatID)
		}
	}
	for n, identities := range misplaced {
		err = errors.Join(err, s.media.SendMessage(ctx, SessionID(roomID, n), identities, Message{Kind: MessageMove}))
	}
	return err
}
