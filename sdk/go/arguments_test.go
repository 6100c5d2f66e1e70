package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley.example/client"
)

// roomCalls are all calls that name a room, with the room that they name.
func roomCalls(ctx context.Context, c *client.Client) map[string]func(roomID string) error {
	return map[string]func(roomID string) error{
		"StartScheduledRoom": func(id string) error {
			_, err := c.StartScheduledRoom(ctx, client.StartRoomRequest{RoomID: id, Name: "Amina"})
			return err
		},
		"JoinRoom": func(id string) error {
			_, err := c.JoinRoom(ctx, client.JoinRoomRequest{RoomID: id, Person: client.Person{Name: "Bela"}})
			return err
		},
		"CreateInvitationLink": func(id string) error {
			_, err := c.CreateInvitationLink(ctx, client.InvitationRequest{RoomID: id, Role: client.Viewer})
			return err
		},
		"SimulateMeeting": func(id string) error {
			_, err := c.SimulateMeeting(ctx, client.SimulationRequest{RoomID: id})
			return err
		},
		"RescheduleRoom": func(id string) error {
			_, err := c.RescheduleRoom(ctx, client.RescheduleRequest{RoomID: id, StartAt: "2027-01-31T09:30"})
			return err
		},
		"EndRoom": func(id string) error { return c.EndRoom(ctx, id) },
		"RoomStatus": func(id string) error {
			_, _, err := c.RoomStatus(ctx, id)
			return err
		},
		"ActiveRoom": func(id string) error {
			_, err := c.ActiveRoom(ctx, id)
			return err
		},
		"Analytics": func(id string) error {
			_, err := c.Analytics(ctx, id)
			return err
		},
		"ExportAttendance": func(id string) error {
			_, err := c.ExportAttendance(ctx, id)
			return err
		},
		"RoomEvents": func(id string) error {
			for _, err := range c.RoomEvents(ctx, id, 0) {
				return err
			}
			return nil
		},
		"SendJoinEvent": func(id string) error {
			_, err := c.SendJoinEvent(ctx, client.JoinEvent{RoomID: id, Name: "Zoë"})
			return err
		},
		"SignJoinLink": func(id string) error {
			_, err := c.SignJoinLink(client.JoinLinkRequest{RoomID: id})
			return err
		},
	}
}

// wantInvalidArgument checks that a call fails with ErrInvalidArgument and the text.
func wantInvalidArgument(t *testing.T, name string, err error, text string) {
	t.Helper()
	if !errors.Is(err, client.ErrInvalidArgument) || err.Error() != "parley: invalid argument: "+text {
		t.Errorf("%s: got error %v, want ErrInvalidArgument with %q", name, err, text)
	}
}

func TestClient_UnusableRoomID(t *testing.T) {
	s := newServer()
	for name, call := range roomCalls(t.Context(), start(t, s, credentials, client.Options{})) {
		wantInvalidArgument(t, name, call(""), "RoomID must not be empty")
		wantInvalidArgument(t, name, call("\xff"), "RoomID must be UTF-8")
		if name == "RoomEvents" || name == "SendJoinEvent" || name == "SignJoinLink" { // the ID is in a path
			wantInvalidArgument(t, name, call("."), "RoomID must not be .")
			wantInvalidArgument(t, name, call(".."), "RoomID must not be ..")
		}
	}
	if n := len(s.requestsSeen()); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}

func TestClient_RoomIDStaysOneSegment(t *testing.T) {
	s := newServer()
	c := start(t, s, credentials, client.Options{})
	calls := roomCalls(t.Context(), c)
	for name, want := range map[string]string{
		"RoomEvents":    "/api/v4/rooms/..%2F%3F%23%25/events?after=0&limit=100",
		"SendJoinEvent": "/api/v4/webhook/get_room_events/..%2F%3F%23%25",
	} {
		if err := calls[name]("../?#%"); errors.Is(err, client.ErrInvalidArgument) {
			t.Errorf("%s: got error %v, want the answer of the server", name, err)
		}
		requests := s.requestsSeen()
		if target := requests[len(requests)-1].target; target != want {
			t.Errorf("%s: got the target %s, want %s", name, target, want)
		}
	}
	link, err := c.SignJoinLink(client.JoinLinkRequest{RoomID: "../?#%"})
	if err != nil || !strings.Contains(link, "/r/..%2F%3F%23%25#j=") {
		t.Errorf("SignJoinLink: got %s, error %v, want one segment", link, err)
	}
}

// TestClient_TextsThatAreNotUTF8 checks that no text is sent with other characters than it was given.
func TestClient_TextsThatAreNotUTF8(t *testing.T) {
	const bad = "Zo\xeb"
	ctx := t.Context()
	s := newServer()
	c := start(t, s, credentials, client.Options{})
	scheduled := scheduledRoom()
	scheduled.Metadata.RoomTitle = bad
	scheduledV3 := scheduledV3Room()
	scheduledV3.ClientRoomID = bad
	for _, test := range []struct {
		name, field string
		call        func() error
	}{
		{"a field", "Name", func() error {
			_, err := c.CreateQuickAudioRoom(ctx, client.QuickRoomRequest{Name: bad})
			return err
		}},
		{"an embedded struct", "Metadata.RoomTitle", func() error {
			_, err := c.CreateScheduledVideoRoom(ctx, scheduled)
			return err
		}},
		{"beside a time", "ClientRoomID", func() error {
			_, err := c.CreateScheduledVideoRoomV3(ctx, scheduledV3)
			return err
		}},
		{"a struct", "Person.ClientUserID", func() error {
			_, err := c.JoinRoom(ctx, client.JoinRoomRequest{RoomID: roomID, Person: client.Person{ClientUserID: bad}})
			return err
		}},
		{"a pointer", "Metadata.WelcomeMessage", func() error {
			_, err := c.RescheduleRoom(ctx, client.RescheduleRequest{RoomID: roomID,
				Metadata: &client.RescheduleMetadata{WelcomeMessage: bad}})
			return err
		}},
		{"a list of structs", "People[1].Name", func() error {
			_, err := c.SimulateMeeting(ctx, client.SimulationRequest{RoomID: roomID,
				People: []client.SimulatedPerson{{Name: "Amina"}, {Name: bad}}})
			return err
		}},
		{"a list", "RoomIDs[0]", func() error {
			_, err := c.PastRooms(ctx, client.PastRoomsRequest{RoomIDs: []string{bad}})
			return err
		}},
		{"a join event", "Name", func() error {
			_, err := c.SendJoinEvent(ctx, client.JoinEvent{RoomID: roomID, Name: bad})
			return err
		}},
		{"a join link", "UserID", func() error {
			_, err := c.SignJoinLink(client.JoinLinkRequest{RoomID: roomID, UserID: bad, ExpiresIn: time.Minute})
			return err
		}},
		{"a query", "state", func() error {
			for _, err := range c.Rooms(ctx, bad) {
				return err
			}
			return nil
		}},
	} {
		wantInvalidArgument(t, test.name, test.call(), test.field+" must be UTF-8")
	}
	if n := len(s.requestsSeen()); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}
