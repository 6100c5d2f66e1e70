package app

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley.example/client"
)

// filesWith returns the files in a directory that contain a text.
func filesWith(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			names = append(names, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// When the management API has erased a person, no file of the running server's data directory and
// no new backup has the name or the ID of the person.
func TestErase_RunningServer(t *testing.T) {
	const name, userID = "Zebedee Quillfeather", "customer-81723"
	s := startServer(t, nil)
	created, err := s.client().CreateScheduledVideoRoom(t.Context(), client.ScheduledRoomRequest{
		StartAt:         time.Now().UTC().Add(5 * time.Minute).Format("2006-01-02T15:04"), // hosts may open it now
		MaxParticipants: 5,
		EmptyTimeout:    300,
		Metadata:        client.ScheduledRoomMetadata{Metadata: client.Metadata{RoomTitle: "Standup"}},
		Name:            name,
		ExternalUserID:  userID,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(created.FinalLink, "#t=")
	if status := s.postJSON("/api/join/rooms/"+created.RoomID+"/seats", map[string]any{"name": name,
		"seat_key": hostKey, "link": token}, nil); status != http.StatusOK {
		t.Fatalf("take a seat: got status %d, want 200", status)
	}
	for _, text := range []string{name, userID} {
		if files := filesWith(t, s.cfg.DataDir, text); len(files) == 0 {
			t.Fatalf("before the erasure: got no file with %q, want one", text)
		}
	}
	// A person whose page may still connect is not erased.
	if status := s.send(http.MethodPost, "/api/manage/rooms/"+created.RoomID+"/end", "",
		"Authorization", "Bearer "+s.AdminToken); status != http.StatusOK {
		t.Fatalf("end the room: got status %d, want 200", status)
	}
	if status := s.send(http.MethodPost, "/api/manage/projects/"+s.ProjectID+"/person-erase", `{"user_id":"`+userID+`"}`,
		"Authorization", "Bearer "+s.AdminToken); status != http.StatusOK {
		t.Fatalf("erase the person: got status %d, want 200", status)
	}
	backup := filepath.Dir(s.backup())
	for _, text := range []string{name, userID} {
		if files := slices.Concat(filesWith(t, s.cfg.DataDir, text), filesWith(t, backup, text)); len(files) > 0 {
			t.Errorf("after the erasure: got %q in the files %v, want it in none", text, files)
		}
	}
	if files := filesWith(t, backup, created.RoomID); len(files) == 0 {
		t.Error("the room in the backup: got none, want it")
	}
}
