package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

const crashCount = 50

// acknowledged are the rooms and seats that the service has confirmed.
type acknowledged struct {
	mu    sync.Mutex
	rooms []string
	seats map[string]string // identity → room
}

// After a server was killed at a random moment under load and restarted, each participant
// that joined has left once, no room is stuck, and no acknowledged room or seat is missing.
func TestNode_KilledUnderLoad(t *testing.T) {
	t.Parallel()
	s := &service{master: seal.NewKey()}
	n := s.startNode(t)
	db := s.openDatabase(t, n.dir)
	known := &acknowledged{seats: map[string]string{}}
	for round := range crashCount {
		if round > 0 {
			n.start()
		}
		assertRoomEmpty(t, db)
		killed, kill := context.WithCancel(t.Context())
		var load sync.WaitGroup
		for worker := range 3 {
			load.Go(func() { generateLoad(killed, t, n, known, fmt.Sprintf("%d-%d", round, worker)) })
		}
		time.Sleep(rand.N(700 * time.Millisecond)) // the server is killed at a random moment
		n.Kill()
		kill()
		load.Wait()
	}
	n.start()
	assertRoomEmpty(t, db)
	known.assertPersisted(t, db)
}

// generateLoad creates rooms and joins and leaves them until the server is killed.
func generateLoad(ctx context.Context, t *testing.T, n *node, known *acknowledged, name string) {
	var participants []*mediatest.Participant
	defer func() {
		for _, p := range participants {
			p.Abort()
		}
	}()
	for i := 0; ctx.Err() == nil; i++ {
		id, _, err := n.createRoom(3, 1)
		if err != nil {
			assertKilled(ctx, t, n, err)
			return
		}
		known.addRoom(id)
		for j := range 2 {
			s, p, err := n.join(ctx, id, fmt.Sprintf("seat-key-of-a-browser-%s-%d-%d", name, i, j))
			if s.Status == http.StatusOK {
				known.addSeat(s.Identity, id)
			}
			if err != nil {
				assertKilled(ctx, t, n, err)
				return
			}
			participants = append(participants, p)
		}
		participants[len(participants)-1].Leave()
	}
}

// assertKilled checks that a request failed because the server was killed.
func assertKilled(ctx context.Context, t *testing.T, n *node, err error) {
	var refused *client.Error
	if errors.As(err, &refused) {
		t.Errorf("request to a killed server: got the response %v, want a broken connection\n%s", err, n.Log)
	}
	select {
	case <-ctx.Done():
	case <-time.After(testkit.Timeout):
		t.Errorf("request with error %v: got a server that still runs after %s, want it killed\n%s", err, testkit.Timeout, n.Log)
	}
}

func (a *acknowledged) addRoom(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rooms = append(a.rooms, id)
}

func (a *acknowledged) addSeat(identity, roomID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seats[identity] = roomID
}

// assertRoomEmpty checks that after a start of the server no participant is present in
// any room.
func assertRoomEmpty(t *testing.T, db *store.DB) {
	t.Helper()
	for _, state := range []room.State{room.Open, room.Active} {
		rooms, err := db.List(t.Context(), room.ListQuery{State: state, Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rooms {
			if present, err := db.CurrentAttendance(t.Context(), r.ID); err != nil || len(present) > 0 {
				t.Errorf("room %s after a restart: got participants %+v, %v, want none", r.ID, present, err)
			}
		}
	}
}

func (a *acknowledged) assertPersisted(t *testing.T, db *store.DB) {
	t.Helper()
	t.Logf("%d rooms and %d seats in %d runs", len(a.rooms), len(a.seats), crashCount)
	if len(a.rooms) < crashCount || len(a.seats) < crashCount {
		t.Errorf("got %d rooms and %d seats, want at least %d of each", len(a.rooms), len(a.seats), crashCount)
	}
	ctx := t.Context()
	for identity, roomID := range a.seats {
		// Seats without a connection are deleted soon. A seat with attendance cannot be
		// missing, because attendance refers to it.
		if _, err := db.Seat(ctx, roomID, identity); err != nil && !fault.Is(err, fault.NotFound) {
			t.Errorf("read seat %s of room %s: got error %v, want none or NotFound", identity, roomID, err)
		}
	}
	joins := 0
	for _, id := range a.rooms {
		r, err := db.Room(ctx, id)
		if err != nil {
			t.Errorf("read the acknowledged room %s: got error %v, want none", id, err)
			continue
		}
		if !r.Over() && (r.DueAt.IsZero() || time.Until(r.DueAt) > 24*time.Hour) {
			t.Errorf("room %s: got %+v, want it over or due within 24 hours", id, r)
		}
		joins += assertAttendance(t, db, id)
	}
	if joins == 0 {
		t.Error("joins: got none, want at least one")
	}
	t.Logf("%d joins, each with a leave", joins)
	// All rooms end by themselves after the reservations of the lost participants have
	// expired.
	testkit.EventuallyWithin(t, 75*time.Second, "every active room ends", func() bool {
		active, err := db.List(ctx, room.ListQuery{State: room.Active, Limit: 10})
		return err == nil && len(active) == 0
	})
	for _, state := range []room.SessionState{room.SessionLive, room.SessionClosing} {
		testkit.Eventually(t, "no session is "+string(state), func() bool {
			sessions, err := db.Sessions(ctx, state)
			return err == nil && len(sessions) == 0
		})
	}
}

// assertAttendance checks that the attendance of a room matches its events, and returns the
// number of joins.
func assertAttendance(t *testing.T, db *store.DB, id string) int {
	t.Helper()
	rows, err := storetest.Attendance(t.Context(), db, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.LeftAt.IsZero() || row.LeftAt.Before(row.JoinedAt) {
			t.Errorf("room %s: got attendance %+v, want an end that is not before the join", id, row)
		}
	}
	events, err := storetest.Events(t.Context(), db, id)
	if err != nil {
		t.Fatal(err)
	}
	in, joined := map[string]bool{}, 0
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			t.Errorf("room %s: event %d: got sequence %d, want %d", id, i+1, e.Sequence, i+1)
		}
		switch e.Type {
		case event.ParticipantJoined:
			if in[e.Data.Participant.Connection] {
				t.Errorf("room %s: got a second join of %+v, want a leave before it", id, e.Data.Participant)
			}
			in[e.Data.Participant.Connection] = true
			joined++
		case event.ParticipantLeft:
			if !in[e.Data.Participant.Connection] {
				t.Errorf("room %s: got a leave of %+v, want a join before it", id, e.Data.Participant)
			}
			delete(in, e.Data.Participant.Connection)
		}
	}
	if len(in) > 0 || joined != len(rows) {
		t.Errorf("room %s: got %d joins, %d without a leave, %d attendance rows, want one row and one leave for each join",
			id, joined, len(in), len(rows))
	}
	return joined
}
