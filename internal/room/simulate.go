package room

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/seal"
	"parley/internal/validate"
)

// This file simulates meetings in rooms of test projects, so that an integrator can test the code
// that handles events and attendance without a browser. A simulated participant takes a seat like
// everybody else, but has no connection in the media engine.

// The bounds of a Simulation.
const (
	MaxSimulatedPeople = 20
	MaxSimulation      = 60 // seconds
	DefaultSimulation  = 10 // seconds

	// maxSimulations is how many simulations a process runs at once.
	maxSimulations = 50
)

// Simulation describes a simulated meeting: the people join one after another in the first third of
// the time, and leave in the last third in the opposite order. The first one who joins stays to the end
// of the room. A host ends the room then; otherwise the server ends it, with the reason of an empty room.
type Simulation struct {
	People         []SimulatedPerson // 1 to MaxSimulatedPeople; nil for a host and two guests
	Seconds        int               // from the first join to the end of the room, 1 to MaxSimulation
	IdempotencyKey *IdempotencyKey
}

// SimulatedPerson is a participant of a simulated meeting.
type SimulatedPerson struct {
	Name   string // display name, 1 to 255 characters
	UserID string // ID in the integrator's system; different for each person, may be empty
	IsHost bool
}

// completed returns the simulation with its people, or Invalid with the field and the bound.
func (q Simulation) completed() (Simulation, error) {
	if q.People == nil {
		q.People = []SimulatedPerson{{"Test host", "test-host", true}, {"Test guest 1", "test-guest-1", false},
			{"Test guest 2", "test-guest-2", false}}
	}
	if n := len(q.People); n < 1 || n > MaxSimulatedPeople {
		return q, fault.InvalidField("people", "must have 1 to %d entries, not %d", MaxSimulatedPeople, n)
	}
	users := map[string]bool{}
	for i, person := range q.People {
		field := fmt.Sprintf("people[%d].", i)
		if err := firstError(validate.Name(field+"name", person.Name, 1, validate.MaxText),
			validate.Text(field+"client_user_id", person.UserID, 0, validate.MaxText, false)); err != nil {
			return q, err
		}
		if users[person.UserID] {
			return q, fault.InvalidField(field+"client_user_id", "must be different from that of the other people")
		}
		users[person.UserID] = person.UserID != ""
	}
	return q, validate.Range("seconds", q.Seconds, 1, MaxSimulation)
}

// Simulate starts a simulated meeting in an open room and returns it with its people. The meeting goes on
// after the return. If the process stops, nobody else joins, and it ends at once; after a crash, the room
// ends like one whose participants were lost. Errors: NotFound, Conflict (over, not open yet, too few
// seats, or a simulation in progress), Exhausted (too many simulations), Forbidden (project, or not a test
// project), Unavailable (stopping), Invalid with the field and the bound.
func (s *Simulator) Simulate(ctx context.Context, p project.Project, roomID string, q Simulation) (Simulation, error) {
	if !p.Test {
		return q, fault.New(fault.Forbidden, "not_a_test_project", "this is no test project: use the keys of one, "+
			"which the operator creates")
	}
	q, err := q.completed()
	if err != nil || q.IdempotencyKey.savedResult() != nil {
		return q, err
	}
	if err := p.AllowsJoins(); err != nil {
		return q, err
	}
	if _, err := s.bookings.GetInProject(ctx, p, roomID); err != nil {
		return q, err
	}
	if err := s.simulations.begin(roomID); err != nil {
		return q, err
	}
	tokens, err := s.inviteSimulated(ctx, roomID, q)
	if err != nil {
		s.simulations.end(roomID)
		return q, err
	}
	go func() {
		defer s.simulations.end(roomID)
		s.runSimulation(roomID, q, tokens)
	}()
	return q, nil
}

// inviteSimulated creates a link for each person and returns their tokens.
func (s *Simulator) inviteSimulated(ctx context.Context, roomID string, q Simulation) (tokens []string, err error) {
	err = s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		tokens = nil
		if r.Over() {
			return errRoomOver(r)
		}
		if err := checkOpen(r); err != nil {
			return err
		}
		o, err := s.store.Occupancy(ctx, r.ID)
		if err != nil {
			return err
		}
		free := r.MaxParticipants - o.Taken
		if free <= 0 {
			return fault.New(fault.Conflict, codeRoomFull, "this room is full: all %d seats are taken", r.MaxParticipants)
		}
		if len(q.People) > free {
			return fault.New(fault.Conflict, codeRoomFull, "people must have at most %d entries, because the room has "+
				"%d seats, of which %d are taken", free, r.MaxParticipants, o.Taken)
		}
		for _, person := range q.People {
			link := Invitation{
				Role:      Guest,
				SingleUse: true,
				Personal:  true,
				Name:      person.Name,
				UserID:    person.UserID,
			}
			if person.IsHost {
				link.Role = Host
			}
			token, err := s.createLinkToken(ctx, r, link, now)
			if err != nil {
				return err
			}
			tokens = append(tokens, token)
		}
		return s.bookings.saveResult(ctx, q.IdempotencyKey, Created{ID: r.ID, Type: r.Type}, now)
	})
	return tokens, err
}

// simulatedParticipant is a person of a simulation who has joined.
type simulatedParticipant struct {
	SimulatedPerson
	seatKey, session, identity, connection string
}

func (s *Simulator) runSimulation(roomID string, q Simulation, tokens []string) {
	ctx := context.Background()
	s.log.Info("simulating a meeting", "room_id", roomID, "people", len(q.People), "seconds", q.Seconds)
	began := time.Now()
	third := time.Duration(q.Seconds) * time.Second / 3
	step := third / time.Duration(len(q.People))
	var present []simulatedParticipant
	defer func() { // also if the room ends meanwhile
		for _, participant := range present {
			s.simulations.disconnect(participant.connection)
		}
	}()
	for i, person := range q.People {
		s.simulations.waitUntil(began.Add(time.Duration(i) * step))
		if s.simulations.isStopping() {
			break
		}
		joined, err := s.joinSimulated(ctx, roomID, person, tokens[i])
		if fault.Is(err, fault.Gone) {
			return // somebody has ended the room
		}
		if s.logFailure(ctx, "simulate a join", err, "room_id", roomID) {
			continue
		}
		present = append(present, joined)
	}
	for i, participant := range slices.Backward(present) {
		if i > 0 {
			s.simulations.waitUntil(began.Add(2*third + time.Duration(len(present)-i)*step))
			s.leaveSimulated(participant)
		}
	}
	s.simulations.waitUntil(began.Add(3 * third))
	var err error
	isHost := len(present) > 0 && present[0].IsHost
	if isHost {
		err = s.moderation.EndByHost(ctx, roomID, present[0].seatKey)
	} else if len(present) > 0 {
		s.leaveSimulated(present[0])
	}
	if !isHost || fault.Is(err, fault.Forbidden) { // the host was removed meanwhile
		_, err = s.bookings.End(ctx, roomID, EndedEmpty)
	}
	if !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Gone) { // somebody has ended the room meanwhile
		s.logFailure(ctx, "end a simulated meeting", err, "room_id", roomID)
	}
}

func (s *Simulator) joinSimulated(ctx context.Context, roomID string, person SimulatedPerson, token string) (
	out simulatedParticipant, err error,
) {
	out = simulatedParticipant{SimulatedPerson: person, seatKey: seal.NewLinkToken().Reveal(),
		connection: "SIM_" + CompactID(s.newID())}
	a, err := s.joining.ReserveSeat(ctx, roomID, JoinRequest{LinkToken: token, SeatKey: out.seatKey, Name: person.Name})
	if err != nil {
		return out, err
	}
	out.session, out.identity = a.SessionID, a.Seat.ID
	s.simulations.connect(out.connection)
	s.presence.ParticipantJoined(out.session, out.identity, out.connection, s.now())
	return out, nil
}

func (s *Simulator) leaveSimulated(p simulatedParticipant) {
	s.presence.ParticipantLeft(p.session, p.identity, p.connection, s.now(), LeftByChoice)
	s.simulations.disconnect(p.connection)
}

// simulations are the simulated meetings of this process.
type simulations struct {
	mu          sync.Mutex
	rooms       map[string]bool
	connections map[string]bool // of the simulated participants who are in a room
	stopping    chan struct{}   // closed by stop
	running     sync.WaitGroup
}

func newSimulations() *simulations {
	return &simulations{rooms: map[string]bool{}, connections: map[string]bool{}, stopping: make(chan struct{})}
}

// begin reserves a simulation in a room; end releases it.
func (s *simulations) begin(roomID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isStopping():
		return &fault.Error{Kind: fault.Unavailable, Code: "unavailable", RetryAfter: time.Second,
			Message: "the service is stopping, try again in a moment"}
	case s.rooms[roomID]:
		return fault.New(fault.Conflict, "simulation_in_progress",
			"a meeting is being simulated in this room already, and ends it: create a new room")
	case len(s.rooms) >= maxSimulations:
		return &fault.Error{Kind: fault.Exhausted, Code: "too_many_simulations", RetryAfter: 10 * time.Second,
			Message: fmt.Sprintf("this server is simulating %d meetings already, try again in 10 seconds", maxSimulations)}
	}
	s.rooms[roomID] = true
	s.running.Add(1)
	return nil
}

func (s *simulations) end(roomID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rooms, roomID)
	s.running.Done()
}

func (s *simulations) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

// waitUntil returns at a time, or at once when the process stops.
func (s *simulations) waitUntil(at time.Time) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.stopping:
	}
}

func (s *simulations) connect(connection string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections[connection] = true
}

func (s *simulations) disconnect(connection string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, connection)
}

// isConnected reports whether a connection is that of a simulated participant who is in a room.
func (s *simulations) isConnected(connection string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections[connection]
}

// Stop ends all simulated meetings of this process now, and lets no other begin. Run does the same when
// it ends.
func (s *Simulator) Stop() { s.simulations.stop() }

// stop makes all simulations end now, waits for their ends, and lets no other begin.
func (s *simulations) stop() {
	s.mu.Lock()
	if !s.isStopping() {
		close(s.stopping)
	}
	s.mu.Unlock()
	s.running.Wait()
}
