package app

import (
	"net/http"
	"strings"
	"testing"

	"parley/internal/api/manage"
)

// Some databases print UUIDs in capital letters. They name the same objects in every path and query.
func TestIDs_InCapitals(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(10, 300)
	capitals, project := strings.ToUpper(id), strings.ToUpper(s.ProjectID)

	var room manage.Room
	s.getManagement("/rooms/"+capitals, &room)
	if room.RoomId != id {
		t.Errorf("the room: got %s, want %s", room.RoomId, id)
	}
	for _, query := range []string{"room_id=" + capitals, "project_id=" + project} {
		var rooms manage.RoomList
		if s.getManagement("/rooms?"+query, &rooms); len(rooms.Rooms) != 1 || rooms.Rooms[0].RoomId != id {
			t.Errorf("rooms with %s: got %v, want the room", query, rooms.Rooms)
		}
	}
	var projects manage.ProjectList
	if s.getManagement("/projects?project_ids="+project, &projects); len(projects.Projects) != 1 {
		t.Errorf("projects by their IDs: got %v, want the project", projects.Projects)
	}
	if status := s.postJSON("/api/join/rooms/"+capitals+"/preview", map[string]any{}, nil); status != http.StatusOK {
		t.Errorf("the preview of the room: got status %d, want 200", status)
	}
	if status, text := s.calendar(t, capitals); status != http.StatusOK || !strings.Contains(text, "UID:"+id+"@") {
		t.Errorf("the calendar file: got status %d and %s, want the UID of the room", status, text)
	}
}
