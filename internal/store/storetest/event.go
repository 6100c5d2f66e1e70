package storetest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/webhook"
)

// DeliveredEvents skips AttendanceMarked events, and RoomEvents does not. Previous is
// correct also for the first event of a page.
func (s *suite) testDeliveredEvents(t *testing.T) {
	ctx := patient()
	r, other := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	var want []webhook.DeliveredEvent
	var all []event.Event
	previous := int64(0)
	const mark = event.AttendanceMarked
	for i, kind := range []event.Type{mark, event.RoomOpened, mark, mark, event.RoomStarted, event.RoomEnded, mark} {
		e := event.Event{
			ID:        NewID(),
			Type:      kind,
			ProjectID: s.project.ID,
			RoomID:    r.ID,
			Sequence:  int64(i + 1),
			At:        testTime(i),
			Data:      event.Data{RoomID: r.ID, RoomType: "video"},
		}
		all = append(all, e)
		if kind != mark {
			want = append(want, webhook.DeliveredEvent{Event: e, Previous: previous})
			previous = e.Sequence
		}
		elsewhere := e
		elsewhere.ID, elsewhere.RoomID = NewID(), other.ID
		s.write(t, func(ctx context.Context) error { return s.db.AppendEvents(ctx, []event.Event{e, elsewhere}) })
	}
	for _, c := range []struct {
		after int64
		limit int
		want  []webhook.DeliveredEvent
	}{
		{0, 10, want}, {0, 1, want[:1]}, {1, 2, want[:2]}, {2, 2, want[1:]}, {3, 1, want[1:2]}, {4, 2, want[1:]},
		{5, 10, want[2:]}, {6, 10, nil}, {7, 10, nil}, {1 << 52, 10, nil},
	} {
		got, err := s.db.DeliveredEvents(ctx, r.ID, c.after, c.limit)
		requireEqual(t, got, err, c.want)
	}
	got, err := s.db.DeliveredEvents(ctx, NewID(), 0, 10)
	requireEqual(t, got, err, nil)
	last, err := s.db.LastEventTime(ctx, r.ID)
	requireEqual(t, last, err, all[len(all)-1].At)
	last, err = s.db.LastEventTime(ctx, NewID())
	requireEqual(t, last, err, time.Time{})

	for i := range 3 {
		e := event.Event{
			ID:        NewID(),
			Type:      event.ParticipantReported,
			ProjectID: s.project.ID,
			RoomID:    other.ID,
			Sequence:  int64(8 + i),
			At:        testTime(i),
			Data: event.Data{RoomID: other.ID, Mark: &event.AttendanceMark{
				Name: trickyTexts[i], Source: event.SourceExternal}},
		}
		s.write(t, func(ctx context.Context) error { return s.db.AppendEvents(ctx, []event.Event{e}) })
	}
	reported, err := s.db.ReportedAttendance(ctx, other.ID, 6)
	if len(reported) == 6 {
		reported = reported[4:] // after those of earlier commits
	}
	requireEqual(t, reported, err, []room.ReportedAttendee{{Name: trickyTexts[0], At: testTime(0), Source: "external"},
		{Name: trickyTexts[1], At: testTime(1), Source: "external"}})

	events, err := s.db.RoomEvents(ctx, r.ID, 0, 10)
	requireEqual(t, events, err, all)
	events, err = s.db.RoomEvents(ctx, r.ID, 2, 3)
	requireEqual(t, events, err, all[2:5])
}

// testEventData checks that all data of events is read as it was stored, also from rows of an
// earlier release, although the rows do not repeat the IDs of the project and of the room.
func (s *suite) testEventData(t *testing.T) {
	ctx := patient()
	const clientRoomID = "client-room-7"
	start := testTime(900)
	r := s.insertRoom(t, Room(s.project.ID))
	person := func(joined int) *event.Participant {
		return &event.Participant{
			Identity:   NewID(),
			Name:       trickyTexts[0],
			Role:       "cohost",
			Session:    room.SessionID(r.ID, 2),
			Connection: "PA_1",
			JoinedAt:   testTime(joined),
		}
	}
	left := person(1)
	left.Reason = "left"
	usual, without := person(3), person(4)
	usual.Role, usual.Session = string(room.Guest), room.SessionID(r.ID, 1)
	without.Role, without.Session = "", ""
	all := []event.Data{
		{RoomType: "audio"},
		{RoomType: "video", ClientRoomID: clientRoomID, StartAt: &start},
		{RoomType: "video", SessionID: room.SessionID(r.ID, 11), Participant: person(2)},
		{RoomType: "video", Participant: left},
		{RoomType: "video", SessionID: "another", EndReason: "empty"},
		{RoomType: "video", Mark: &event.AttendanceMark{Name: trickyTexts[1], Source: event.SourceExternal}},
		{RoomType: "video", FailedJoin: &event.FailedJoin{Name: trickyTexts[2], Code: "room_full"}},
		{RoomType: "video", Feedback: &event.Feedback{Identity: NewID(), Name: "Ada", Role: "guest", Rating: "good"}},
		{RoomType: "video", Participant: usual},
		{RoomType: "video", Participant: without},
	}
	var want []event.Event
	for i, data := range all {
		data.RoomID = r.ID
		want = append(want, event.Event{
			ID:        NewID(),
			Type:      event.ParticipantJoined,
			ProjectID: s.project.ID,
			RoomID:    r.ID,
			Sequence:  int64(i + 1),
			At:        testTime(i),
			Data:      data,
		})
	}
	s.write(t, func(ctx context.Context) error { return s.db.AppendEvents(ctx, want) })
	var stored []string
	q := `SELECT project_id || data FROM events WHERE room_id = $1`
	err := s.db.Query(ctx, q, []any{r.ID}, func(row db.Row) error {
		var text string
		err := row.Scan(&text)
		stored = append(stored, text)
		return err
	})
	if err != nil || len(stored) != len(all) {
		t.Fatalf("got %d rows, %v, want %d", len(stored), err, len(all))
	}
	for _, text := range stored {
		if strings.Contains(text, r.ID) || strings.Contains(text, s.project.ID) {
			t.Errorf("stored: got %s, want neither the room %s nor the project %s", text, r.ID, s.project.ID)
		}
	}

	earlier := want[2]
	earlier.ID, earlier.Sequence = NewID(), int64(len(all)+1)
	data, err := json.Marshal(earlier.Data)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, func(ctx context.Context) error {
		return s.db.Exec(ctx, `INSERT INTO events (id, project_id, room_id, sequence, type, at, data)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, earlier.ID, earlier.ProjectID, earlier.RoomID, earlier.Sequence,
			string(earlier.Type), earlier.At.UnixMilli(), string(data))
	})
	want = append(want, earlier)
	got, err := s.db.RoomEvents(ctx, r.ID, 0, 100)
	requireEqual(t, got, err, want)
	delivered, err := s.db.DeliveredEvents(ctx, r.ID, int64(len(all)), 1)
	requireEqual(t, delivered, err, []webhook.DeliveredEvent{{Event: earlier, Previous: int64(len(all))}})
}

func (s *suite) testProjectEvents(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p := Project(t, db)
	n, err := db.ProjectSequence(ctx, p.ID)
	requireEqual(t, n, err, 0)
	yes, ends := true, testTime(60)
	want := []event.ProjectEvent{
		{
			ID: NewID(), Type: event.ProjectStatusChanged, ProjectID: p.ID, Sequence: 1, At: testTime(1),
			Data: event.ProjectData{Status: "active", Suspended: &yes},
		},
		{
			ID: NewID(), Type: event.KeyRotated, ProjectID: p.ID, Sequence: 2, At: testTime(2),
			Data: event.ProjectData{Credential: event.CredentialKey, OverlapEndsAt: &ends},
		},
	}
	for _, e := range want {
		if err := db.Write(ctx, func(ctx context.Context) error { return db.AppendProjectEvent(ctx, e) }); err != nil {
			t.Fatal(err)
		}
	}
	n, err = db.ProjectSequence(ctx, p.ID)
	requireEqual(t, n, err, 2)
	got, err := ProjectEvents(ctx, db, p.ID)
	requireEqual(t, got, err, want)
	again := want[0]
	again.ID = NewID()
	err = db.Write(ctx, func(ctx context.Context) error { return db.AppendProjectEvent(ctx, again) })
	requireConstraintError(t, err)
}
