package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/testkit"
)

// attendee is a participant of the meeting.
type attendee struct {
	key  string
	seat seat
	*mediatest.Participant
}

// meeting is a room on one node.
type meeting struct {
	t    *testing.T
	n    *node
	id   string
	host string // seat key
}

// In a meeting of one minute, more participants join at once than there are seats, the
// participants move to breakout rooms and back, one of them loses its connection and
// rejoins, and the meeting ends for all of them at its scheduled end.
func TestMeeting_OneMinute(t *testing.T) {
	t.Parallel()
	s := &service{master: seal.NewKey()}
	n := s.startNode(t)
	db := s.openDatabase(t, n.dir)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
	defer cancel()

	const seats = 8
	m := &meeting{t: t, n: n, host: seatKey(0)}
	m.create(ctx, seats)
	attendees := m.joinAtOnce(ctx, seats+2)
	if len(attendees) != seats {
		t.Fatalf("%d participants joined, want %d", len(attendees), seats)
	}
	host, guests := attendees[0], attendees[1:]
	info, err := host.AwaitInfo(ctx, func(i room.Metadata) bool { return i.EndsAt != nil })
	if err != nil {
		t.Fatal(err)
	}
	ends := *info.EndsAt
	m.assertHears(ctx, guests[0], guests[1])

	// The host opens two breakout rooms, and the guests move to them.
	m.hostAction(http.StatusOK, "breakouts", map[string]any{"names": []string{"Left", "Right"}, "evenly": true})
	m.forEach(guests, func(p *attendee) error {
		if _, err := p.AwaitMessage(ctx, room.MessageMove); err != nil {
			return err
		}
		return m.rejoin(ctx, p)
	})
	in := map[string][]*attendee{}
	for _, p := range guests {
		in[p.seat.Session] = append(in[p.seat.Session], p)
	}
	if len(in) != 2 || len(in[host.seat.Session]) > 0 {
		t.Fatalf("the guests are in %d sessions, want 2 without the host's", len(in))
	}
	for session, members := range in {
		if len(members) < 3 {
			t.Errorf("%d guests are in %s, want at least 3", len(members), session)
		}
		m.assertHears(ctx, members[0], members[1])
	}
	m.hostAction(http.StatusNoContent, "broadcast", map[string]any{"text": "Two more minutes"})
	m.forEach(guests, func(p *attendee) error {
		message, err := p.AwaitMessage(ctx, room.MessageBroadcast)
		if err == nil && message.Text != "Two more minutes" {
			err = fmt.Errorf("received %+v, want the text of the broadcast", message)
		}
		return err
	})

	// The host closes the breakout rooms, and the guests return to the room.
	m.hostAction(http.StatusNoContent, "breakouts/close", nil)
	m.forEach(guests, func(p *attendee) error {
		if _, err := p.AwaitEnd(ctx); err != nil {
			return err
		}
		return m.rejoin(ctx, p)
	})
	for _, p := range guests {
		if p.seat.Session != host.seat.Session {
			t.Errorf("%s returned to session %s, want %s", p.key, p.seat.Session, host.seat.Session)
		}
	}
	m.assertHears(ctx, guests[0], guests[3])

	// A guest loses its connection and gets the same seat again, although all are taken.
	lost := guests[2]
	lost.Abort()
	before := lost.seat.Identity
	m.forEach([]*attendee{lost}, func(p *attendee) error { return m.rejoin(ctx, p) })
	if lost.seat.Identity != before {
		t.Errorf("rejoined with identity %s, want %s", lost.seat.Identity, before)
	}

	// The meeting ends.
	for _, p := range attendees {
		testkit.EventuallyWithin(t, time.Until(ends)+testkit.Timeout, "the time is up for "+p.key, func() bool {
			return p.End() != nil
		})
		if end := p.End(); end.Reason != "ROOM_DELETED" {
			t.Errorf("%s: ended with %+v, want ROOM_DELETED", p.key, end)
		}
	}
	if late := time.Since(ends); late < -100*time.Millisecond {
		t.Errorf("the meeting ended %s before its scheduled end", -late)
	}
	r, err := db.Room(ctx, m.id)
	if err != nil || r.State != room.Ended || r.EndReason != room.EndedDuration ||
		r.EndedAt.Sub(r.StartedAt) < time.Minute {
		t.Errorf("got room %+v, %v, want it ended after its duration", r, err)
	}
	if joins := assertAttendance(t, db, m.id); joins < seats+2*len(guests)+1 {
		t.Errorf("got %d joins, want at least %d", joins, seats+2*len(guests)+1)
	}
}

func (m *meeting) create(ctx context.Context, seats int) {
	m.t.Helper()
	// The server accepts a start in the current minute. The host opens the room if the minute is
	// about to end and the start is in the next one.
	start := time.Now().Add(5 * time.Second).UTC().Format("2006-01-02T15:04")
	created, err := m.n.client().CreateScheduledVideoRoom(ctx,
		client.ScheduledRoomRequest{
			StartAt:         start,
			Name:            "Ada",
			MaxParticipants: seats,
			EmptyTimeout:    60,
			Metadata: client.ScheduledRoomMetadata{Metadata: client.Metadata{RoomTitle: "Title"},
				RoomFeatures: &client.RoomFeatures{RoomDuration: 1,
					BreakoutRooms: &client.BreakoutRoomFeatures{AllowedNumberRooms: 2}}},
		})
	if err != nil {
		m.t.Fatal(err)
	}
	m.id = created.RoomID
	_, link, _ := strings.Cut(created.FinalLink, "#t=")
	if s, err := m.n.reserveSeat(m.id, m.host, link); err != nil || s.Role != "host" {
		m.t.Fatalf("take the host's seat: got %+v, %v, want the role host", s, err)
	}
}

// joinAtOnce joins many participants at once and returns those that were admitted, the host
// first.
func (m *meeting) joinAtOnce(ctx context.Context, many int) (attendees []*attendee) {
	m.t.Helper()
	all := make([]*attendee, many)
	var work sync.WaitGroup
	for i := range all {
		work.Go(func() {
			s, p, err := m.n.join(ctx, m.id, seatKey(i))
			switch {
			case s.Error.Code == "room_full":
			case err != nil:
				m.t.Errorf("join participant %d: got error %v, want none or room_full", i, err)
			default:
				all[i] = &attendee{key: seatKey(i), seat: s, Participant: p}
				m.t.Cleanup(p.Abort)
			}
		})
	}
	work.Wait()
	for _, p := range all {
		if p != nil {
			attendees = append(attendees, p)
		}
	}
	return attendees
}

// rejoin takes the seat again and connects to its current session, as a page does.
func (m *meeting) rejoin(ctx context.Context, p *attendee) error {
	s, in, err := m.n.join(ctx, m.id, p.key)
	if err != nil {
		return err
	}
	p.Leave()
	p.seat, p.Participant = s, in
	m.t.Cleanup(in.Abort)
	return nil
}

// forEach calls do for all attendees concurrently.
func (m *meeting) forEach(attendees []*attendee, do func(*attendee) error) {
	m.t.Helper()
	var work sync.WaitGroup
	for _, p := range attendees {
		work.Go(func() {
			if err := do(p); err != nil {
				m.t.Errorf("participant %s: got error %v, want none", p.key, err)
			}
		})
	}
	work.Wait()
	if m.t.Failed() {
		m.t.FailNow()
	}
}

// assertHears publishes a microphone of a and checks that its packets arrive at b.
func (m *meeting) assertHears(ctx context.Context, a, b *attendee) {
	m.t.Helper()
	if err := a.Publish(ctx, fmt.Sprint("microphone ", time.Now().UnixNano()), mediatest.Microphone); err != nil {
		m.t.Fatal(err)
	}
	if err := b.AwaitPacketsFrom(ctx, a.seat.Identity, mediatest.Microphone); err != nil {
		m.t.Fatalf("packets of %s at %s: got error %v, want packets", a.key, b.key, err)
	}
}

// hostAction calls the join API as the host and expects the status.
func (m *meeting) hostAction(status int, action string, fields map[string]any) {
	m.t.Helper()
	body := map[string]any{"seat_key": m.host}
	for name, value := range fields {
		body[name] = value
	}
	text, _ := json.Marshal(body)
	res, err := http.Post(m.n.url+"/api/join/rooms/"+m.id+"/"+action, "application/json", bytes.NewReader(text))
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != status {
		m.t.Fatalf("%s: got status %d, want %d: %s", action, res.StatusCode, status, body)
	}
}
