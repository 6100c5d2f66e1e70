package sdk

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// moveClock returns a function that moves the clock of an example in Python.
func (e *example) moveClock(t *testing.T) (move func(time.Duration)) {
	t.Helper()
	path, ahead := filepath.Join(e.dir, "app.py"), filepath.Join(t.TempDir(), "ahead")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	moved := fmt.Sprintf("datetime.fromtimestamp(datetime.now().timestamp() + float(Path(%q).read_text()))", ahead)
	writeFile(t, path, strings.ReplaceAll(string(text), "datetime.now()", moved))
	move = func(d time.Duration) { writeFile(t, ahead, fmt.Sprint(d.Seconds())) }
	move(0)
	return move
}

func checkTimetable(t *testing.T, e *example) {
	move := e.moveClock(t)
	now := time.Now()
	untilMonday := int((time.Monday - now.Weekday() + 7) % 7)
	// Before the first lesson of the next week, so that the test does not depend on the hour at which it runs.
	first := time.Date(now.Year(), now.Month(), now.Day()+untilMonday+7, 9, 0, 0, 0, time.Local)
	move(time.Until(first) - time.Hour)
	e.run(t)
	if page := e.get(t, "/"); strings.Contains(page, "/r/") {
		t.Errorf("before a person is chosen: got\n%s\nwant no links", page)
	}
	rooms := map[string][]string{}
	for person, want := range map[string]visitor{
		"t1": {Role: "host", Name: "Ms Okafor"},
		"p1": {Role: "guest", Name: "Ana"},
	} {
		page := e.get(t, "/?person="+person)
		for _, link := range e.links(t, page) {
			got := e.service.preview(t, link)
			rooms[person] = append(rooms[person], got.roomID)
			if got.Role != want.Role || got.Name != want.Name {
				t.Errorf("a link of %s: got %+v, want the %s %s", person, got, want.Role, want.Name)
			}
		}
		for _, address := range find(t, page, `href="([^"]+/calendar.ics)"`) {
			response, err := http.Get(address)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/calendar") {
				t.Errorf("%s: got the Content-Type %q, want a calendar", address, kind)
			}
		}
	}
	if len(rooms["t1"]) < 5 || !slices.Equal(rooms["t1"], rooms["p1"]) {
		t.Errorf("got the rooms %v, want the same rooms for a teacher and a pupil", rooms)
	}

	e.stop()
	e.run(t)
	if again := e.links(t, e.get(t, "/?person=p1")); len(again) != len(rooms["p1"]) {
		t.Errorf("after a restart: got %d links, want %d", len(again), len(rooms["p1"]))
	}
	times := map[string]bool{}
	for r, err := range e.parley.Rooms(t.Context(), "scheduled") {
		if err != nil {
			t.Fatal(err)
		}
		key := r.Title + r.StartAt.String()
		if times[key] && slices.Contains(rooms["p1"], r.RoomID) {
			t.Errorf("after a restart: got two rooms for %s", key)
		}
		times[key] = true
	}

	if got := find(t, e.get(t, "/?person=t1"), `datetime="([^"]+)"`)[0]; got != first.Format("2006-01-02T15:04:05-07:00") {
		t.Errorf("the first lesson starts at %s, want %s", got, first)
	}
	move(time.Until(first) + 30*time.Minute) // the first lesson is running
	e.stop()
	e.run(t)
	if page := e.get(t, "/?person=t1"); !strings.Contains(page, rooms["t1"][0]) {
		t.Errorf("after a restart during a lesson: got\n%s\nwant the room %s of the lesson", page, rooms["t1"][0])
	}
	move(time.Until(first) + 8*24*time.Hour)
	for _, link := range e.links(t, e.get(t, "/?person=t1")) {
		if v := e.service.preview(t, link); slices.Contains(rooms["t1"], v.roomID) || v.Link != "ok" {
			t.Errorf("after a week: got %+v, want a room of the next week", v)
		}
	}
}
