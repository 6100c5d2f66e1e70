package app

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/config"
	"parley/internal/key"
	"parley/internal/quickstart"
	"parley/internal/testkit"
)

// client is the Go client with the credentials of the quickstart file.
func (s *server) client() *client.Client {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.cfg.DataDir, quickstart.FileName))
	if err != nil {
		s.t.Fatal(err)
	}
	var credentials client.Credentials
	if err := json.Unmarshal(raw, &credentials); err != nil {
		s.t.Fatal(err)
	}
	c, err := client.New(s.BaseURL, credentials, client.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// TestClient_EveryRoute uses every route of the API with the Go client and the
// quickstart file, on the whole service.
func TestClient_EveryRoute(t *testing.T) {
	testkit.WithinOne(t, 24*time.Hour, time.Minute)
	s := startServer(t, func(c *config.Config) { c.SchedulingTimezone = "Europe/Berlin" })
	c := s.client()
	ctx := t.Context()
	about := client.Metadata{RoomTitle: "Planning", WelcomeMessage: "Good morning"}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	year, month, day := time.Now().In(berlin).Date()
	tomorrow := time.Date(year, month, day+1, 12, 0, 0, 0, berlin)

	quick, err := c.CreateQuickAudioRoom(ctx, client.QuickRoomRequest{Name: "Amina", MaxParticipants: 3,
		Metadata: about, IdempotencyKey: "once"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.CreateQuickAudioRoom(ctx, client.QuickRoomRequest{Name: "Amina", MaxParticipants: 3,
		Metadata: about, IdempotencyKey: "once"})
	if err != nil || again.RoomID != quick.RoomID || again.FinalLink != quick.FinalLink {
		t.Errorf("the same creation again: got %+v, %v, want %+v", again, err, quick)
	}
	for name, schedule := range map[string]func() (*client.ScheduledRoom, error){
		"v3 video": func() (*client.ScheduledRoom, error) {
			return c.CreateScheduledVideoRoomV3(ctx, client.ScheduledRoomV3Request{StartAt: tomorrow,
				MaxParticipants: 3, Metadata: about})
		},
		"v3 audio": func() (*client.ScheduledRoom, error) {
			return c.CreateScheduledAudioRoomV3(ctx, client.ScheduledRoomV3Request{StartAt: tomorrow,
				MaxParticipants: 3, Metadata: about})
		},
		"v4 video": func() (*client.ScheduledRoom, error) {
			return c.CreateScheduledVideoRoom(ctx,
				client.ScheduledRoomRequest{
					StartAt:         client.LocalTime(tomorrow, berlin),
					MaxParticipants: 3,
					Metadata: client.ScheduledRoomMetadata{
						Metadata: about},
					Name:           "Amina",
					ExternalUserID: "7",
					ClientRoomID:   "mine",
				})
		},
	} {
		room, err := schedule()
		if err != nil || !room.StartTime.Equal(tomorrow) {
			t.Errorf("%s: got %+v, %v, want a start at %s", name, room, err, tomorrow)
		}
	}
	if answer, err := c.SendJoinEvent(ctx, client.JoinEvent{RoomID: quick.RoomID, Name: "Ben"}); err != nil ||
		!answer.Joined {
		t.Errorf("join event: got %+v, %v, want joined", answer, err)
	}

	_, err = c.CreateQuickAudioRoom(ctx, client.QuickRoomRequest{Name: "Amina", MaxParticipants: 1001, Metadata: about})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 400 ||
		refused.Message != "max_participants must be between 1 and 1000, not 1001" {
		t.Errorf("1001 participants: got error %v, want status 400 and the range", err)
	}
	if update, err := c.UpdateProjectStatus(ctx, client.Inactive); err != nil || update.Status != client.Inactive {
		t.Errorf("deactivate the project: got %+v, %v, want status inactive", update, err)
	}
	if _, err := c.CreateQuickAudioRoom(ctx, client.QuickRoomRequest{Name: "Amina", MaxParticipants: 3,
		Metadata: about}); !client.IsForbidden(err) {
		t.Errorf("a room of an inactive project: got error %v, want forbidden", err)
	}
	if _, err := c.UpdateProjectStatus(ctx, client.Active); err != nil {
		t.Errorf("activate the project: got error %v, want none", err)
	}

	keys, err := c.Keys(ctx)
	if err != nil || keys.Current.Status != "active" || keys.Overlap != nil {
		t.Errorf("keys: got %+v, %v, want an active key and no overlap", keys, err)
	}
	if _, err := s.app.keys.RotateKey(ctx, s.ProjectID, key.Rotation{Overlap: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if keys, err = c.Keys(ctx); err != nil || keys.Overlap == nil || keys.Overlap.Status != "retiring" {
		t.Errorf("keys during a rotation, with the old pair: got %+v, %v, want a retiring key", keys, err)
	}
	if used, err := c.Usage(ctx); err != nil || used.Totals.RoomsCreated != 4 {
		t.Errorf("usage: got %+v, %v, want 4 rooms created", used, err)
	}
	if limits, err := c.Limits(ctx); err != nil || len(limits.Entitlements) != 3 {
		t.Errorf("limits: got %+v, %v, want 3 entitlements", limits, err)
	}
	testkit.Eventually(t, "the calls are listed", func() bool {
		list, err := c.Requests(ctx, client.RequestsQuery{Limit: 10})
		return err == nil && len(list.Items) >= 4
	})
	if err := s.app.keys.RevokeOverlap(ctx, s.ProjectID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Keys(ctx); !client.IsUnauthorized(err) {
		t.Errorf("the old pair after it was revoked: got error %v, want unauthorized", err)
	}
}
