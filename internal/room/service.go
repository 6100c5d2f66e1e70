package room

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/seal"
)

// Store keeps rooms and what belongs to them. Methods that write run inside
// Write; those that read may.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
	// Project fails with NotFound when there is none of that id.
	Project(ctx context.Context, id string) (project.Project, error)

	// InsertRoom fails with Conflict when the client_room_id is taken.
	InsertRoom(ctx context.Context, r *Room) error
	// Room fails with NotFound when there is none of that id.
	Room(ctx context.Context, id string) (*Room, error)
	// LockRoom is Room, and nobody else changes that room or its seats until
	// the transaction ends.
	LockRoom(ctx context.Context, id string) (*Room, error)
	// UpdateRoom writes what moves while a room lives, Reschedule what was
	// asked for at its creation.
	UpdateRoom(ctx context.Context, r *Room) error
	UpdateRoomSpec(ctx context.Context, r *Room) error
	// DueRooms returns ids of rooms whose DueAt has come, the longest due first.
	DueRooms(ctx context.Context, now time.Time, limit int) ([]string, error)
	// List returns rooms, the newest first.
	List(ctx context.Context, q ListQuery) ([]Summary, error)
	AppendEvents(ctx context.Context, events []event.Event) error

	// InsertIdempotencyRecord stores an answer unless one of that id is there that has not
	// expired by now; it reports whether it did.
	InsertIdempotencyRecord(ctx context.Context, a IdempotencyRecord, now time.Time) (bool, error)
	// Answer fails with NotFound when there is none that is good at now.
	IdempotencyRecord(ctx context.Context, id string, now time.Time) (IdempotencyRecord, error)
	// DeleteExpiredIdempotencyRecords deletes what has expired by now.
	DeleteExpiredIdempotencyRecords(ctx context.Context, now time.Time) error

	InsertSession(ctx context.Context, s Session, at time.Time) error
	// CloseSessions has the live sessions of a room closed, its breakout rooms
	// with them, or these alone.
	CloseSessions(ctx context.Context, roomID string, breakoutsOnly bool, at time.Time) error
	MarkSessionClosed(ctx context.Context, s Session) error
	// Sessions returns the sessions in a state.
	Sessions(ctx context.Context, state SessionState) ([]Session, error)

	InsertBreakout(ctx context.Context, b Breakout) error
	// Breakouts returns all breakout rooms there ever were in a room, in order.
	Breakouts(ctx context.Context, roomID string) ([]Breakout, error)

	InsertLink(ctx context.Context, l Link) error
	// LinkByHash fails with NotFound when the room has no such link.
	LinkByHash(ctx context.Context, roomID, tokenHash string) (Link, error)
	RedeemLink(ctx context.Context, id, claim string) error
	// CountLinksCreatedInRoom says how many links people in a room have made there.
	CountLinksCreatedInRoom(ctx context.Context, roomID string) (int, error)

	// UpsertKnock writes a knock, or writes it anew.
	UpsertKnock(ctx context.Context, k Knock) error
	DeleteKnock(ctx context.Context, id string) error
	// Knocks returns those of a room, the oldest first; some may be over.
	Knocks(ctx context.Context, roomID string) ([]Knock, error)
	// RoomsWithStaleKnocks returns the rooms of which knocks are kept no longer by now.
	RoomsWithStaleKnocks(ctx context.Context, now time.Time) ([]string, error)

	Occupancy(ctx context.Context, roomID string) (Occupancy, error)
	// Seat, SeatByKey and SeatByUser fail with NotFound.
	Seat(ctx context.Context, roomID, id string) (Seat, error)
	SeatByKey(ctx context.Context, roomID, keyHash string) (Seat, error)
	SeatByUser(ctx context.Context, roomID, userID string) (Seat, error)
	// Seats returns the taken seats of a room.
	Seats(ctx context.Context, roomID string) ([]Seat, error)
	// RemovedSeats returns the seats of those whom hosts took out.
	RemovedSeats(ctx context.Context, roomID string) ([]Seat, error)
	// Hands returns the taken seats whose hand is up, in the order of raising.
	RaisedHands(ctx context.Context, roomID string) ([]Seat, error)
	InsertSeat(ctx context.Context, s Seat) error
	UpdateSeat(ctx context.Context, s Seat) error
	// DeleteUnusedSeat deletes a seat unless somebody has been in with it, and
	// reports whether it did.
	DeleteUnusedSeat(ctx context.Context, id string) (bool, error)

	// InsertAttendance reports whether the connection was new.
	InsertAttendance(ctx context.Context, a Attendance) (bool, error)
	// Present returns who is in a room: attendance without an end.
	CurrentAttendance(ctx context.Context, roomID string) ([]Attendance, error)
	EndAttendance(ctx context.Context, id string, at time.Time, reason LeaveReason) error
	// Stays returns all connections there were in a room, in order, hidden
	// ones aside.
	AttendanceRecords(ctx context.Context, roomID string) ([]AttendanceRecord, error)
	// CurrentAttendanceRecords returns those that go on in a project's rooms, or in one.
	CurrentAttendanceRecords(ctx context.Context, projectID, roomID string) ([]AttendanceRecord, error)
	// RunningRooms returns the rooms of a project that are open or active, the
	// oldest first.
	RunningRooms(ctx context.Context, projectID string) ([]*Room, error)
	// PastRooms returns rooms that are over, and how many there are in all.
	PastRooms(ctx context.Context, projectID string, q PastQuery) ([]PastRoom, int, error)

	// Beat notes that a node runs.
	RecordHeartbeat(ctx context.Context, node string, at time.Time) error
	// Nodes returns the nodes that run, and those that were lost.
	Nodes(ctx context.Context) ([]Node, error)
	// RoomsOfNode returns the rooms in which a node says somebody is.
	RoomsOfNode(ctx context.Context, node string) ([]string, error)
	// RemoveNode forgets a node, unless it says that somebody is somewhere.
	RemoveNode(ctx context.Context, node string) error
}

// Service is what may be done with rooms.
type Service struct {
	store           Store
	media           Media
	publicURL       func() string
	now             func() time.Time
	newID           func() string
	log             *slog.Logger
	wake            chan struct{} // a session waits to be closed
	inFlight        sync.Map      // ids of the Once that are under way here
	plans           Plans         // nil: the technical bounds
	webhooks        Webhooks
	joinLimiter     JoinLimiter // nil: no limit
	refusalLog      refusalLog
	reportQueue     reportQueue
	reactionLimiter reactionLimiter
	metadataLocks   keyedMutex
	permissionLocks keyedMutex // one at a time sets permissions in a room

	nodeID     string               // this process's name among others
	clustered  bool                 // there may be others on the same database
	lastWatch  time.Time            // when this node last saw how the others are
	lastSeen   map[string]*lastSeen // of the others, by id; watch's alone, as is watched
	unrecorded map[string]bool      // connections the engine knows and the rows do not, at the last look
}

// Plans knows what the plan of a project's organization allows a room.
type Plans interface {
	Entitlements(ctx context.Context, p project.Project) (Entitlements, error)
}

// NewService returns a Service. publicURL is asked for each link, because the
// port may be known only after listening.
func NewService(store Store, media Media, publicURL func() string, now func() time.Time, newID func() string, log *slog.Logger) *Service {
	return &Service{store: store, media: media, publicURL: publicURL, now: now, newID: newID, log: log, wake: make(chan struct{}, 1),
		webhooks: noWebhooks{}, refusalLog: refusalLog{byRoom: map[string]logged{}}, nodeID: newID(), lastSeen: map[string]*lastSeen{}, unrecorded: map[string]bool{}}
}

// UsePlans lets plans decide what rooms may do. Call it before the first room;
// without it the technical bounds hold.
func (s *Service) UsePlans(plans Plans) { s.plans = plans }

// Webhooks takes events for delivery, in the transaction of their room, and
// says whether there is any. Nudge comes after the commit then.
type Webhooks interface {
	RoomCreated(ctx context.Context, settings project.Settings, webhookURL string, events []event.Event) (bool, error)
	RoomChanged(ctx context.Context, webhookURL string, events []event.Event) (bool, error)
	Wake()
}

// UseWebhooks has events delivered. Call it before the first room; without it
// they are only written down.
func (s *Service) UseWebhooks(w Webhooks) { s.webhooks = w }

// noWebhooks listens.
type noWebhooks struct{}

func (noWebhooks) RoomCreated(context.Context, project.Settings, string, []event.Event) (bool, error) {
	return false, nil
}
func (noWebhooks) RoomChanged(context.Context, string, []event.Event) (bool, error) {
	return false, nil
}
func (noWebhooks) Wake() {}

// Created is a new room and the link that makes its first user the host; for an
// existing room, a new link into it. Idempotency records contain it as JSON, so
// its JSON names must not change.
type Created struct {
	ID           string `json:"id"`
	ClientRoomID string `json:"client_room_id,omitempty"`
	Type         Type   `json:"type"`
	// StartAt is in the time zone of the request; zero for a quick room.
	StartAt   time.Time `json:"start_at,omitzero"`
	FinalLink string    `json:"final_link"` // {public_url}/r/{room_id}#t=TOKEN
	GuestLink string    `json:"guest_link"` // {public_url}/r/{room_id}
	// Adjusted names the features that were lowered to what the plan allows.
	Adjusted []string `json:"adjusted_features,omitempty"`
}

// CreateQuick makes a room that is open at once. The project must admit new
// rooms. Refusals: Invalid with the field and the bound, Conflict when the
// client_room_id is taken or a request with the same IdempotencyKey is in flight.
func (s *Service) CreateQuick(ctx context.Context, p project.Project, q CreateRequest) (Created, error) {
	if saved := q.IdempotencyKey.savedResult(); saved != nil {
		return *saved, nil
	}
	q.StartAt = time.Time{}
	return s.create(ctx, p, q, s.now())
}

// Schedule makes a room that opens at its start time; otherwise it is as
// CreateQuick.
func (s *Service) Schedule(ctx context.Context, p project.Project, q CreateRequest) (Created, error) {
	if saved := q.IdempotencyKey.savedResult(); saved != nil {
		return *saved, nil
	}
	now := s.now()
	if err := checkStart(q.StartAt, now); err != nil {
		return Created{}, err
	}
	return s.create(ctx, p, q, now)
}

func (s *Service) create(ctx context.Context, p project.Project, q CreateRequest, now time.Time) (Created, error) {
	allowed, err := s.entitlements(ctx, p)
	if err != nil {
		return Created{}, err
	}
	r, adjusted, err := applyPolicy(allowed, p.Settings, q)
	if err != nil {
		return Created{}, err
	}
	token := seal.NewLinkToken().Reveal()
	r.ID = s.newID()
	r.ProjectID = p.ID
	r.CreatorLinkHash = seal.Hash(token)
	r.initialize(now)
	guest := s.publicURL() + "/r/" + r.ID
	created := Created{ID: r.ID, ClientRoomID: r.ClientRoomID, Type: r.Type, StartAt: r.StartAt,
		FinalLink: guest + "#t=" + token, GuestLink: guest, Adjusted: adjusted}
	events := r.drainEvents(s.newID)
	waiting := false
	err = s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.saveResult(ctx, q.IdempotencyKey, created, now); err != nil {
			return err
		}
		if err := s.store.InsertRoom(ctx, &r); err != nil {
			return err
		}
		if err := s.store.AppendEvents(ctx, events); err != nil {
			return err
		}
		waiting, err = s.webhooks.RoomCreated(ctx, p.Settings, r.WebhookURL, events)
		return err
	})
	if err != nil {
		return Created{}, err
	}
	if waiting {
		s.webhooks.Wake()
	}
	return created, nil
}

// entitlements returns what the plan of a project allows its rooms.
func (s *Service) entitlements(ctx context.Context, p project.Project) (Entitlements, error) {
	if s.plans == nil {
		return MaxEntitlements, nil
	}
	return s.plans.Entitlements(ctx, p)
}

// Get returns a room, or NotFound.
func (s *Service) Get(ctx context.Context, id string) (*Room, error) { return s.store.Room(ctx, id) }

// GetInProject returns a room of the project, or NotFound.
func (s *Service) GetInProject(ctx context.Context, p project.Project, id string) (*Room, error) {
	r, err := s.store.Room(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, r.checkOwner(p)
}

// updateRoom locks a room, lets work change it and stores it with its events. A
// start that has come happens first, whatever else is due after, and then the
// room's schedule is set anew.
func (s *Service) updateRoom(ctx context.Context, id string, work func(ctx context.Context, r *Room, now time.Time) error) error {
	closing, retold, waiting := false, false, false
	var happened []event.Event
	err := s.store.Write(ctx, func(ctx context.Context) error {
		closing = false
		now := s.now()
		r, err := s.store.LockRoom(ctx, id)
		if err != nil {
			return err
		}
		r.openWhenDue(now)
		if err := work(ctx, r, now); err != nil {
			return err
		}
		if closing, err = s.applyTransitions(ctx, r, now); err != nil {
			return err
		}
		happened, retold = r.drainEvents(s.newID), r.metadataChanged && !r.Over()
		if err := s.store.AppendEvents(ctx, happened); err != nil {
			return err
		}
		if waiting, err = s.webhooks.RoomChanged(ctx, r.WebhookURL, happened); err != nil {
			return err
		}
		return s.store.UpdateRoom(ctx, r)
	})
	if err != nil {
		return err
	}
	for _, e := range happened {
		s.logEvent(e)
	}
	if waiting {
		s.webhooks.Wake()
	}
	if closing {
		s.wakeRun()
	}
	if retold {
		s.publishMetadata(ctx, id)
	}
	return nil
}

// logEvent logs what happened, for the operator.
func (s *Service) logEvent(e event.Event) {
	fields := []any{"room_id", e.RoomID}
	if e.Data.EndReason != "" {
		fields = append(fields, "reason", e.Data.EndReason)
	}
	if p := e.Data.Participant; p != nil {
		fields = append(fields, "identity", p.Identity, "role", p.Role)
		if p.Reason != "" {
			fields = append(fields, "reason", p.Reason)
		}
	}
	s.log.Info(string(e.Type), fields...)
}

// applyTransitions makes true what time and occupancy demand of a room, and reports
// whether a session now waits to be closed.
func (s *Service) applyTransitions(ctx context.Context, r *Room, now time.Time) (closing bool, err error) {
	if r.Over() {
		return false, nil
	}
	o, err := s.occupancy(ctx, r, now)
	if err != nil {
		return false, err
	}
	if o.Joined == 0 {
		r.markEmpty(now)
	}
	state, reason, over := r.finalState(now, o)
	if closing = r.SessionLive && (over || o.Taken+o.Hidden == 0); closing {
		reason := LeftLost // their leaving was never told of
		if over {
			reason = LeftRoomOver
		}
		if err := s.endAllAttendance(ctx, r, now, reason); err != nil {
			return false, err
		}
		r.SessionLive = false
		if err := s.store.CloseSessions(ctx, r.ID, false, now); err != nil {
			return false, err
		}
	}
	if !over {
		r.updateDueAt(o)
		return closing, nil
	}
	r.finish(state, reason, now)
	return closing, s.deleteKnocks(ctx, r, func(Knock) bool { return true })
}

// occupancy says how full a room is, once the seats are given up that were
// held for long enough. Who is in all the same keeps theirs: they asked for it
// anew, and did not follow.
func (s *Service) occupancy(ctx context.Context, r *Room, now time.Time) (Occupancy, error) {
	o, err := s.store.Occupancy(ctx, r.ID)
	if err != nil || o.NextRelease.IsZero() || o.NextRelease.After(now) {
		return o, err
	}
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return o, err
	}
	present, err := s.store.CurrentAttendance(ctx, r.ID)
	if err != nil {
		return o, err
	}
	for _, seat := range seats {
		if seat.HeldUntil.IsZero() || seat.HeldUntil.After(now) {
			continue
		}
		seat.HeldUntil = time.Time{}
		if seat.attachLatest(present) {
			err = s.store.UpdateSeat(ctx, seat)
		} else {
			err = s.releaseSeat(ctx, seat)
		}
		if err != nil {
			return o, err
		}
	}
	return s.store.Occupancy(ctx, r.ID)
}

// endAllAttendance writes down that whoever is in a room whose session ends has left it.
func (s *Service) endAllAttendance(ctx context.Context, r *Room, now time.Time, reason LeaveReason) error {
	present, err := s.store.CurrentAttendance(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, a := range present {
		if err := s.endAttendance(ctx, r, a, later(now, a.JoinedAt), reason); err != nil {
			return err
		}
	}
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, seat := range seats {
		if err := s.releaseSeat(ctx, seat); err != nil {
			return err
		}
	}
	return nil
}

// endAttendance ends one attendance, with its event.
func (s *Service) endAttendance(ctx context.Context, r *Room, a Attendance, at time.Time, reason LeaveReason) error {
	seat, err := s.store.Seat(ctx, r.ID, a.SeatID)
	if err != nil {
		return err
	}
	if err := s.store.EndAttendance(ctx, a.ID, at, reason); err != nil {
		return err
	}
	if !a.Hidden {
		r.emit(event.ParticipantLeft, at, participant(seat, a, reason))
	}
	return nil
}

func participant(seat Seat, a Attendance, reason LeaveReason) *event.Participant {
	return &event.Participant{Identity: seat.PublicID(), Name: seat.Name, Role: string(seat.Role),
		Session: SessionID(a.RoomID, a.Session), Connection: a.Connection, JoinedAt: a.JoinedAt, Reason: string(reason)}
}

func (s *Service) wakeRun() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// checkOpen tells somebody at the door why a room cannot be entered.
func checkOpen(r *Room) error {
	switch r.State {
	case Open, Active:
		return nil
	case Scheduled:
		return fault.New(fault.Conflict, "room_not_open", "this room is not open yet: it opens at %s", FormatStart(r.StartAt))
	}
	reason := string(r.EndReason)
	if reason == "" {
		reason = string(r.State)
	}
	return &fault.Error{Kind: fault.Gone, Code: "room_ended", Message: "this room has ended", Reason: reason}
}
