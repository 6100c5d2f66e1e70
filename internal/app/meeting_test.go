package app

import (
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley.example/client"
	"parley/internal/api/manage"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// TestMeeting_RunByBackend runs a meeting with real participants on the whole
// service: the attendance that a backend reads is equal to the usage that is
// billed.
func TestMeeting_RunByBackend(t *testing.T) {
	testkit.WithinOne(t, 24*time.Hour, time.Minute)
	s := startServer(t, nil)
	c := s.client()
	ctx := t.Context()
	later := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04")
	scheduled, err := c.CreateScheduledVideoRoom(ctx, client.ScheduledRoomRequest{StartAt: later, MaxParticipants: 3,
		Metadata: client.ScheduledRoomMetadata{Metadata: client.Metadata{RoomTitle: "Standup"}}})
	if err != nil {
		t.Fatal(err)
	}
	id := scheduled.RoomID
	opened, err := c.StartScheduledRoom(ctx, client.StartRoomRequest{RoomID: id, Name: "Amina"})
	if err != nil {
		t.Fatal(err)
	}
	personal, err := c.JoinRoom(ctx, client.JoinRoomRequest{RoomID: id,
		Person: client.Person{Name: "Bela", ClientUserID: "4712"}})
	if err != nil {
		t.Fatal(err)
	}
	enter := func(name, link, seatKey string) *mediatest.Participant {
		t.Helper()
		_, token, _ := strings.Cut(link, "#t=")
		a, err := s.app.rooms.ReserveSeat(ctx, id, room.JoinRequest{LinkToken: token, SeatKey: seatKey, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		p, err := mediatest.Join(ctx, s.BaseURL, a.Token)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Leave)
		return p
	}
	enter("Amina", opened.FinalLink, hostKey)
	bela := enter("Bela", personal, guestKey)
	testkit.Eventually(t, "both participants are present", func() bool {
		active, err := c.ActiveRoom(ctx, id)
		return err == nil && active.Info.JoinedParticipants == 2 && active.Participants[1].Identity == "4712" &&
			active.Participants[0].Metadata.IsAdmin && active.Participants[1].SID == bela.SID()
	})
	bela.Leave()
	testkit.Eventually(t, "one participant has left", func() bool {
		active, err := c.ActiveRoom(ctx, id)
		return err == nil && active.Info.JoinedParticipants == 1
	})
	if err := c.EndRoom(ctx, id); err != nil {
		t.Fatal(err)
	}
	found, err := c.Analytics(ctx, id)
	if err != nil || len(found.Durations) != 2 || found.Durations["4712"] <= 0 {
		t.Fatalf("analytics: got %+v, %v, want the durations of two participants", found, err)
	}
	used, err := c.Usage(ctx)
	if sum := math.Round(found.TotalDuration/60*100) / 100; err != nil ||
		math.Abs(used.Totals.ParticipantMinutes-sum) > 0.001 {
		t.Errorf("usage: got %v participant minutes, %v, want %v as in the analytics",
			used.Totals.ParticipantMinutes, err, sum)
	}
	csv, err := c.ExportAttendance(ctx, id)
	if lines := strings.Count(string(csv), "\r\n"); err != nil || lines != 3 {
		t.Errorf("attendance: got %d lines, %v, want a header and 2 rows:\n%s", lines, err, csv)
	}
	var people, together manage.RoomPeople
	s.getManagement("/rooms/"+id+"/people", &people)
	if len(people.People) != 2 || people.People[0].Name != "Amina" || people.People[1].UserId != "4712" ||
		people.People[1].LeftAt == nil {
		t.Fatalf("people: got %+v, want Amina, and Bela who has left since", people.People)
	}
	s.getManagement("/rooms/"+id+"/people?at="+url.QueryEscape(people.People[1].JoinedAt), &together)
	if diff := cmp.Diff(people, together); diff != "" {
		t.Errorf("people when Bela had joined differ from all (-want +got):\n%s", diff)
	}
	s.getManagement("/rooms/"+id+"/people?at="+url.QueryEscape(*people.People[1].LeftAt), &together)
	if len(together.People) != 1 || together.People[0].Name != "Amina" {
		t.Errorf("people when Bela had left: got %+v, want Amina alone", together.People)
	}
	var timeline manage.RoomTimeline
	s.getManagement("/rooms/"+id+"/timeline?limit=100", &timeline)
	var kinds []string
	for _, e := range timeline.Events {
		kinds = append(kinds, e.Kind+" "+e.Name)
	}
	want := []string{"room.scheduled ", "room.opened ", "room.started ", "participant.joined Amina",
		"participant.joined Bela", "participant.left Bela", "participant.left Amina", "room.ended "}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("the timeline differs (-want +got):\n%s", diff)
	}
	past, err := c.PastRooms(ctx, client.PastRoomsRequest{})
	if err != nil || past.Total != 1 || past.Rooms[0].JoinedParticipants != 2 {
		t.Errorf("past rooms: got %+v, %v, want one room with two participants", past, err)
	}
}
