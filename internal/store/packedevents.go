package store

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"parley/internal/db"
	"parley/internal/event"
)

// packSize is the maximum number of events in a row of packed_events, so that a page of the events of a large room does
// not read all of them. It must not become smaller, because lastPacked relies on it.
const packSize = 200

// packedEvent is the stored form of an event in a pack. Its number follows from its position.
type packedEvent struct {
	ID       string          `json:"i,omitempty"` // if it is no UUID
	IDOffset int64           `json:"o,omitempty"` // milliseconds from the event to the time in the UUID
	Type     event.Type      `json:"y"`
	Since    int64           `json:"a"` // milliseconds since the event before, or since 1970
	Data     json.RawMessage `json:"d"` // see formatEventData
}

// packFormat is the first byte of a pack. The JSON of []packedEvent follows, compressed with packDictionary, and then
// the ends of the UUIDs, which are random and so cannot be compressed.
const packFormat = 1

// A UUID of version 7 begins with its time (RFC 9562, section 5.7). The rest of it is its end here.
const uuidTimeSize, uuidEndSize = 6, 16 - 6

// packDictionary has the texts that most packs contain, the frequent ones last. It is part of the format.
var packDictionary = []byte(`"refusal":{"name":"","code":""feedback":{"identity":"","name":"","role":"",` +
	`"rating":"good""mark":{"name":"","source":"external"}"client_room_id":""start_at":""reason":"removed"` +
	`"reason":"connection_lost"` +
	`"y":"participant.reported","y":"attendance.marked","y":"participant.join_failed","y":"feedback.given",` +
	`"y":"room.scheduled","y":"room.cancelled","y":"room.expired","r":"host","r":"cohost","i":"` +
	`"y":"room.ended","a":0,"d":{"t":"audio","s":".1","end_reason":"empty"}}]` +
	`[{"y":"room.opened","a":1,"d":{"t":"video"}},"o":1,"y":"room.started","a":0,"d":{"t":"video","s":".1"}},` +
	`{"o":1,"y":"participant.left","a":1,"d":{"t":"video","p":{"i":"","n":"","c":"PA_","j":17,"reason":"left"}}},` +
	`{"o":1,"y":"participant.joined","a":1,"d":{"t":"video","p":{"i":"0","n":"","c":"PA_"}}},{"o":1,"y":"participant.`)

// packReaders and packWriters are reused, because a reader has about 40 kB, and a writer about a megabyte.
var packReaders = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}

var packWriters = sync.Pool{New: func() any {
	w, err := flate.NewWriterDict(io.Discard, flate.BestCompression, packDictionary)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// eventRow is an event as the table events has it.
type eventRow struct {
	id       string
	sequence int64
	kind     event.Type
	at       int64 // Unix milliseconds
	data     string
}

// encodePack returns the stored form of events, which must be in order and without gaps. It keeps their data as it is,
// because a later program may have added fields.
func encodePack(rows []eventRow) ([]byte, error) {
	list := make([]packedEvent, 0, len(rows))
	var uuidEnds []byte
	before := int64(0)
	for _, row := range rows {
		stored := packedEvent{Type: row.kind, Since: row.at - before, Data: json.RawMessage(row.data)}
		if id, err := uuid.Parse(row.id); err != nil || id.String() != row.id {
			stored.ID = row.id
		} else {
			stored.IDOffset = uuidMillis(id) - row.at
			uuidEnds = append(uuidEnds, id[uuidTimeSize:]...)
		}
		list, before = append(list, stored), row.at
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	w := packWriters.Get().(*flate.Writer)
	defer packWriters.Put(w)
	packed := bytes.NewBuffer([]byte{packFormat})
	w.Reset(packed)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return append(packed.Bytes(), uuidEnds...), nil
}

// uuidMillis returns the time of a UUID in Unix milliseconds.
func uuidMillis(id uuid.UUID) int64 { return int64(binary.BigEndian.Uint64(id[:8]) >> 16) }

// newUUID returns the UUID with a time and an end.
func newUUID(millis int64, end []byte) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[:8], uint64(millis)<<16)
	copy(id[uuidTimeSize:], end)
	return id
}

// pack is a row of packed_events.
type pack struct {
	roomID      string
	projectID   string
	first, last int64
	events      []byte
}

const selectPacks = `SELECT room_id, (SELECT project_id FROM rooms WHERE id = room_id), first_sequence, last_sequence,
	events FROM packed_events `

// queryPacks returns the packs that a statement with selectPacks selects.
func (s *DB) queryPacks(ctx context.Context, q string, args ...any) (packs []pack, err error) {
	err = s.Query(ctx, q, args, func(row db.Row) error {
		var p pack
		err := row.Scan(&p.roomID, &p.projectID, &p.first, &p.last, &p.events)
		packs = append(packs, p)
		return err
	})
	return packs, err
}

// unpack returns the events of the pack.
func (p *pack) unpack() ([]eventRow, error) {
	rows, err := p.decode()
	if err != nil {
		return nil, fmt.Errorf("packed events %d to %d of room %s: %w", p.first, p.last, p.roomID, err)
	}
	return rows, nil
}

func (p *pack) decode() ([]eventRow, error) {
	if len(p.events) == 0 || p.events[0] != packFormat {
		return nil, errors.New("unknown format")
	}
	from := bytes.NewReader(p.events[1:])
	r := packReaders.Get().(io.Reader)
	defer packReaders.Put(r)
	if err := r.(flate.Resetter).Reset(from, packDictionary); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	uuidEnds := p.events[len(p.events)-from.Len():]
	var list []packedEvent
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	if int64(len(list)) != p.last-p.first+1 {
		return nil, fmt.Errorf("got %d events", len(list))
	}
	rows := make([]eventRow, 0, len(list))
	at := int64(0)
	for i, stored := range list {
		at += stored.Since
		row := eventRow{
			id:       stored.ID,
			sequence: p.first + int64(i),
			kind:     stored.Type,
			at:       at,
			data:     string(stored.Data),
		}
		if row.id == "" {
			if len(uuidEnds) < uuidEndSize {
				return nil, errors.New("IDs are missing")
			}
			row.id = newUUID(at+stored.IDOffset, uuidEnds[:uuidEndSize]).String()
			uuidEnds = uuidEnds[uuidEndSize:]
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// event returns an event of the pack.
func (p *pack) event(row eventRow) (event.Event, error) {
	e := event.Event{
		ID:        row.id,
		Type:      row.kind,
		ProjectID: p.projectID,
		RoomID:    p.roomID,
		Sequence:  row.sequence,
		At:        time.UnixMilli(row.at).UTC(),
	}
	var err error
	if e.Data, err = parseEventData(row.data, p.roomID, e.At); err != nil {
		return event.Event{}, fmt.Errorf("event %s: %w", e.ID, err)
	}
	return e, nil
}

// packBatch is the maximum number of packs that a query for the events of a room reads.
const packBatch = 4

// packedPage is what a reader wants of the packed events of a room.
type packedPage struct {
	roomID     string
	after      int64 // sequence number
	limit      int
	wanted     func(event.Type) bool
	wholePacks bool // return the rest of the last pack, too
}

// packedEvents returns the packed events of a page, in order, and the number of the last event of the packs that it has
// read, 0 without any.
func (s *DB) packedEvents(ctx context.Context, page packedPage) (events []event.Event, last int64, err error) {
	atOnce := min(packBatch, 2+page.limit/packSize)
	for {
		packs, err := s.queryPacks(ctx, selectPacks+`WHERE room_id = $1 AND last_sequence > $2
			ORDER BY last_sequence LIMIT $3`, page.roomID, max(page.after, last), atOnce)
		if err != nil {
			return nil, 0, err
		}
		for _, p := range packs {
			rows, err := p.unpack()
			if err != nil {
				return nil, 0, err
			}
			last = p.last
			for _, row := range rows {
				full := len(events) >= page.limit && !page.wholePacks
				if full || row.sequence <= page.after || !page.wanted(row.kind) {
					continue
				}
				e, err := p.event(row)
				if err != nil {
					return nil, 0, err
				}
				events = append(events, e)
			}
			if len(events) >= page.limit {
				return events, last, nil
			}
		}
		if len(packs) < atOnce {
			return events, last, nil
		}
	}
}

// withPacked returns the packed events of a page, and those of rows, which the caller has read before, up to the limit.
// In the other order, a reader would miss events that are packed in between.
func (s *DB) withPacked(ctx context.Context, page packedPage, rows []event.Event) ([]event.Event, error) {
	if len(rows) > 0 && rows[0].Sequence == page.after+1 || page.limit <= 0 {
		return rows, nil
	}
	events, last, err := s.packedEvents(ctx, page)
	if err != nil {
		return nil, err
	}
	for _, e := range rows {
		if e.Sequence > last && len(events) < page.limit {
			events = append(events, e)
		}
	}
	return events, nil
}

// anySequence is greater than the sequence number of any event.
const anySequence = 1 << 62

// lastPacked returns the last packed event of a room that wanted selects and whose sequence number is less than before,
// the zero event without one. No pack has more than packSize events, which bounds the rows that it looks at.
func (s *DB) lastPacked(
	ctx context.Context, roomID string, before int64, wanted func(event.Type) bool,
) (event.Event, error) {
	for {
		packs, err := s.queryPacks(ctx, selectPacks+`WHERE room_id = $1 AND first_sequence < $2 AND last_sequence < $3
			ORDER BY last_sequence DESC LIMIT 1`, roomID, before, before+packSize)
		if err != nil || len(packs) == 0 {
			return event.Event{}, err
		}
		rows, err := packs[0].unpack()
		if err != nil {
			return event.Event{}, err
		}
		for _, row := range slices.Backward(rows) {
			if row.sequence < before && wanted(row.kind) {
				return packs[0].event(row)
			}
		}
		before = packs[0].first
	}
}

// overTypes are the types of the event that ends a room. The index events_over has the same list. Few events follow,
// such as ratings.
var overTypes = []event.Type{event.RoomEnded, event.RoomCancelled, event.RoomExpired}

// usualEvents is the number of events of a usual small meeting.
const usualEvents = 10

// packWindow is the period in which PackEvents looks for rooms after the first one. PostgreSQL reads and sorts all
// rooms of a period if it thinks that there are few, for example when nothing has analyzed the table since it was
// filled.
const packWindow = time.Hour

// PackEvents packs rooms in the order in which they ended, and skips those that are locked.
func (s *DB) PackEvents(
	ctx context.Context, from, before time.Time, limit int,
) (events int, next time.Time, err error) {
	skipLocked, err := s.ForUpdateSkipLocked(ctx)
	if err != nil {
		return 0, time.Time{}, err
	}
	var first time.Time
	err = s.Query(ctx, `SELECT at FROM events WHERE type IN `+typeList(overTypes)+` AND at >= $1 AND at < $2
		ORDER BY at LIMIT 1`, []any{from.UnixMilli(), before.UnixMilli()},
		func(row db.Row) error { return row.Scan(db.ScanTime(&first)) })
	if err != nil || first.IsZero() {
		return 0, time.Time{}, err
	}
	end := first.Add(packWindow)
	if end.After(before) {
		end = before
	}
	type over struct {
		roomID string
		at     time.Time
	}
	var rooms []over
	most := limit/usualEvents + 1
	err = s.Query(ctx, `SELECT r.id, e.at FROM events e JOIN rooms r ON r.id = e.room_id
		WHERE e.type IN `+typeList(overTypes)+` AND e.at >= $1 AND e.at < $2 ORDER BY e.at LIMIT $3`+skipLocked,
		[]any{first.UnixMilli(), end.UnixMilli(), most}, func(row db.Row) error {
			var o over
			err := row.Scan(&o.roomID, db.ScanTime(&o.at))
			rooms = append(rooms, o)
			return err
		})
	if err != nil {
		return 0, time.Time{}, err
	}
	for i, o := range rooms {
		n, err := s.packRoom(ctx, o.roomID, limit-events)
		if err != nil {
			return 0, time.Time{}, fmt.Errorf("pack events of room %s: %w", o.roomID, err)
		}
		if events += n; events >= limit || i == most-1 {
			next = o.at
			if events == 0 { // nothing of these rooms can be packed
				next = o.at.Add(time.Millisecond)
			}
			return events, next, nil
		}
	}
	return events, end, nil
}

// packRoom packs about limit events of a room, the first ones that are not packed yet, and returns their number. If
// they contain the end of the room, it packs all others, too, because nothing would find the room again.
func (s *DB) packRoom(ctx context.Context, roomID string, limit int) (packed int, err error) {
	for ended := false; ended || packed < limit; {
		rows, err := s.eventsToPack(ctx, roomID)
		if err != nil || len(rows) == 0 {
			return packed, err
		}
		if err := s.packRows(ctx, roomID, rows); err != nil {
			return packed, err
		}
		packed += len(rows)
		ended = ended || slices.ContainsFunc(rows, func(e eventRow) bool { return slices.Contains(overTypes, e.kind) })
	}
	return packed, nil
}

// eventsToPack returns the events for the next pack of a room. They have no gap, and their data is JSON.
func (s *DB) eventsToPack(ctx context.Context, roomID string) (rows []eventRow, err error) {
	err = s.Query(ctx, `SELECT id, sequence, type, at, data FROM events WHERE room_id = $1 AND sequence > coalesce(
			(SELECT last_sequence FROM packed_events WHERE room_id = $1 ORDER BY last_sequence DESC LIMIT 1), 0)
		ORDER BY sequence LIMIT $2`, []any{roomID, packSize}, func(row db.Row) error {
		var e eventRow
		err := row.Scan(&e.id, &e.sequence, &e.kind, &e.at, &e.data)
		rows = append(rows, e)
		return err
	})
	for i, row := range rows {
		if row.sequence != rows[0].sequence+int64(i) || !json.Valid([]byte(row.data)) {
			return rows[:i], err
		}
	}
	return rows, err
}

// packRows moves events of a room into a row of packed_events.
func (s *DB) packRows(ctx context.Context, roomID string, rows []eventRow) error {
	first, last := rows[0].sequence, rows[len(rows)-1].sequence
	packed, err := encodePack(rows)
	if err != nil {
		return err
	}
	err = s.Exec(ctx, `DELETE FROM events WHERE room_id = $1 AND sequence >= $2 AND sequence <= $3`, roomID, first, last)
	if err != nil {
		return err
	}
	return s.Exec(ctx, `INSERT INTO packed_events (room_id, first_sequence, last_sequence, events)
		VALUES ($1, $2, $3, $4)`, roomID, first, last, packed)
}

// updatePacked replaces the data of those of the events that are packed, and returns the others. All events are of one
// room, and in order.
func (s *DB) updatePacked(ctx context.Context, events []event.Event) (others []event.Event, err error) {
	packs, err := s.queryPacks(ctx, selectPacks+`WHERE room_id = $1 AND last_sequence >= $2 AND first_sequence <= $3
		ORDER BY last_sequence`, events[0].RoomID, events[0].Sequence, events[len(events)-1].Sequence)
	if err != nil {
		return nil, err
	}
	for _, p := range packs {
		n := slices.IndexFunc(events, func(e event.Event) bool { return e.Sequence > p.last })
		if n < 0 {
			n = len(events)
		}
		if err := s.updatePack(ctx, p, events[:n]); err != nil {
			return nil, err
		}
		events = events[n:]
	}
	return events, nil
}

// updatePack replaces the data of events of a pack.
func (s *DB) updatePack(ctx context.Context, p pack, events []event.Event) error {
	if len(events) == 0 {
		return nil
	}
	rows, err := p.unpack()
	if err != nil {
		return err
	}
	for i := range events {
		e := &events[i]
		if rows[e.Sequence-p.first].data, err = formatEventData(&e.Data, e.RoomID, e.At); err != nil {
			return fmt.Errorf("event %s: %w", e.ID, err)
		}
	}
	packed, err := encodePack(rows)
	if err != nil {
		return err
	}
	return s.Exec(ctx, `UPDATE packed_events SET events = $3 WHERE room_id = $1 AND last_sequence = $2`,
		p.roomID, p.last, packed)
}

// deletePacked deletes at most limit packs of a room, the first ones first, and returns their number and that of
// their events.
func (s *DB) deletePacked(ctx context.Context, roomID string, limit int) (packs, events int, err error) {
	err = s.ExecReturning(ctx, `DELETE FROM packed_events WHERE room_id = $1 AND last_sequence IN (SELECT last_sequence
		FROM packed_events WHERE room_id = $1 ORDER BY last_sequence LIMIT $2) RETURNING last_sequence - first_sequence + 1`,
		[]any{roomID, limit}, func(row db.Row) error {
			var n int
			err := row.Scan(&n)
			packs, events = packs+1, events+n
			return err
		})
	return packs, events, err
}
