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

	"parley/client"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/seal"
)

// attendee is somebody in the meeting.
type attendee struct {
	key  string
	seat seat
	*mediatest.Participant
}

// meeting is a room on one node, and who is in it.
type meeting struct {
	t    *testing.T
	n    *node
	id   string
	host string // seat key
}

// A meeting of a minute, with real people: more come at once than there are
// seats, they are sent to breakout rooms and come back, one is cut off and
// returns, and the time is up for all of them.
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
	people := m.joinAtOnce(ctx, seats+2)
	if len(people) != seats {
		t.Fatalf("%d came in on %d seats", len(people), seats)
	}
	host, guests := people[0], people[1:]
	info, err := host.AwaitInfo(ctx, func(i room.Metadata) bool { return i.EndsAt != nil })
	if err != nil {
		t.Fatal(err)
	}
	ends := *info.EndsAt
	m.assertHears(ctx, guests[0], guests[1])

	// A host opens two breakout rooms; the others are called and follow.
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
		t.Fatalf("the guests are in %d sessions", len(in))
	}
	for session, some := range in {
		if len(some) < 3 {
			t.Errorf("%d are in %s", len(some), session)
		}
		m.assertHears(ctx, some[0], some[1])
	}
	m.hostAction(http.StatusNoContent, "broadcast", map[string]any{"text": "Two more minutes"})
	m.forEach(guests, func(p *attendee) error {
		said, err := p.AwaitMessage(ctx, room.MessageBroadcast)
		if err == nil && said.Text != "Two more minutes" {
			err = fmt.Errorf("was told %+v", said)
		}
		return err
	})

	// They are closed, and everybody is back in the room.
	m.hostAction(http.StatusNoContent, "breakouts/close", nil)
	m.forEach(guests, func(p *attendee) error {
		if _, err := p.AwaitEnd(ctx); err != nil {
			return err
		}
		return m.rejoin(ctx, p)
	})
	for _, p := range guests {
		if p.seat.Session != host.seat.Session {
			t.Errorf("%s came back to %s, not %s", p.key, p.seat.Session, host.seat.Session)
		}
	}
	m.assertHears(ctx, guests[0], guests[3])

	// One is cut off and comes back to the same seat, though all are taken.
	cut := guests[2]
	cut.Abort()
	before := cut.seat.Identity
	m.forEach([]*attendee{cut}, func(p *attendee) error { return m.rejoin(ctx, p) })
	if cut.seat.Identity != before {
		t.Errorf("it came back as somebody else")
	}

	// The time is up.
	for _, p := range people {
		eventuallyWithin(t, time.Until(ends)+5*time.Second, "the time is up for "+p.key, func() bool { return p.End() != nil })
		if end := p.End(); end.Reason != "ROOM_DELETED" {
			t.Errorf("%s: ended with %+v", p.key, end)
		}
	}
	if late := time.Since(ends); late < -100*time.Millisecond || late > 3*time.Second {
		t.Errorf("it ended %s after its time", late)
	}
	r, err := db.Room(ctx, m.id)
	if err != nil || r.State != room.Ended || r.EndReason != room.EndedDuration || r.EndedAt.Sub(r.StartedAt) < time.Minute {
		t.Errorf("%+v %v", r, err)
	}
	if joins := assertAttendance(t, db, m.id); joins < seats+2*len(guests)+1 {
		t.Errorf("%d joins are known", joins)
	}
}

func (m *meeting) create(ctx context.Context, seats int) {
	m.t.Helper()
	// The minute that has begun counts as the future.
	made, err := m.n.client().CreateScheduledVideoRoom(ctx, client.ScheduledRoomRequest{StartAt: time.Now().UTC().Format("2006-01-02T15:04"),
		Name: "Ada", MaxParticipants: seats, EmptyTimeout: 60, Metadata: client.ScheduledRoomMetadata{Metadata: client.Metadata{RoomTitle: "Title"},
			RoomFeatures: &client.RoomFeatures{RoomDuration: 1, BreakoutRooms: &client.BreakoutRoomFeatures{AllowedNumberRooms: 2}}}})
	if err != nil {
		m.t.Fatal(err)
	}
	m.id = made.RoomID
	_, link, _ := strings.Cut(made.FinalLink, "#t=")
	if s, err := m.n.takeSeat(m.id, m.host, link); err != nil || s.Role != "host" {
		m.t.Fatalf("%+v %v", s, err)
	}
}

// joinAtOnce returns those who got in, the host first.
func (m *meeting) joinAtOnce(ctx context.Context, many int) (people []*attendee) {
	m.t.Helper()
	all := make([]*attendee, many)
	var work sync.WaitGroup
	for i := range all {
		work.Go(func() {
			s, p, err := m.n.join(ctx, m.id, seatKey(i))
			switch {
			case s.Error.Code == "room_full":
			case err != nil:
				m.t.Errorf("%d: %v", i, err)
			default:
				all[i] = &attendee{key: seatKey(i), seat: s, Participant: p}
				m.t.Cleanup(p.Abort)
			}
		})
	}
	work.Wait()
	for _, p := range all {
		if p != nil {
			people = append(people, p)
		}
	}
	return people
}

// rejoin takes the seat again and connects where that leads, as a page does.
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

// forEach has everybody do something at once.
func (m *meeting) forEach(people []*attendee, do func(*attendee) error) {
	m.t.Helper()
	var work sync.WaitGroup
	for _, p := range people {
		work.Go(func() {
			if err := do(p); err != nil {
				m.t.Errorf("%s: %v", p.key, err)
			}
		})
	}
	work.Wait()
	if m.t.Failed() {
		m.t.FailNow()
	}
}

func (m *meeting) assertHears(ctx context.Context, a, b *attendee) {
	m.t.Helper()
	if err := a.Publish(ctx, fmt.Sprint("microphone ", time.Now().UnixNano()), mediatest.Microphone); err != nil {
		m.t.Fatal(err)
	}
	if err := b.AwaitPacketsFrom(ctx, a.seat.Identity, mediatest.Microphone); err != nil {
		m.t.Fatalf("%s does not hear %s: %v", b.key, a.key, err)
	}
}

// hostAction does what hosts may.
func (m *meeting) hostAction(status int, what string, fields map[string]any) {
	m.t.Helper()
	body := map[string]any{"seat_key": m.host}
	for name, value := range fields {
		body[name] = value
	}
	text, _ := json.Marshal(body)
	answer, err := http.Post(m.n.url+"/api/join/rooms/"+m.id+"/"+what, "application/json", bytes.NewReader(text))
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if said, _ := io.ReadAll(answer.Body); answer.StatusCode != status {
		m.t.Fatalf("%s: %d %s", what, answer.StatusCode, said)
	}
}
