package retention

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/validate"
)

// Person names a person of a project: by the ID in the integrator's system, or by one
// seat if there is no such ID.
type Person struct {
	ProjectID string
	UserID    string
	SeatID    string
}

// PersonRoom is a room that a person has created, has a link for, or a seat in.
type PersonRoom struct {
	ID             string
	Title          string
	CreatedAt      time.Time
	CreatorName    string
	ExternalUserID string // of the creator
	RedeemedBy     string // Seat.KeyHash of the person who redeemed the creator's link, or empty
}

// Connection is one connection of a participant.
type Connection struct {
	SeatID   string
	Session  int
	JoinedAt time.Time
	LeftAt   time.Time // zero while it lasts
}

// RoomRecord is what a room contains about a person.
type RoomRecord struct {
	Room        PersonRoom
	IsCreator   bool
	Seats       []Seat
	Links       []Link
	Connections []Connection
	Events      []event.Event
	HostActions []PersonAction
	Knocks      []room.Knock
}

// PersonAction is an action of a host that the person did, or that was done to them. It does
// not say who else took part.
type PersonAction struct {
	At   time.Time
	Kind string
	Name string // of the person
	Done bool   // whether the person did it
}

// Erased counts what an erasure has changed.
type Erased struct {
	Rooms       int // rooms that the person was in, has a link for, or has created
	Seats       int
	Links       int
	Events      int
	Deliveries  int
	HostActions int
	Knocks      int
	Compaction  Compaction
}

func (e *Erased) add(other Erased) {
	e.Rooms += other.Rooms
	e.Seats += other.Seats
	e.Links += other.Links
	e.Events += other.Events
	e.Deliveries += other.Deliveries
	e.HostActions += other.HostActions
	e.Knocks += other.Knocks
}

const (
	// personBatch is the number of rooms of a person in a page.
	personBatch = 20
	// personEvents is the number of events that one query of an export reads.
	personEvents = 200
	// personBatchRows is the number of events, links and seats that one transaction of an
	// erasure changes.
	personBatchRows = 200
)

// Export returns what is stored about a person, a page of rooms at a time: those with an
// ID greater than after. next is the ID to continue after, or empty. Errors: Invalid,
// NotFound (the seat or the project).
func (s *Service) Export(ctx context.Context, p Person, after string) (page []RoomRecord, next string, err error) {
	p, _, err = s.resolve(ctx, p)
	if err != nil {
		return nil, "", err
	}
	rooms, err := s.roomsOf(ctx, p, after)
	if err != nil {
		return nil, "", err
	}
	for _, r := range rooms {
		record, err := s.readRecord(ctx, p, r)
		if err != nil {
			return nil, "", err
		}
		page = append(page, record)
	}
	if len(rooms) == personBatch {
		next = rooms[len(rooms)-1].ID
	}
	return page, next, nil
}

// readRecord reads what a room contains about a person.
func (s *Service) readRecord(ctx context.Context, p Person, r PersonRoom) (RoomRecord, error) {
	found, err := s.findPerson(ctx, p, r)
	if err == nil {
		err = s.addEarlierNames(ctx, found)
	}
	if err != nil {
		return RoomRecord{}, err
	}
	record := RoomRecord{Room: r, IsCreator: found.isCreator, Seats: found.seats, Links: found.links}
	var seatIDs []string
	for _, seat := range found.seats {
		seatIDs = append(seatIDs, seat.ID)
	}
	if record.Connections, err = s.store.ConnectionsOfSeats(ctx, seatIDs); err != nil {
		return record, err
	}
	actions, err := s.store.HostActionsOfRoom(ctx, r.ID)
	if err != nil {
		return record, err
	}
	for _, a := range actions {
		by, target := found.participation(a)
		if by {
			record.HostActions = append(record.HostActions, PersonAction{At: a.At, Kind: a.Kind, Name: a.By.Name, Done: true})
		}
		if target {
			record.HostActions = append(record.HostActions, PersonAction{At: a.At, Kind: a.Kind, Name: a.Target.Name})
		}
	}
	knocks, err := s.store.Knocks(ctx, r.ID)
	if err != nil {
		return record, err
	}
	for _, k := range knocks {
		if found.keyHashes[k.KeyHash] {
			record.Knocks = append(record.Knocks, k)
		}
	}
	return record, s.eachPersonEvent(ctx, r.ID, func(e event.Event) {
		if data := e.Data; found.erase(&data) {
			record.Events = append(record.Events, e)
		}
	})
}

// eachPersonEvent calls do for each event about people in a room.
func (s *Service) eachPersonEvent(ctx context.Context, roomID string, do func(e event.Event)) error {
	for after, more := int64(0), true; more; {
		events, err := s.store.EventsAboutPeople(ctx, roomID, after, personEvents)
		if err != nil {
			return err
		}
		for _, e := range events {
			do(e)
			after = e.Sequence
		}
		more = len(events) >= personEvents
	}
	return nil
}

// addEarlierNames adds the names that a person had in a room before. A seat has only the last one, but
// events and host actions with an earlier name and without an identity are about the person too.
func (s *Service) addEarlierNames(ctx context.Context, t *traces) error {
	actions, err := s.store.HostActionsOfRoom(ctx, t.roomID)
	if err != nil {
		return err
	}
	for _, a := range actions {
		for _, actor := range []Actor{a.By, a.Target} {
			if t.hasIdentity(actor.SeatID) {
				t.addName(actor.Name)
			}
		}
	}
	return s.eachPersonEvent(ctx, t.roomID, func(e event.Event) {
		if p := e.Data.Participant; p != nil && t.hasIdentity(p.Identity) {
			t.addName(p.Name)
		}
		if f := e.Data.Feedback; f != nil && t.hasIdentity(f.Identity) {
			t.addName(f.Name)
		}
	})
}

// Erase removes the name and the ID of a person from everything that is stored, room by
// room, and returns what it has changed. Attendance and the numbers of events stay, so that
// sums and sequences are the same. Errors: Invalid, NotFound (the seat or the project),
// Conflict if the person is in a room now or reconnects to it. After another error or a crash, Erase can be
// called again, and then also returns what it had changed before, unless erasurePeriod has passed.
// Erase succeeds even if the compaction of the files does not finish; Erased.Compaction has
// its state, and a later sweep compacts the files.
func (s *Service) Erase(ctx context.Context, p Person) (Erased, error) {
	count := &erasureCount{projectID: p.ProjectID, person: p.key()}
	err := s.erasePerson(ctx, p, count)
	if err != nil && !count.begun {
		return Erased{}, err
	}
	done, countErr := s.finishCount(context.WithoutCancel(ctx), count)
	if err = errors.Join(err, countErr); err != nil {
		return done, err
	}
	// The counts stay until the end of the compaction, so that a crash during it does not lose the receipt.
	done.Compaction = s.compactFor(ctx, compactionWait)
	return done, s.store.WriteInBackground(context.WithoutCancel(ctx), func(ctx context.Context) error {
		_, err := s.takeErased(ctx, count.projectID, count.person)
		return err
	})
}

// erasurePeriod is how long the database keeps what an erasure that did not finish has changed.
const erasurePeriod = 24 * time.Hour

// key returns a text that identifies a person without naming them.
func (p Person) key() string {
	sum := sha256.Sum256([]byte(p.ProjectID + "\x00" + p.UserID + "\x00" + p.SeatID))
	return hex.EncodeToString(sum[:16])
}

// erasureCount counts what the erasure of a person changes. The counts are in the database, because a person may have
// been in hundreds of rooms, and a crash must not lose the counts of the first ones.
type erasureCount struct {
	projectID string
	person    string // see Person.key
	begun     bool   // the first transaction that changed something is committed
}

// countErased adds the changes of a transaction. It must be called in that transaction. The first one has an entry in
// the audit log.
func (s *Service) countErased(ctx context.Context, count *erasureCount, part Erased) error {
	if part == (Erased{}) {
		return nil
	}
	if err := s.store.MarkCompactionDue(ctx); err != nil {
		return err
	}
	if !count.begun {
		if err := s.recordErasure(ctx, count.projectID, part); err != nil {
			return err
		}
	}
	return s.store.AddErased(ctx, count.erasure(part, !count.begun, s.now()))
}

func (c *erasureCount) erasure(done Erased, recorded bool, at time.Time) Erasure {
	return Erasure{
		ProjectID: c.projectID,
		Person:    c.person,
		Erased:    done,
		Recorded:  recorded,
		At:        at,
	}
}

// finishCount records in the audit log what it does not show yet, and returns all that was changed, also by an earlier
// attempt. It keeps the counts for the next attempt. A compaction is due even if nothing was changed, because erasing a
// person again is how an operator asks for one.
func (s *Service) finishCount(ctx context.Context, count *erasureCount) (done Erased, err error) {
	err = s.store.WriteInBackground(ctx, func(ctx context.Context) error {
		if done, err = s.takeErased(ctx, count.projectID, count.person); err != nil {
			return err
		}
		return errors.Join(s.store.AddErased(ctx, count.erasure(done, true, s.now())), s.store.MarkCompactionDue(ctx))
	})
	return done, err
}

// takeErased removes the counts of an erasure, records in the audit log what it does not show yet, and returns all. It
// must be called in a transaction.
func (s *Service) takeErased(ctx context.Context, projectID, person string) (done Erased, err error) {
	done, rest, err := s.store.TakeErased(ctx, projectID, person)
	if err == nil && rest != (Erased{}) {
		err = s.recordErasure(ctx, projectID, rest)
	}
	done.add(rest)
	return done, err
}

// recordUnfinishedErasures removes the counts of erasures of a project that have not continued since a time, and
// records them in the audit log. It must be called in a transaction.
func (s *Service) recordUnfinishedErasures(ctx context.Context, projectID string, before time.Time) error {
	persons, err := s.store.UnfinishedErasures(ctx, projectID, before)
	for _, person := range persons {
		if err == nil {
			_, err = s.takeErased(ctx, projectID, person)
		}
	}
	return err
}

// erasePerson removes a person from all rooms. If one fails because its data is damaged, erasePerson continues with the
// others and returns the errors. Then it leaves the room by which a repetition finds the person, if there is one.
func (s *Service) erasePerson(ctx context.Context, p Person, count *erasureCount) error {
	p, last, err := s.resolve(ctx, p)
	if err != nil {
		return err
	}
	erase := func(r PersonRoom) error {
		earlier, err := s.findPerson(ctx, p, r)
		if err == nil {
			err = s.addEarlierNames(ctx, earlier) // before the first transaction, which erases where they are
		}
		if err != nil {
			return err
		}
		return s.eraseRoom(ctx, count, r.ID, func(ctx context.Context) (*traces, error) {
			t, err := s.findDisconnected(ctx, p, r)
			if err == nil {
				maps.Copy(t.names, earlier.names)
			}
			return t, err
		})
	}
	var errs []error
	for after, more := "", true; more; {
		rooms, err := s.roomsOf(ctx, p, after)
		if err != nil {
			return err
		}
		for _, r := range rooms {
			if after = r.ID; r.ID == last.ID {
				continue
			}
			err := erase(r)
			if _, expected := errors.AsType[*fault.Error](err); expected || ctx.Err() != nil {
				return err
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("room %s: %w", r.ID, err))
			}
		}
		more = len(rooms) == personBatch
	}
	if len(errs) == 0 && last.ID != "" {
		return erase(last)
	}
	return errors.Join(errs...)
}

// findDisconnected is findPerson for a person who must not be in the room now. A person whose connection was lost
// is still in the room, because their page takes the seat again, with the name.
func (s *Service) findDisconnected(ctx context.Context, p Person, r PersonRoom) (*traces, error) {
	found, err := s.findPerson(ctx, p, r)
	if err != nil {
		return nil, err
	}
	for _, seat := range found.seats {
		if seat.Taken {
			return nil, fault.New(fault.Conflict, "person_connected",
				"the person is in the room %s, or their page is reconnecting to it: end the room, remove the person, or "+
					"wait a minute", seat.RoomID)
		}
	}
	return found, nil
}

// recordErasure records what an erasure has changed. It must be called in a transaction. It
// does not name the person, because the audit log outlives what is erased.
func (s *Service) recordErasure(ctx context.Context, projectID string, done Erased) error {
	return audit.Record(ctx, s.store, s.now(), audit.Change{Action: audit.PersonErased, Subject: projectID,
		ProjectID: projectID, After: audit.Fields{"rooms": done.Rooms, "seats": done.Seats, "links": done.Links,
			"events": done.Events, "deliveries": done.Deliveries, "host_actions": done.HostActions, "knocks": done.Knocks}})
}

// findPerson returns what a room contains about a person that resolve has returned. It also
// finds links without a user ID that the person's browser redeemed.
func (s *Service) findPerson(ctx context.Context, p Person, r PersonRoom) (*traces, error) {
	t := newTraces(r.ID)
	seats, err := s.store.SeatsOfRoom(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	for _, seat := range seats {
		if seat.ID == p.SeatID || p.UserID != "" && seat.UserID == p.UserID {
			t.addSeat(seat)
		}
	}
	if _, known := t.identities[p.UserID]; p.UserID != "" && !known {
		t.identities[p.UserID] = "" // for events of a seat that no longer exists
	}
	isTheirs := func(userID, redeemedBy string) bool {
		if userID == "" {
			return t.keyHashes[redeemedBy]
		}
		return userID == p.UserID
	}
	if r.CreatorName+r.ExternalUserID != "" && isTheirs(r.ExternalUserID, r.RedeemedBy) {
		t.isCreator = true
		t.addName(r.CreatorName)
	}
	links, err := s.store.LinksOfRoom(ctx, r.ID)
	for _, l := range links {
		if isTheirs(l.UserID, l.RedeemedBy) {
			t.addLink(l)
		}
	}
	return t, err
}

// resolve replaces a seat by the user ID of its person, if the seat has one. It also returns
// the room of the seat. An erasure handles that room last, so that a failed erasure can be
// repeated with the same seat.
func (s *Service) resolve(ctx context.Context, p Person) (Person, PersonRoom, error) {
	if (p.UserID == "") == (p.SeatID == "") {
		return p, PersonRoom{}, fault.Invalidf("send either user_id or seat_id")
	}
	if _, err := s.store.Project(ctx, p.ProjectID); err != nil || p.SeatID == "" {
		return p, PersonRoom{}, err
	}
	r, err := s.store.RoomOfSeat(ctx, p.ProjectID, p.SeatID)
	if err != nil {
		return p, r, err
	}
	seats, err := s.store.SeatsOfRoom(ctx, r.ID)
	for _, seat := range seats {
		if seat.ID == p.SeatID && seat.UserID != "" {
			p.UserID = seat.UserID
		}
	}
	return p, r, err
}

// roomsOf returns a page of the rooms of a person that resolve has returned.
func (s *Service) roomsOf(ctx context.Context, p Person, after string) ([]PersonRoom, error) {
	if p.UserID == "" {
		r, err := s.store.RoomOfSeat(ctx, p.ProjectID, p.SeatID)
		if err != nil || r.ID <= after {
			return nil, err
		}
		return []PersonRoom{r}, nil
	}
	if err := validate.Text("user_id", p.UserID, 1, validate.MaxText, false); err != nil {
		return nil, err
	}
	return s.store.RoomsOfUser(ctx, p.ProjectID, p.UserID, after, personBatch)
}
