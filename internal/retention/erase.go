package retention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/webhook"
)

// Link is what a link says about a person.
type Link struct {
	ID, RoomID   string
	Name, UserID string
	Role         string
	RedeemedBy   string // Seat.KeyHash of the person who redeemed a single-use link, or empty
}

// traces are what a room contains about some people, or about everybody.
type traces struct {
	roomID    string
	everybody bool
	seats     []Seat
	links     []Link
	isCreator bool // they have created the room, and it still names them

	identities map[string]string // by the identity in events, the ID of the seat
	keyHashes  map[string]bool   // of the seats
	names      map[string]bool
}

func newTraces(roomID string) *traces {
	return &traces{roomID: roomID, identities: map[string]string{}, keyHashes: map[string]bool{}, names: map[string]bool{}}
}

func (t *traces) addSeat(s Seat) {
	t.seats = append(t.seats, s)
	t.identities[s.ID] = s.ID
	if s.UserID != "" {
		t.identities[s.UserID] = s.ID
	}
	t.keyHashes[s.KeyHash] = true
	t.addName(s.Name)
}

func (t *traces) addLink(l Link) {
	t.links = append(t.links, l)
	t.addName(l.Name)
}

func (t *traces) addName(name string) {
	if name != "" {
		t.names[name] = true
	}
}

// hasIdentity reports whether an event with an identity is about one of the people. It
// ignores the name, because two people may have the same.
func (t *traces) hasIdentity(identity string) bool {
	_, known := t.identities[identity]
	return t.everybody || known
}

// hasName is hasIdentity for events that have only a name.
func (t *traces) hasName(name string) bool { return name != "" && (t.everybody || t.names[name]) }

// erase removes the people from the data of an event. It reports whether it has
// changed anything. A person stays recognizable as the same by the ID of the seat, so that
// joins and leaves still pair up.
func (t *traces) erase(d *event.Data) bool {
	before := *d
	if p := d.Participant; p != nil && t.hasIdentity(p.Identity) {
		erased := *p
		erased.Identity, erased.Name = t.identities[p.Identity], ""
		if erased != *p {
			d.Participant = &erased
		}
	}
	if f := d.Feedback; f != nil && t.hasIdentity(f.Identity) {
		erased := *f
		erased.Identity, erased.Name = t.identities[f.Identity], ""
		if erased != *f {
			d.Feedback = &erased
		}
	}
	t.eraseNames(d)
	return *d != before
}

// eraseNames removes the people from those parts of an event that have a name without an identity. It reports whether
// it has changed anything.
func (t *traces) eraseNames(d *event.Data) bool {
	before := *d
	if m := d.Mark; m != nil && t.hasName(m.Name) {
		erased := *m
		erased.Name = ""
		d.Mark = &erased
	}
	if r := d.FailedJoin; r != nil && t.hasName(r.Name) {
		erased := *r
		erased.Name = ""
		d.FailedJoin = &erased
	}
	return *d != before
}

// hasActor reports whether an actor is one of the people. A visitor of the waiting room is also
// matched by name, because such a visitor may have no seat.
func (t *traces) hasActor(a Actor, visitor bool) bool {
	return t.hasIdentity(a.SeatID) || visitor && t.hasName(a.Name)
}

// participation reports whether one of the people did an action, and whether one of them was its
// target.
func (t *traces) participation(a HostAction) (by, target bool) {
	visitor := a.Kind == string(room.HostAdmitted) || a.Kind == string(room.HostDenied)
	return t.hasActor(a.By, false), t.hasActor(a.Target, visitor)
}

// eraseAction removes the people from an action. It reports whether it has changed anything.
func (t *traces) eraseAction(a *HostAction) bool {
	before := *a
	by, target := t.participation(*a)
	if by {
		a.By.Name = ""
	}
	if target {
		a.Target.Name = ""
	}
	return *a != before
}

// findEverybody returns what a room contains about all people.
func (s *Service) findEverybody(ctx context.Context, roomID string) (*traces, error) {
	t := newTraces(roomID)
	t.everybody, t.isCreator = true, true
	seats, err := s.store.SeatsOfRoom(ctx, roomID)
	if err != nil {
		return nil, err
	}
	for _, seat := range seats {
		t.addSeat(seat)
	}
	links, err := s.store.LinksOfRoom(ctx, roomID)
	for _, l := range links {
		t.addLink(l)
	}
	return t, err
}

// position is how far the erasure of a room is. The zero value is the start.
type position struct {
	// namesDone says that the first pass is done. The erasure of everybody has one pass, any other has two. The first
	// pass erases host actions, and events that have a name without an identity. The second pass erases all else, also
	// the events that tell the earlier names. If an erasure is interrupted in the first pass, these events are still
	// there when it is repeated.
	namesDone bool
	event     int64  // number of the last event that is done
	row       string // key of the last host action, link or seat that is done
	done      bool   // everything is done
}

// eraseRoom removes a person from a room in transactions of about personBatchRows rows,
// because a large room would block other writers for too long. It locks the room and calls find
// in each transaction, because the person may join and deliveries may be replayed in between, and
// counts the changes of each.
func (s *Service) eraseRoom(ctx context.Context, count *erasureCount, roomID string,
	find func(ctx context.Context) (*traces, error)) error {
	sum := Erased{}
	for at := (position{}); !at.done; {
		var part Erased
		var next position
		err := s.store.WriteInBackground(ctx, func(ctx context.Context) error {
			part = Erased{} // the transaction may run again
			if err := s.store.LockRooms(ctx, []string{roomID}); err != nil {
				return err
			}
			t, err := find(ctx)
			if err != nil {
				return err
			}
			next = at
			for rows, n := 0, 0; rows < personBatchRows && !next.done; rows += n {
				if n, next, err = s.erasePart(ctx, t, next, personBatchRows-rows, &part); err != nil {
					return err
				}
			}
			if next.done && (sum != (Erased{}) || part != (Erased{}) || t.isCreator) {
				part.Rooms = 1
			}
			return s.countErased(ctx, count, part)
		})
		if err != nil {
			return err
		}
		count.begun = count.begun || part != (Erased{})
		sum.add(part)
		at = next
	}
	return nil
}

// erasePart removes people from at most limit rows of their room after a position: from
// events, with the webhook deliveries of these, and after the last event from everything
// else. Seats go last, because they identify people in events and links. It returns the
// number of rows that it has read, at least 1, and the position to continue at, and adds
// what it has changed to done.
func (s *Service) erasePart(ctx context.Context, t *traces, at position, limit int, done *Erased) (
	rows int, next position, err error,
) {
	events, err := s.store.EventsAboutPeople(ctx, t.roomID, at.event, limit)
	if err != nil {
		return 0, at, err
	}
	erase := t.erase
	if t.isFirstPass(at) {
		erase = t.eraseNames
	}
	var erased []event.Event
	var changed []string
	for _, e := range events {
		at.event = e.Sequence
		if erase(&e.Data) {
			erased, changed = append(erased, e), append(changed, e.ID)
		}
	}
	if err := s.store.UpdateEvents(ctx, erased); err != nil {
		return 0, at, err
	}
	done.Events += len(changed)
	if err := s.eraseDeliveries(ctx, erase, changed, done); err != nil || len(events) >= limit {
		return len(events), at, err
	}
	rows, next, err = s.eraseRows(ctx, t, at, limit-len(events), done)
	return max(1, len(events)+rows), next, err
}

// isFirstPass reports whether the first of two passes is not done yet; see position.
func (t *traces) isFirstPass(at position) bool { return !t.everybody && !at.namesDone }

// Prefixes of the keys of rows in a position. Rows are erased in the order of their keys.
const (
	actionKey = "action "
	linkKey   = "link "
	seatKey   = "seat "
)

// eraseRows is erasePart for everything except events: host actions, links, seats, the creator and
// knocks.
func (s *Service) eraseRows(ctx context.Context, t *traces, at position, limit int, done *Erased) (
	rows int, next position, err error,
) {
	actions, err := s.store.HostActionsOfRoom(ctx, t.roomID)
	if err != nil {
		return 0, at, err
	}
	var keys []string
	erased := map[string]HostAction{} // by key
	for _, a := range actions {
		if t.eraseAction(&a) {
			key := fmt.Sprintf("%s%019d", actionKey, a.N)
			keys, erased[key] = append(keys, key), a
		}
	}
	firstPass := t.isFirstPass(at)
	for _, l := range t.links {
		if !firstPass {
			keys = append(keys, linkKey+l.ID)
		}
	}
	for _, seat := range t.seats {
		if !firstPass && (seat.Name != "" || seat.UserID != "") {
			keys = append(keys, seatKey+seat.ID)
		}
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return key <= at.row })
	slices.Sort(keys)
	more := len(keys) > limit
	if more {
		keys = keys[:limit]
	}
	var seatIDs, linkIDs []string
	for _, key := range keys {
		if a, ok := erased[key]; ok {
			if err := s.store.RenameHostAction(ctx, t.roomID, a); err != nil {
				return 0, at, err
			}
			done.HostActions++
		} else if id, ok := strings.CutPrefix(key, linkKey); ok {
			linkIDs = append(linkIDs, id)
		} else {
			seatIDs = append(seatIDs, strings.TrimPrefix(key, seatKey))
		}
		at.row = key
	}
	done.Seats += len(seatIDs)
	done.Links += len(linkIDs)
	if err := errors.Join(s.store.EraseSeats(ctx, seatIDs), s.store.EraseLinks(ctx, linkIDs)); err != nil {
		return 0, at, err
	}
	if firstPass {
		if !more {
			at = position{namesDone: true}
		}
		return len(keys), at, nil
	}
	if t.isCreator {
		if err := s.store.EraseCreator(ctx, t.roomID); err != nil {
			return 0, at, err
		}
	}
	rows = len(keys)
	if !t.everybody {
		for keyHash := range t.keyHashes {
			knocks, err := s.store.DeleteKnocksByKey(ctx, t.roomID, keyHash)
			if err != nil {
				return 0, at, err
			}
			done.Knocks += knocks
		}
		at.done = !more
		return rows, at, nil
	}
	if rows == limit {
		return rows, at, nil
	}
	knocks, err := s.store.DeleteKnocks(ctx, t.roomID, limit-rows)
	done.Knocks += knocks
	if rows += knocks; err != nil || rows == limit {
		return rows, at, err
	}
	at.done = true
	return rows, at, s.store.MarkPeopleErased(ctx, t.roomID, s.now())
}

// eventBatch is the number of events whose deliveries one query reads.
const eventBatch = 100

// eraseDeliveries removes people from the deliveries of events, also from those that
// are still to be sent.
func (s *Service) eraseDeliveries(ctx context.Context, erase func(d *event.Data) bool, eventIDs []string,
	done *Erased) error {
	for batch := range slices.Chunk(eventIDs, eventBatch) {
		deliveries, err := s.store.DeliveriesOfEvents(ctx, batch)
		if err != nil {
			return err
		}
		for _, d := range deliveries {
			body, err := webhook.ChangeBody(d.Body, erase)
			if err != nil {
				return err
			}
			if err := s.store.EraseDelivery(ctx, d.ID, body); err != nil {
				return err
			}
		}
		done.Deliveries += len(deliveries)
	}
	return nil
}
