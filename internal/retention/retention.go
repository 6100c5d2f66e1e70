// Package retention deletes expired data, and on request erases persons and deletes
// projects and organizations. Usage figures outlive the rows that they were
// computed from. It imports the standard library, audit, event, fault, project, room,
// validate and webhook.
package retention

import (
	"context"
	"log/slog"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/webhook"
)

// Periods say for how long data is kept. Zero means for ever.
type Periods struct {
	Rooms      time.Duration // rooms with their events and attendance, after their end
	People     time.Duration // names and IDs of people in a room, after its end
	Deliveries time.Duration // webhook deliveries, after their creation
	Calls      time.Duration // records of API calls
}

// ForProject returns the periods of a project, which may shorten those of the
// installation. Data of people never outlives People, and a delivery never its room.
func (p Periods) ForProject(s project.Retention) Periods {
	p.Rooms = shorter(p.Rooms, days(s.RoomsDays))
	p.People = shorter(p.Rooms, shorter(p.People, days(s.PeopleDays)))
	p.Deliveries = shorter(p.People, shorter(p.Deliveries, days(s.DeliveriesDays)))
	p.Calls = shorter(p.Calls, days(s.CallsDays))
	return p
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// shorter returns the shorter of two periods. Zero is the longest.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// cutoff returns the time before which data is too old, or the zero time.
func cutoff(now time.Time, period time.Duration) time.Time {
	if period == 0 {
		return time.Time{}
	}
	return now.Add(-period)
}

// Deleted counts the rows that the deletion of a project has deleted.
type Deleted struct {
	Rooms       int
	Seats       int
	Connections int
	Links       int
	Events      int
	Deliveries  int
}

func (d *Deleted) add(other Deleted) {
	d.Rooms += other.Rooms
	d.Seats += other.Seats
	d.Connections += other.Connections
	d.Links += other.Links
	d.Events += other.Events
	d.Deliveries += other.Deliveries
}

// Swept is what sweeps have done to the rooms of a project, or to the deliveries or calls of all projects.
type Swept struct {
	Action audit.Action
	N      int       // rooms, deliveries or calls
	Before time.Time // the rooms had ended, or the others were created, before
}

// Erasure is a part of what the erasure of a person has changed.
type Erasure struct {
	ProjectID string
	Person    string // key of the person, which does not name them
	Erased    Erased // without Compaction
	Recorded  bool   // the audit log shows it
	At        time.Time
}

// Oldest says from when the oldest data of a project is. A time is zero if there is none.
type Oldest struct {
	Delivery   time.Time // creation of a webhook delivery
	Call       time.Time // record of a call
	People     time.Time // end of a room whose people are not erased
	Room       time.Time // end of a room
	Erasure    time.Time // change of an erasure that is not finished
	Unrecorded bool      // UnrecordedSweeps returns sums
}

// Seat is what a seat says about a person.
type Seat struct {
	ID, RoomID   string
	Name, UserID string
	Role         string
	Taken        bool   // the person is connected, or the seat is held for a page that is about to connect
	KeyHash      string // of the key of the person's browser
	CreatedAt    time.Time
}

// HostAction is what an action of a host says about people; see room.HostAction.
type HostAction struct {
	N          int64 // number of the action in its room
	At         time.Time
	Kind       string
	By, Target Actor
}

// Actor is a person in a HostAction. The seat of a visitor who was not let in does not exist.
type Actor struct{ SeatID, Name string }

// Store finds and deletes data. Methods that change something must run inside Write.
type Store interface {
	// Write runs work in a transaction; see room.Store.
	Write(ctx context.Context, work func(ctx context.Context) error) error
	// WriteInBackground is Write with a timeout of some seconds, for work that no visitor
	// waits for.
	WriteInBackground(ctx context.Context, work func(ctx context.Context) error) error

	// Projects returns the projects that a query selects, in the order of their IDs.
	Projects(ctx context.Context, q project.ListQuery) ([]project.Project, error)
	// OldestData returns the oldest data of projects, by their IDs.
	OldestData(ctx context.Context, projectIDs []string) (map[string]Oldest, error)
	// UsageSettledUntil returns the time before which no row is needed any more for the
	// usage of an organization: all of it is rolled up, and no report can change it.
	UsageSettledUntil(ctx context.Context, organizationID string) (time.Time, error)

	// AddSwept adds to what sweeps have done in a project, or with an empty ID in all, and the audit log does not show
	// yet.
	AddSwept(ctx context.Context, projectID string, done Swept) error
	// UnrecordedSweeps returns the sums of what AddSwept added, in the order of the actions.
	UnrecordedSweeps(ctx context.Context, projectID string) ([]Swept, error)
	// TakeUnrecordedSweeps is UnrecordedSweeps that also removes the sums.
	TakeUnrecordedSweeps(ctx context.Context, projectID string) ([]Swept, error)

	// RoomsToDelete returns the IDs of at most limit rooms of a project that ended before a
	// time, the earliest first, and locks them. It skips those that are locked.
	RoomsToDelete(ctx context.Context, projectID string, before time.Time, limit int) ([]string, error)
	// DeleteRoom deletes at most limit rows of a room, the room itself last, and returns
	// their number. Those that a receipt does not show are in rows only.
	DeleteRoom(ctx context.Context, id string, limit int) (deleted Deleted, rows int, err error)
	// RoomsWithPeople is RoomsToDelete for rooms whose people are not erased yet, except some.
	RoomsWithPeople(ctx context.Context, projectID string, before time.Time, except []string, limit int) ([]string, error)
	// DeleteDeliveries deletes at most limit deliveries of a project that were created before a time, and returns their
	// number.
	DeleteDeliveries(ctx context.Context, projectID string, before time.Time, limit int) (int, error)
	// DeleteCalls deletes at most limit blocks of calls of a project that began before a time, and returns the numbers
	// of calls and of blocks. The calls of the management API have no project.
	DeleteCalls(ctx context.Context, projectID string, before time.Time, limit int) (calls, blocks int, err error)
	// DeleteRejections deletes at most limit counts of rejected calls of the days before a
	// time, and returns their number.
	DeleteRejections(ctx context.Context, before time.Time, limit int) (int, error)
	// DeleteConsoleSessions deletes at most limit sessions of the console that expired before a time,
	// the earliest first, and returns how many.
	DeleteConsoleSessions(ctx context.Context, before time.Time, limit int) (int, error)
	// PruneStreams deletes at most limit webhook streams that have not changed since a
	// time and cannot get deliveries any more: those of ended rooms and of replays. It
	// returns their number.
	PruneStreams(ctx context.Context, before time.Time, limit int) (int, error)
	// PreparePacking must be called before PackEvents. If a room was over before a time, it plans when the first events
	// are packed. Then it records that no program may start any more that cannot read packed events.
	PreparePacking(ctx context.Context, now, before time.Time) (Packing, error)
	// PackEvents packs about limit events of rooms that were over in a period, so that they take less space. It returns
	// their number, and the time from which it has to look for more, zero if there is nothing more to pack.
	PackEvents(ctx context.Context, from, before time.Time, limit int) (events int, next time.Time, err error)
	// PruneTargets deletes at most limit failure records of URLs that began to fail before a time, have nothing to
	// deliver and wait for no operator to resume them. It returns their number.
	PruneTargets(ctx context.Context, before time.Time, limit int) (int, error)

	audit.Appender
	PersonStore
	DeletionStore
}

// Packing says whether events may be packed.
type Packing struct {
	Allowed   bool
	Closed    bool      // no program can start any more that cannot read packed events
	Closing   bool      // since this transaction
	From      time.Time // when the first events are packed; zero if there is no room to pack
	OlderNode string    // a node that cannot read packed events, so that none are packed; empty without one
}

// PersonStore finds and erases what names people.
type PersonStore interface {
	// LockRooms locks the rooms that exist until the transaction of ctx ends.
	LockRooms(ctx context.Context, ids []string) error
	// SeatsOfRoom returns the seats of a room.
	SeatsOfRoom(ctx context.Context, roomID string) ([]Seat, error)
	// EventsAboutPeople returns events of a room whose types may name people, with a sequence number greater than after,
	// in order. It returns at least limit events if there are as many.
	EventsAboutPeople(ctx context.Context, roomID string, after int64, limit int) ([]event.Event, error)
	// UpdateEvents stores the data of events of one room, which must be in order.
	UpdateEvents(ctx context.Context, events []event.Event) error
	// DeliveriesOfEvents returns the deliveries of events.
	DeliveriesOfEvents(ctx context.Context, eventIDs []string) ([]webhook.Delivery, error)
	// EraseDelivery replaces the body of a delivery, and deletes the answers to it.
	EraseDelivery(ctx context.Context, id, body string) error
	// EraseSeats and EraseLinks remove names and user IDs.
	EraseSeats(ctx context.Context, ids []string) error
	EraseLinks(ctx context.Context, ids []string) error
	// EraseCreator removes the creator of a room.
	EraseCreator(ctx context.Context, roomID string) error
	// HostActionsOfRoom returns the actions of hosts in a room, in order. RenameHostAction
	// changes the names in one.
	HostActionsOfRoom(ctx context.Context, roomID string) ([]HostAction, error)
	RenameHostAction(ctx context.Context, roomID string, a HostAction) error
	// Knocks returns the knocks of a room. DeleteKnocks deletes at most limit of them, and
	// DeleteKnocksByKey those of one browser; both return how many they have deleted.
	Knocks(ctx context.Context, roomID string) ([]room.Knock, error)
	DeleteKnocks(ctx context.Context, roomID string, limit int) (int, error)
	DeleteKnocksByKey(ctx context.Context, roomID, keyHash string) (int, error)
	// MarkPeopleErased records that all people of a room are erased.
	MarkPeopleErased(ctx context.Context, roomID string, at time.Time) error
	// LinksOfRoom returns the links of a room that name a person.
	LinksOfRoom(ctx context.Context, roomID string) ([]Link, error)

	// RoomsOfUser returns at most limit rooms of a project that a user has created, has a
	// link for or a seat in, with an ID greater than after, in order.
	RoomsOfUser(ctx context.Context, projectID, userID, after string, limit int) ([]PersonRoom, error)
	// RoomOfSeat returns the room of a seat of the project, or NotFound.
	RoomOfSeat(ctx context.Context, projectID, seatID string) (PersonRoom, error)
	// AddErased adds to what the erasure of a person has changed until now.
	AddErased(ctx context.Context, e Erasure) error
	// TakeErased removes what AddErased added for a person, and returns the sums of what the audit log shows and of the
	// rest.
	TakeErased(ctx context.Context, projectID, person string) (recorded, rest Erased, err error)
	// UnfinishedErasures returns the keys of the persons for whom AddErased added something, the last time before a time.
	UnfinishedErasures(ctx context.Context, projectID string, before time.Time) ([]string, error)
	// ConnectionsOfSeats returns the attendance of seats, the earliest first.
	ConnectionsOfSeats(ctx context.Context, seatIDs []string) ([]Connection, error)
	// Compact removes deleted data from the files of the database. It returns false if
	// the engine does so by itself, later. It continues in the background, and logs its
	// result, if ctx ends before it; the error is then that of ctx.
	Compact(ctx context.Context, log *slog.Logger) (bool, error)
	// MarkCompactionDue makes CompactionDue true until a Compact that began after the commit succeeds. It does nothing if
	// the engine needs no Compact.
	MarkCompactionDue(ctx context.Context) error
	CompactionDue(ctx context.Context) (bool, error)
}

// DeletionStore deletes projects and organizations.
type DeletionStore interface {
	// LockProject prevents changes by others until the transaction ends, or NotFound.
	LockProject(ctx context.Context, id string) error
	// Project returns NotFound if the project does not exist.
	Project(ctx context.Context, id string) (project.Project, error)
	// MarkProjectDeleted sets the time at which the deletion of a project began.
	MarkProjectDeleted(ctx context.Context, id string, at time.Time) error
	// HasRooms reports whether a project has rooms.
	HasRooms(ctx context.Context, projectID string) (bool, error)
	// DeleteProjectRows deletes at most limit rows of a project that does not own rooms,
	// deliveries or calls any more, and returns their number. It leaves what DeleteProject deletes.
	DeleteProjectRows(ctx context.Context, id string, limit int) (int, error)
	// AddDeleted adds to the counts of the deletion of a project.
	AddDeleted(ctx context.Context, projectID string, d Deleted, at time.Time) error
	// Deleted returns the counts of the deletion of a project.
	Deleted(ctx context.Context, projectID string) (Deleted, error)
	// DeleteProject deletes a project without rows, with the counts of its deletion.
	DeleteProject(ctx context.Context, id string) error
	// LockOrganization prevents changes by others until the transaction ends, or
	// NotFound.
	LockOrganization(ctx context.Context, id string) error
	// ProjectIDs returns the ids of an organization's projects.
	ProjectIDs(ctx context.Context, organizationID string) ([]string, error)
	// DeleteOrganizationRows deletes at most limit rows of an organization without projects,
	// and returns their number and how many of them were rolled-up hours of usage.
	DeleteOrganizationRows(ctx context.Context, id string, limit int) (usageHours, rows int, err error)
	// AddDeletedHours adds to the number of rolled-up hours that the deletion of an organization has deleted, and
	// returns the sum.
	AddDeletedHours(ctx context.Context, id string, hours int, at time.Time) (sum int, err error)
	// DeleteOrganization deletes an organization without rows, with what AddDeletedHours added.
	DeleteOrganization(ctx context.Context, id string) error
}

// Service deletes data.
type Service struct {
	store   Store
	periods Periods
	rooms   Rooms
	changed func(projectID string)
	now     func() time.Time
	log     *slog.Logger
	wake    chan struct{} // signals Run that the deletion of a project has begun

	// These are used by Sweep only.
	batchRows    int           // in the next transaction
	compactAfter time.Time     // no attempt of a sweep to compact is due before; zero if the last one did not fail
	compactDelay time.Duration // between the last failed attempt and compactAfter
	compactError error         // of the last attempt of a sweep
	recordAfter  time.Time     // what sweeps delete in all projects is not recorded before
	packing      Packing       // in the last sweep
}

// Rooms ends the rooms of a project that is deleted.
type Rooms interface {
	// EndAllRooms ends all rooms of a project that are not over.
	EndAllRooms(ctx context.Context, projectID string) error
}

// NewService returns a Service. changed is called after the commit for each project
// whose deletion has begun or ended.
func NewService(store Store, periods Periods, rooms Rooms, changed func(projectID string), now func() time.Time,
	log *slog.Logger) *Service {
	return &Service{
		store:     store,
		periods:   periods,
		rooms:     rooms,
		changed:   changed,
		now:       now,
		log:       log,
		wake:      make(chan struct{}, 1),
		batchRows: minRows,
	}
}
