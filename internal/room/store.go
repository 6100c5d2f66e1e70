package room

import (
	"context"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/project"
)

// Store stores rooms with their sessions, seats, links and attendance. Methods
// that write must run inside Write; methods that read may. Each method returns
// Unavailable if the database does not respond.
type Store interface {
	// Write runs work in a transaction and returns after its commit. If work returns an
	// error, Write rolls its changes back and returns the error. work may run again.
	Write(ctx context.Context, work func(ctx context.Context) error) error
	// Project returns NotFound if the project does not exist.
	Project(ctx context.Context, id string) (project.Project, error)
	// Logo returns the zero Logo if the project has none.
	Logo(ctx context.Context, projectID string) (project.Logo, error)

	RoomStore
	RoomListStore
	IdempotencyStore
	QuotaStore
	SessionStore
	BreakoutStore
	LinkStore
	KnockStore
	SeatStore
	AttendanceStore
	NodeStore
	audit.Appender
}

// RoomStore stores rooms and their events.
type RoomStore interface {
	// InsertRoom returns Conflict if the client_room_id is taken.
	InsertRoom(ctx context.Context, r *Room) error
	// Room returns NotFound if the room does not exist.
	Room(ctx context.Context, id string) (*Room, error)
	// LockRoom is like Room, and locks the room and its seats against changes by
	// others until the transaction ends.
	LockRoom(ctx context.Context, id string) (*Room, error)
	// UpdateRoom writes the fields that change during the life of a room: its
	// state, times, locks and sessions. It returns NotFound if the room does not exist.
	UpdateRoom(ctx context.Context, r *Room) error
	// UpdateRoomSpec writes the fields of the room's Spec. It returns NotFound if the
	// room does not exist.
	UpdateRoomSpec(ctx context.Context, r *Room) error
	// DueRooms returns the ids of rooms whose DueAt has passed, the earliest first.
	DueRooms(ctx context.Context, now time.Time, limit int) ([]string, error)
	// AppendEvents stores events, in the order of their sequence numbers.
	AppendEvents(ctx context.Context, events []event.Event) error
	// LastEventTime returns the time of the last event of a room, the zero time if it has none.
	LastEventTime(ctx context.Context, roomID string) (time.Time, error)
	// AppendHostAction stores an action with the next number of its room, which must be
	// locked, and deletes the earliest ones if the room has more than keep.
	AppendHostAction(ctx context.Context, a HostAction, keep int) error
	// HostActions returns at most limit actions of a room with a higher number than after,
	// in order.
	HostActions(ctx context.Context, roomID string, after int64, limit int) ([]HostAction, error)
}

// RoomListStore lists rooms for operators and integrators.
type RoomListStore interface {
	// List returns the rooms that match the query, newest first.
	List(ctx context.Context, q ListQuery) ([]Summary, error)
	// PeopleOfRooms returns those who have or had a seat in one of the rooms. roomIDs must
	// not be empty.
	PeopleOfRooms(ctx context.Context, roomIDs []string) ([]SeatName, error)
	// RunningRooms returns the open and active rooms of a project, oldest first.
	RunningRooms(ctx context.Context, projectID string) ([]*Room, error)
	// PastRooms returns one page of the rooms that are over, and their total number.
	PastRooms(ctx context.Context, projectID string, q PastQuery) ([]PastRoom, int, error)
	// MergePastRoomCounts merges the counts of at most limit rooms that ended, so that
	// PastRooms has fewer of them to add up, and returns their number.
	MergePastRoomCounts(ctx context.Context, limit int) (int, error)
}

// IdempotencyStore stores idempotency records.
type IdempotencyStore interface {
	// InsertIdempotencyRecord stores a record unless one with its id is stored that has not
	// expired by now; it reports whether it did.
	InsertIdempotencyRecord(ctx context.Context, r IdempotencyRecord, now time.Time) (bool, error)
	// IdempotencyRecord returns NotFound if no record has this id, or if it has expired
	// by now.
	IdempotencyRecord(ctx context.Context, id string, now time.Time) (IdempotencyRecord, error)
	// DeleteExpiredIdempotencyRecords deletes at most limit records that have expired by now,
	// and returns how many.
	DeleteExpiredIdempotencyRecords(ctx context.Context, now time.Time, limit int) (int, error)
}

// QuotaStore stores what projects have used of the quotas of their plans.
type QuotaStore interface {
	// UseQuota counts one more of a subject on a day and returns the number of that day.
	UseQuota(ctx context.Context, projectID string, subject QuotaSubject, day time.Time) (used int, err error)
}

// SessionStore stores the sessions of rooms and breakout rooms.
type SessionStore interface {
	// InsertSession stores a live session that started at a time.
	InsertSession(ctx context.Context, s Session, at time.Time) error
	// CloseSessions marks the live sessions of a room and of its breakout rooms
	// as closing, or only those of its breakout rooms.
	CloseSessions(ctx context.Context, roomID string, breakoutsOnly bool, at time.Time) error
	// MarkSessionClosed marks a closing session as closed.
	MarkSessionClosed(ctx context.Context, s Session) error
	// Sessions returns the sessions that are in a state.
	Sessions(ctx context.Context, state SessionState) ([]Session, error)
}

// BreakoutStore stores breakout rooms.
type BreakoutStore interface {
	// InsertBreakout stores a new breakout room.
	InsertBreakout(ctx context.Context, b Breakout) error
	// Breakouts returns all breakout rooms of a room, open and closed, in the
	// order of their numbers.
	Breakouts(ctx context.Context, roomID string) ([]Breakout, error)
}

// LinkStore stores links.
type LinkStore interface {
	// InsertLink stores a new link.
	InsertLink(ctx context.Context, l Link) error
	// LinkByHash returns NotFound if the room has no such link.
	LinkByHash(ctx context.Context, roomID, tokenHash string) (Link, error)
	// RedeemLink records the browser that joined with a single-use link. It returns
	// NotFound if there is no such link or if it is already redeemed.
	RedeemLink(ctx context.Context, id, redeemedBy string) error
	// RedeemedLinks returns the hashes of the seat keys with which the links were redeemed
	// that the participant of a seat created, in the order of creation.
	RedeemedLinks(ctx context.Context, roomID, seatID string) (keyHashes []string, err error)
	// CountLinksCreatedInRoom counts the links that hosts and co-hosts created in
	// the room.
	CountLinksCreatedInRoom(ctx context.Context, roomID string) (int, error)
}

// KnockStore stores the knocks of visitors in waiting rooms.
type KnockStore interface {
	// UpsertKnock stores a knock, and replaces an earlier one with the same id.
	UpsertKnock(ctx context.Context, k Knock) error
	// DeleteKnock deletes a knock; it does nothing if there is none.
	DeleteKnock(ctx context.Context, id string) error
	// Knocks returns the knocks of a room, oldest first. Some may have expired.
	Knocks(ctx context.Context, roomID string) ([]Knock, error)
	// RoomsWithStaleKnocks returns the ids of the rooms with knocks that expired by now.
	RoomsWithStaleKnocks(ctx context.Context, now time.Time) ([]string, error)
}

// SeatStore stores seats.
type SeatStore interface {
	// Occupancy counts the taken seats of a room. It does not release expired ones.
	Occupancy(ctx context.Context, roomID string) (Occupancy, error)
	// Seat returns a seat by its id, or NotFound.
	Seat(ctx context.Context, roomID, id string) (Seat, error)
	// SeatByKey returns the seat whose key has the hash, or NotFound.
	SeatByKey(ctx context.Context, roomID, keyHash string) (Seat, error)
	// SeatByUser returns the seat of a user of the integrator, or NotFound.
	SeatByUser(ctx context.Context, roomID, userID string) (Seat, error)
	// Seats returns the taken seats of a room.
	Seats(ctx context.Context, roomID string) ([]Seat, error)
	// PresentNames returns the names of up to limit participants who are in the
	// room, hosts first, without hidden ones and the one with this seat.
	PresentNames(ctx context.Context, roomID, exceptSeatID string, limit int) ([]string, error)
	// RemovedSeats returns the seats of participants whom hosts removed.
	RemovedSeats(ctx context.Context, roomID string) ([]Seat, error)
	// PromotedSeats returns the seats to which the co-host with a seat gave the co-host role,
	// by age.
	PromotedSeats(ctx context.Context, roomID, seatID string) ([]Seat, error)
	// RaisedHands returns the taken seats whose hand is raised, in the order of raising.
	RaisedHands(ctx context.Context, roomID string) ([]Seat, error)
	// InsertSeat stores a new seat.
	InsertSeat(ctx context.Context, s Seat) error
	// UpdateSeat writes the fields of a seat that can change. It returns NotFound if
	// the seat does not exist.
	UpdateSeat(ctx context.Context, s Seat) error
	// DeleteUnusedSeat deletes a seat unless it has attendance, and reports
	// whether it did.
	DeleteUnusedSeat(ctx context.Context, id string) (bool, error)
}

// ReportDelay is the time after which a report about a connection is late. The usage
// of its hour may have been computed without it.
const ReportDelay = 2 * time.Minute

// AttendanceStore stores the connections of participants.
type AttendanceStore interface {
	// InsertAttendance stores a connection unless its seat already has it, and reports
	// whether it did. A join or a leave that is at least ReportDelay before now is recorded
	// as a late report, so that the usage of its hour is computed again.
	InsertAttendance(ctx context.Context, a Attendance, now time.Time) (bool, error)
	// CurrentAttendance returns the attendance in a room that has not ended.
	CurrentAttendance(ctx context.Context, roomID string) ([]Attendance, error)
	// LatestAttendance returns the attendance of Seat.Connection, or the zero value if there
	// was none.
	LatestAttendance(ctx context.Context, seat Seat) (Attendance, error)
	// EndAttendance stores LeftAt and Reason of a connection, and records a late leave like
	// InsertAttendance; it does nothing if the connection has already ended.
	EndAttendance(ctx context.Context, a Attendance, now time.Time) error
	// UpdateQuality stores the quality of a connection that has not ended.
	UpdateQuality(ctx context.Context, a Attendance) error
	// AttendanceRecords returns all connections that a room ever had, in order, those of
	// hidden participants included.
	AttendanceRecords(ctx context.Context, roomID string) ([]AttendanceRecord, error)
	// AttendanceOfConnections returns the attendance in a room with the given values of Connection, in any order.
	AttendanceOfConnections(ctx context.Context, roomID string, connections []string) ([]Attendance, error)
	// Live returns what is live in a project, or in all projects for an empty ID.
	Live(ctx context.Context, projectID string) (Live, error)
	// ReportedAttendance returns the first people whom join events of a room reported.
	ReportedAttendance(ctx context.Context, roomID string, limit int) ([]ReportedAttendee, error)
	// CurrentAttendanceRecords returns the connections that have not ended, in all
	// rooms of a project or, if roomID is not empty, in one room.
	CurrentAttendanceRecords(ctx context.Context, projectID, roomID string) ([]AttendanceRecord, error)
}

// NodeStore stores the nodes of a cluster.
type NodeStore interface {
	// RecordHeartbeat records that a node was running at LastAlive. It writes Findings only if they have changed.
	RecordHeartbeat(ctx context.Context, n Node) error
	// SetDrain sets the drain of a node, which the zero value ends, and returns the one before. It reports
	// whether there is such a node.
	SetDrain(ctx context.Context, node string, d Drain) (before Drain, found bool, err error)
	// Nodes returns the nodes that are running and those that were lost.
	Nodes(ctx context.Context) ([]Node, error)
	// RaiseClockAhead records that the clock of another node is ahead of this node's by at least
	// so much. A smaller value changes nothing. The node may have computed
	// usage up to the time of its own clock, so InsertAttendance and EndAttendance compare with that clock.
	RaiseClockAhead(ahead time.Duration)
	// RoomsOfNode returns the ids of the rooms that have unended attendance recorded by
	// a node.
	RoomsOfNode(ctx context.Context, node string) ([]string, error)
	// NodeLoads returns what the nodes with people host, by their IDs.
	NodeLoads(ctx context.Context) (map[string]NodeLoad, error)
	// RemoveNode deletes a node unless it has unended attendance. It reports whether it
	// deleted the node.
	RemoveNode(ctx context.Context, node string) (removed bool, err error)
}
