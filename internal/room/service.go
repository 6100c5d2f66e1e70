package room

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/plural"
	"parley/internal/project"
)

// Service creates, runs and ends rooms, and lets participants join them. It has one part for each
// audience.
type Service struct {
	*Bookings
	*Joining
	*Moderation
	*Presence
	*Simulator
}

// Bookings is what a backend and an operator do: they create, change, invite to, list and end
// rooms.
type Bookings struct {
	*core
	inFlight sync.Map // ids of the idempotent requests that this process is handling
}

// Joining is what a visitor does before the media connection: preview, wait and join.
type Joining struct {
	*core
	failedJoins failedJoins
}

// Moderation is what the people in a room do: host tools, breakout rooms, hands and reactions.
type Moderation struct {
	*core
	reactionLimiter reactionLimiter
}

// Presence stores who is in a room, as the media engine reports it, and does what is due: it
// ends rooms, reconciles with the engine, and takes over from lost nodes.
type Presence struct {
	*core
	startedAt time.Time
	lastWatch time.Time            // last run of watchNodes; used by watchNodes only
	lastSeen  map[string]*lastSeen // other nodes by id; used by watchNodes only
	found     differences          // by the last reconciliation
	recheckAt time.Time            // time of the second look at them; zero if there is none
	misplaced map[string]time.Time // connections that have to end, by first sight
}

// Simulator holds meetings without people in the rooms of test projects. It acts through the other
// parts, so that everything happens as in a meeting of people.
type Simulator struct {
	*core
	bookings   *Bookings
	joining    *Joining
	moderation *Moderation
	presence   *Presence
}

// core is what the parts of a Service share: the change of a room in one transaction.
type core struct {
	store           Store
	media           Media
	publicURL       func() string
	now             func() time.Time
	newID           func() string
	log             *slog.Logger
	options         Options
	nodeID          string        // identifies this process in the cluster
	wake            chan struct{} // signals Run that a session is to be closed
	reportQueue     reportQueue
	metadataLocks   keyedMutex
	permissionLocks keyedMutex
	seenNodes       atomic.Pointer[map[string]lastSeen] // the last result of watchNodes
	failingSince    atomic.Pointer[time.Time]           // first heartbeat that failed; nil if the last one did not
	draining        draining                            // of this node
	simulations     *simulations                        // of this process
}

// Options are the optional parts and settings of a Service.
type Options struct {
	Plans       Plans       // limits the settings of rooms; nil means MaxEntitlements for every project
	Webhooks    Webhooks    // delivers events; nil means that events are stored but not delivered
	JoinLimiter JoinLimiter // limits new seats and knocks per address; nil means no limit
	SignedLinks SignedLinks // verifies links that a backend has signed itself; nil accepts none
	// Kept returns how long the rooms of a project are kept after their end; 0 means for
	// ever. nil means the same.
	Kept func(p project.Project) time.Duration
	// Clustered says that other nodes may use the same database. Without it,
	// Recover treats every registered node as an earlier process of this one.
	Clustered bool
	// Version is the version of this program, and RedisAvailable reports whether this node
	// reaches Redis; nil without Redis. Nodes report both with their heartbeats.
	Version        string
	RedisAvailable func() bool
	// Findings returns Node.Findings for the next heartbeat. It must return at once; nil means that there are none.
	Findings func() string
	// Swept is called with the result of each pass over the rooms that have to be opened, ended or expired: the first
	// error. nil means that nobody wants it.
	Swept func(error)
}

// Plans returns what the plan of a project's organization allows its rooms.
type Plans interface {
	// Entitlements returns the limits for the rooms of a project.
	Entitlements(ctx context.Context, p project.Project) (Entitlements, error)
}

// NewService returns a Service. publicURL is asked for each link, because the
// port may be known only after listening.
func NewService(store Store, media Media, publicURL func() string, now func() time.Time, newID func() string,
	log *slog.Logger, options Options,
) *Service {
	if options.Webhooks == nil {
		options.Webhooks = noWebhooks{}
	}
	if options.Swept == nil {
		options.Swept = func(error) {}
	}
	c := &core{
		store:     store,
		media:     media,
		publicURL: publicURL,
		now:       now,
		newID:     newID,
		log:       log,
		options:   options,
		nodeID:    CompactID(newID()),
		wake:      make(chan struct{}, 1),

		simulations: newSimulations(),
	}
	out := &Service{
		Bookings:   &Bookings{core: c},
		Joining:    &Joining{core: c, failedJoins: failedJoins{byRoom: map[string]logged{}}},
		Moderation: &Moderation{core: c},
		Presence: &Presence{
			core:      c,
			startedAt: now(),
			lastSeen:  map[string]*lastSeen{},
			misplaced: map[string]time.Time{},
		},
	}
	out.Simulator = &Simulator{
		core:       c,
		bookings:   out.Bookings,
		joining:    out.Joining,
		moderation: out.Moderation,
		presence:   out.Presence,
	}
	return out
}

// Webhooks stores deliveries of events.
type Webhooks interface {
	// RoomCreated stores the deliveries of a new room's events, in the transaction of
	// the room. pending reports whether it stored any; then Wake must be called after
	// the commit.
	RoomCreated(ctx context.Context, settings project.Settings, webhookURL string, events []event.Event) (
		pending bool, err error)
	// RoomChanged does the same for the events of a room that exists.
	RoomChanged(ctx context.Context, webhookURL string, events []event.Event) (pending bool, err error)
	// Wake tells the sender that deliveries were committed. It never blocks.
	Wake()
}

type noWebhooks struct{}

func (noWebhooks) RoomCreated(context.Context, project.Settings, string, []event.Event) (bool, error) {
	return false, nil
}
func (noWebhooks) RoomChanged(context.Context, string, []event.Event) (bool, error) {
	return false, nil
}
func (noWebhooks) Wake() {}

// Get returns a room, or NotFound.
func (s *Bookings) Get(ctx context.Context, id string) (*Room, error) { return s.store.Room(ctx, id) }

// GetInProject returns a room of the project, or NotFound. If the room is so old that it
// may have been deleted, the error says so.
func (s *Bookings) GetInProject(ctx context.Context, p project.Project, id string) (*Room, error) {
	r, err := s.store.Room(ctx, id)
	if err == nil {
		err = r.checkOwner(p)
	}
	if fault.Is(err, fault.NotFound) && s.options.Kept != nil {
		kept := s.options.Kept(p)
		if created, ok := IDTime(id); ok && kept > 0 && s.now().Sub(created) > kept {
			return nil, fault.New(fault.NotFound, "room_not_found", "there is no such room: "+
				"rooms and their events are deleted %s after the room has ended",
				plural.Count(int(kept/(24*time.Hour)), "day", "days"))
		}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// IDTime returns the time at which an ID was made: the first 48 bits of a UUIDv7 are its
// Unix milliseconds (RFC 9562, section 5.7).
func IDTime(id string) (time.Time, bool) {
	if len(id) != 36 || id[14] != '7' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	return time.UnixMilli(ms), err == nil
}

// updateRoom runs work on a locked room and stores the room with its events, in
// one transaction. It opens a scheduled room that is due before work, and applies
// all other transitions that are due after it. After the commit it logs the
// events, wakes webhooks and Run, and publishes changed metadata.
func (s *core) updateRoom(ctx context.Context, id string,
	work func(ctx context.Context, r *Room, now time.Time) error,
) error {
	closing := false // a session is to be closed in the engine
	publish := false // the metadata has changed
	pending := false // deliveries wait for the sender of webhooks
	var events []event.Event
	err := s.store.Write(ctx, func(ctx context.Context) error {
		closing = false
		now := s.now()
		r, err := s.store.LockRoom(ctx, id)
		if err != nil {
			return err
		}
		r.openWhenDue(now)
		before := r.State
		if err := work(ctx, r, now); err != nil {
			return err
		}
		if closing, err = s.applyTransitions(ctx, r, now); err != nil {
			return err
		}
		events, publish = r.drainEvents(s.newID), r.metadataChanged && !r.Over()
		if err := s.store.AppendEvents(ctx, events); err != nil {
			return err
		}
		if pending, err = s.options.Webhooks.RoomChanged(ctx, r.WebhookURL, events); err != nil {
			return err
		}
		if err := s.store.UpdateRoom(ctx, r); err != nil || r.State == before || !r.Over() {
			return err
		}
		return s.recordEnd(ctx, r, before, now)
	})
	if err != nil {
		return err
	}
	for _, e := range events {
		s.logEvent(e)
	}
	if pending {
		s.options.Webhooks.Wake()
	}
	if closing {
		s.wakeRun()
	}
	if publish {
		s.publishMetadata(ctx, id)
	}
	return nil
}

// recordEnd records the end of a room in the audit log. audit.Record does nothing unless
// an operator or the service is the origin of ctx.
func (s *core) recordEnd(ctx context.Context, r *Room, before State, now time.Time) error {
	action := audit.RoomEnded
	if r.State == Cancelled {
		action = audit.RoomCancelled
	}
	return audit.Record(ctx, s.store, now, audit.Change{
		Action:    action,
		Subject:   r.ID,
		ProjectID: r.ProjectID,
		Before:    audit.Fields{"state": before, "end_reason": EndReason("")},
		After:     audit.Fields{"state": r.State, "end_reason": r.EndReason},
	})
}

func (s *core) logEvent(e event.Event) {
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

// applyTransitions releases expired seats, ends the room's session when nobody is
// left, and ends the room when it is due, unless mustAwaitNodes delays the end of its
// duration. It sets the room's next due time, and reports whether a session is to be closed in the engine.
func (s *core) applyTransitions(ctx context.Context, r *Room, now time.Time) (closing bool, err error) {
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
	if over && reason == EndedDuration {
		wait, err := s.mustAwaitNodes(ctx, r, r.durationDeadline())
		if wait || err != nil {
			r.DueAt = now.Add(sweepEvery)
			return false, err
		}
	}
	if closing = r.SessionLive && (over || o.Taken+o.Hidden == 0); closing {
		reason := LeftLost // the engine has not reported that they left
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

// occupancy releases expired reservations, then counts the taken seats. A
// participant who is still connected keeps the seat, because a reservation also
// expires when the page asked for the seat again but did not reconnect.
func (s *core) occupancy(ctx context.Context, r *Room, now time.Time) (Occupancy, error) {
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

// endAllAttendance ends the attendance of all participants and releases all seats,
// because the room's session ends.
func (s *core) endAllAttendance(ctx context.Context, r *Room, now time.Time, reason LeaveReason) error {
	present, err := s.store.CurrentAttendance(ctx, r.ID)
	if err != nil {
		return err
	}
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return err
	}
	byID := make(map[string]Seat, len(seats))
	for _, seat := range seats {
		byID[seat.ID] = seat
	}
	for _, a := range present {
		err := s.endAttendance(ctx, r, byID[a.SeatID], a, now, now, reason)
		if err != nil {
			return err
		}
	}
	for _, seat := range seats {
		if err := s.releaseSeat(ctx, seat); err != nil {
			return err
		}
	}
	return nil
}

// endAttendance ends one attendance of a seat at a time, as Room.leaveTime limits it, and, unless it is hidden, emits
// the event.
func (s *core) endAttendance(
	ctx context.Context, r *Room, seat Seat, a Attendance, at, now time.Time, reason LeaveReason,
) error {
	a.LeftAt, a.Reason = r.leaveTime(a, at), reason
	if err := s.store.EndAttendance(ctx, a, now); err != nil {
		return err
	}
	if !a.Hidden {
		r.emit(event.ParticipantLeft, a.LeftAt, participant(seat, a, reason))
	}
	return nil
}

func participant(seat Seat, a Attendance, reason LeaveReason) *event.Participant {
	return &event.Participant{
		Identity:   seat.PublicID(),
		Name:       seat.Name,
		Role:       string(seat.Role),
		Session:    SessionID(a.RoomID, a.Session),
		Connection: a.Connection,
		JoinedAt:   a.JoinedAt,
		Reason:     string(reason),
	}
}

func (s *core) wakeRun() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// checkOpen returns an error unless participants can enter the room: Conflict if
// it is not open yet, Gone with the reason if it is over.
func checkOpen(r *Room) error {
	switch r.State {
	case Open, Active:
		return nil
	case Scheduled:
		return fault.New(fault.Conflict, "room_not_open", "this room is not open yet: it opens at %s", formatStart(r.StartAt))
	}
	reason := string(r.EndReason)
	if reason == "" {
		reason = string(r.State)
	}
	return &fault.Error{Kind: fault.Gone, Code: "room_ended", Message: "this room has ended", Reason: reason}
}
