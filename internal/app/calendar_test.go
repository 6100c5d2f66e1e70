package app

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"

	"parley.example/client"
	"parley/internal/project"
)

// TestCalendar_FollowsRoom reads the calendar file of a room that is scheduled, moved and canceled.
func TestCalendar_FollowsRoom(t *testing.T) {
	s := startServer(t, nil)
	parley := s.client()
	start := time.Now().UTC().Add(48 * time.Hour).Truncate(time.Minute)
	const title = "Mathe, Klasse 7; Übung \\ Grüße – eine Überschrift, die länger als fünfundsiebzig Zeichen ist"
	scheduled, err := parley.CreateScheduledVideoRoom(t.Context(), client.ScheduledRoomRequest{
		StartAt:         client.LocalTime(start, time.UTC),
		MaxParticipants: 10,
		Metadata:        client.ScheduledRoomMetadata{Metadata: client.Metadata{RoomTitle: title}},
	})
	if err != nil {
		t.Fatal(err)
	}
	first := s.calendarEntry(t, scheduled.RoomID)
	first.check(t, "CONFIRMED", title, start, start.Add(time.Hour))

	moved := start.Add(time.Hour)
	s.waitASecond()
	if _, err := parley.RescheduleRoom(t.Context(), client.RescheduleRequest{RoomID: scheduled.RoomID,
		StartAt: client.LocalTime(moved, time.UTC)}); err != nil {
		t.Fatal(err)
	}
	second := s.calendarEntry(t, scheduled.RoomID)
	second.check(t, "CONFIRMED", title, moved, moved.Add(time.Hour))

	s.waitASecond()
	if err := parley.EndRoom(t.Context(), scheduled.RoomID); err != nil {
		t.Fatal(err)
	}
	third := s.calendarEntry(t, scheduled.RoomID)
	third.check(t, "CANCELLED", title, moved, moved.Add(time.Hour))

	if first.uid != second.uid || second.uid != third.uid || !strings.HasPrefix(first.uid, scheduled.RoomID+"@") {
		t.Errorf("UIDs: got %s, %s and %s, want one with the ID of the room", first.uid, second.uid, third.uid)
	}
	if first.sequence >= second.sequence || second.sequence >= third.sequence {
		t.Errorf("sequence numbers: got %s, %s and %s, want that they grow", first.sequence, second.sequence, third.sequence)
	}
	if again := s.calendarEntry(t, scheduled.RoomID); again != third {
		t.Errorf("the same file again: got %+v, want %+v", again, third)
	}
}

// TestCalendar_OnlyOfPublicRooms asks for calendar files of rooms whose title nobody may read.
func TestCalendar_OnlyOfPublicRooms(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(10, 300)
	s.calendarEntry(t, id) // of a quick room
	if err := s.app.projects.Configure(t.Context(), s.ProjectID, project.Settings{InvitationsRequired: true}); err != nil {
		t.Fatal(err)
	}
	for _, room := range []string{id, "0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f71", "x", "%00", "%ff", ""} {
		if status, body := s.calendar(t, room); status != http.StatusNotFound {
			t.Errorf("room %q: got status %d with %s, want 404", room, status, body)
		}
	}
}

func (s *server) calendar(t *testing.T, roomID string) (status int, body string) {
	t.Helper()
	response, err := http.Get(s.app.BaseURL() + "/r/" + roomID + "/calendar.ics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if kind := response.Header.Get("Content-Type"); response.StatusCode == http.StatusOK &&
		kind != "text/calendar; charset=utf-8" {
		t.Errorf("got the Content-Type %q, want text/calendar", kind)
	}
	return response.StatusCode, string(text)
}

// entry is what a calendar reads of an entry.
type entry struct {
	uid, status, title, sequence, url string
	start, end                        time.Time
}

func (e entry) check(t *testing.T, status, title string, start, end time.Time) {
	t.Helper()
	if e.status != status || e.title != title || !e.start.Equal(start) || !e.end.Equal(end) {
		t.Errorf("got the entry %+v, want %s %q from %s to %s", e, status, title, start, end)
	}
}

func (s *server) calendarEntry(t *testing.T, roomID string) entry {
	t.Helper()
	status, text := s.calendar(t, roomID)
	if status != http.StatusOK {
		t.Fatalf("calendar of %s: got status %d with %s, want 200", roomID, status, text)
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if len(line) > 75 {
			t.Errorf("got a line of %d bytes, want at most 75: %s", len(line), line)
		}
	}
	calendar, err := ics.ParseCalendar(strings.NewReader(text))
	if err != nil || len(calendar.Events()) != 1 {
		t.Fatalf("got %s, error %v, want one entry", text, err)
	}
	event := calendar.Events()[0]
	value := func(name ics.ComponentProperty) string {
		if property := event.GetProperty(name); property != nil {
			return property.Value
		}
		return ""
	}
	e := entry{
		uid:      event.Id(),
		status:   value(ics.ComponentPropertyStatus),
		title:    value(ics.ComponentPropertySummary),
		sequence: value(ics.ComponentPropertySequence),
		url:      value(ics.ComponentPropertyUrl),
	}
	if e.start, err = event.GetStartAt(); err != nil {
		t.Fatal(err)
	}
	if e.end, err = event.GetEndAt(); err != nil {
		t.Fatal(err)
	}
	if want := s.app.BaseURL() + "/r/" + roomID; e.url != want {
		t.Errorf("got the URL %s, want %s", e.url, want)
	}
	return e
}

// waitASecond returns when the clock shows another second, because sequence numbers count seconds.
func (s *server) waitASecond() {
	now := time.Now()
	time.Sleep(time.Until(now.Truncate(time.Second).Add(time.Second)))
}
