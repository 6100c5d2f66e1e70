package app

import (
	"errors"
	"slices"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/event"
	"parley/internal/project"
	"parley/internal/testkit"
)

// testProjectClient creates a test project in the organization of the quickstart file and returns a
// client with its keys.
func (s *server) testProjectClient() *client.Client {
	s.t.Helper()
	p, issued, err := s.app.keys.CreateProject(s.t.Context(),
		project.Draft{OrganizationID: s.OrganizationID, Name: "Tests", Test: true})
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := client.New(s.BaseURL, client.Credentials{ProjectID: p.ID, APIKey: issued.APIKey.Reveal(),
		GatewaySecret: issued.GatewaySecret.Reveal(), ProjectSecret: issued.ProjectSecret.Reveal()}, client.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// TestTestProject_SimulatedMeeting holds a simulated meeting on the whole service: its attendance
// and its usage are those of a meeting, but its organization has not used anything.
func TestTestProject_SimulatedMeeting(t *testing.T) {
	testkit.WithinOne(t, 24*time.Hour, time.Minute)
	s := startServer(t, nil)
	ctx := t.Context()
	c := s.testProjectClient()
	made, err := c.CreateQuickAudioRoom(ctx, client.QuickRoomRequest{Name: "Amina", MaxParticipants: 5, EmptyTimeout: 300,
		Metadata: client.Metadata{RoomTitle: "Standup"}})
	if err != nil {
		t.Fatal(err)
	}
	var preview struct{ Test bool }
	s.postJSON("/api/join/rooms/"+made.RoomID+"/preview", map[string]any{}, &preview)
	if !preview.Test {
		t.Error("the preview of a room of a test project: got no test, want it")
	}
	request := client.SimulationRequest{RoomID: made.RoomID, Seconds: 2, People: []client.SimulatedPerson{
		{Name: "Amina", UserID: "4711", IsAdmin: true}, {Name: "Bela", UserID: "4712"}, {Name: "Chen", UserID: "4713"}},
		IdempotencyKey: "once"}
	for range 2 {
		if begun, err := c.SimulateMeeting(ctx, request); err != nil || begun.People != 3 || begun.Seconds != 2 {
			t.Fatalf("got %+v, error %v, want a meeting of three people in two seconds, also when the call is repeated", begun, err)
		}
	}
	testkit.Eventually(t, "somebody is in the room", func() bool {
		active, err := c.ActiveRoom(ctx, made.RoomID)
		return err == nil && active.Info.JoinedParticipants > 0
	})
	var types []event.Type
	testkit.Eventually(t, "the room ends", func() bool {
		types = nil
		for e, err := range c.RoomEvents(ctx, made.RoomID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			types = append(types, event.Type(e.Type))
		}
		return types[len(types)-1] == event.RoomEnded
	})
	want := []event.Type{event.RoomOpened, event.RoomStarted, event.ParticipantJoined, event.ParticipantJoined,
		event.ParticipantJoined, event.ParticipantLeft, event.ParticipantLeft, event.ParticipantLeft, event.RoomEnded}
	if !slices.Equal(types, want) {
		t.Errorf("the events of one meeting: got %v, want %v", types, want)
	}
	found, err := c.Analytics(ctx, made.RoomID)
	if err != nil || len(found.Durations) != 3 || found.Durations["4711"] <= found.Durations["4713"] {
		t.Errorf("analytics: got %+v, error %v, want three people, of whom the first stayed longest", found, err)
	}
	used, err := c.Usage(ctx)
	if err != nil || !used.Test || used.Totals.RoomsCreated != 1 || used.Totals.PeakConcurrentParticipants != 3 ||
		used.Totals.AudioParticipantMinutes <= 0 {
		t.Errorf("usage with a key of the test project: got %+v, error %v, want that of one meeting of three people", used, err)
	}
	ofOthers, err := s.client().Usage(ctx)
	if err != nil || ofOthers.Test || ofOthers.Totals != (client.UsageTotals{}) {
		t.Errorf("usage with a key of another project: got %+v, error %v, want none", ofOthers, err)
	}
	id, _ := s.createRoom(5, 300)
	var refused *client.Error
	if _, err := s.client().SimulateMeeting(ctx, client.SimulationRequest{RoomID: id}); !errors.As(err, &refused) ||
		!errors.Is(err, client.ErrForbidden) || refused.Message != "this is no test project: use the keys of one, which the operator creates" {
		t.Errorf("in another project: got %v, want that it is no test project", err)
	}
}
