package sdk

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/testkit"
)

func checkReception(t *testing.T, e *example) {
	run(t, e.dir, e.environment, "go", "vet", ".")
	// The program runs before the room exists: Parley would send an event that it missed again only after a while.
	e.run(t)
	e.get(t, "/")
	created, err := e.parley.CreateQuickAudioRoom(t.Context(), client.QuickRoomRequest{Name: "Ada", MaxParticipants: 10,
		EmptyTimeout: 300, Metadata: client.Metadata{RoomTitle: "Standup <b>"}})
	if err != nil {
		t.Fatal(err)
	}
	ada := e.join(t, created.FinalLink, "Ada")
	shown := e.readStream(t)
	e.awaitPeople(t, shown, created.RoomID, "Ada")
	late := e.onPort(testkit.FreeTCPPort(t)) // gets no webhooks
	late.run(t)
	late.awaitPeople(t, late.readStream(t), created.RoomID, "Ada")
	late.stop()

	guest, _, _ := strings.Cut(created.FinalLink, "#")
	link, err := e.parley.JoinRoom(t.Context(), client.JoinRoomRequest{RoomID: created.RoomID,
		Person: client.Person{Name: unsafeName}})
	if err != nil {
		t.Fatal(err)
	}
	e.join(t, link, unsafeName)
	for _, r := range e.awaitPeople(t, shown, created.RoomID, "Ada", unsafeName) {
		if r.Title == "Standup <b>" && r.Address != guest {
			t.Errorf("got the room %+v, want the address %s", r, guest)
		}
	}
	ada.Leave()
	e.awaitPeople(t, shown, created.RoomID, unsafeName)
	if err := e.parley.EndRoom(t.Context(), created.RoomID); err != nil {
		t.Fatal(err)
	}
	e.awaitPeople(t, shown, created.RoomID)

	genuine := e.newWebhook(t)
	if status := sendWebhook(e.url+"/webhooks", genuine); status != http.StatusNoContent {
		t.Errorf("a webhook: got status %d, want 204", status)
	}
	changed := webhook{genuine.headers, genuine.body + " "}
	if status := sendWebhook(e.url+"/webhooks", changed); status != http.StatusUnauthorized {
		t.Errorf("a changed webhook: got status %d, want 401", status)
	}
}

// shownRoom is a room in the list of the reception.
type shownRoom struct {
	Address, Title string
	People         []string
}

// readStream returns the lists that the reception gets as server-sent events.
func (e *example) readStream(t *testing.T) <-chan map[string]shownRoom {
	t.Helper()
	response, err := http.Get(e.url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	lists := make(chan map[string]shownRoom, 100)
	go func() {
		defer close(lists)
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			data, isData := strings.CutPrefix(lines.Text(), "data: ")
			var list map[string]shownRoom
			if isData && json.Unmarshal([]byte(data), &list) == nil {
				lists <- list
			}
		}
	}()
	return lists
}

// awaitPeople waits until the reception sees these people in a room, and returns the list.
func (e *example) awaitPeople(t *testing.T, lists <-chan map[string]shownRoom, id string, want ...string,
) map[string]shownRoom {
	t.Helper()
	timeout := time.After(testkit.Timeout)
	for last := map[string]shownRoom{}; ; {
		select {
		case list, isOpen := <-lists:
			if !isOpen {
				t.Fatalf("the stream ended, the last list is %v, want %v in %s", last, want, id)
			}
			last = list
			if people := slices.Sorted(slices.Values(list[id].People)); slices.Equal(people, want) {
				return list
			}
		case <-timeout:
			t.Fatalf("got the list %v, want %v in %s", last, want, id)
		}
	}
}
