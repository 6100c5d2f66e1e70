package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley.example/client"
	"parley/test/bench/measure"
)

// growthOperation is an operation that should cost the same with any number of past meetings.
type growthOperation struct {
	name   string
	writes bool
	// request returns the function that appends a request to an installation.
	request requestMaker
}

// growthOperations are the measured operations. The joins are last, because their seats
// expire during the operations after them.
var growthOperations = []growthOperation{
	{"v5 usage", false, signedGet("/api/v5/usage")},
	{"v5 keys", false, signedGet("/api/v5/keys")},
	{"v5 limits", false, signedGet("/api/v5/limits")},
	{"v5 requests", false, signedGet("/api/v5/requests?limit=5")},
	{"fetch_past_rooms, first", false, pastRooms(func(int) int { return 0 })},
	{"fetch_past_rooms, middle", false, pastRooms(func(meetings int) int { return meetings / 2 })},
	{"fetch_past_rooms, last", false, pastRooms(func(meetings int) int { return meetings - 20 })},
	{"list_rooms", false, signedGet("/api/v4/rooms/list_rooms?limit=20")},
	{"list_rooms, middle", false, signedGetOfRoom("/api/v4/rooms/list_rooms?limit=20&cursor=%s")},
	{"active rooms", false, signedGet("/api/v4/rooms/get_active_rooms_info")},
	{"events of a room", false, signedGetOfRoom("/api/v4/rooms/%s/events")},
	{"analytics of a room", false, signedGetOfRoom("/api/v4/analytics/get_analytics?room_id=%s")},
	{"manage: rooms", false, managementGet("/api/manage/rooms?limit=20")},
	{"manage: organizations", false, managementGet("/api/manage/organizations?limit=3")},
	{"manage: projects", false, managementGet("/api/manage/projects?limit=20")},
	{"manage: webhooks", false, managementGet("/api/manage/webhooks?limit=20")},
	{"manage: webhooks of a project", false, managementGet("/api/manage/webhooks?limit=20&project_id={project}")},
	// With 1,000 meetings there are three.
	{"manage: failed webhooks", false, managementGet("/api/manage/webhooks?limit=2&state=failed")},
	{"manage: tokens", false, managementGet("/api/manage/tokens")},
	{"manage: calls", false, managementGet("/api/manage/calls?limit=20&project_id={project}")},
	{"manage: rejected calls", false, managementGet("/api/manage/rejected-calls?limit=20")},
	{"manage: audit log", false, managementGet("/api/manage/audit?limit=20")},
	{"manage: usage by day", false, managementGet("/api/manage/usage?organization_id={organization}&by=day")},
	{"manage: overview", false, managementGet("/api/manage/overview")},
	{"manage: timeline of a room", false, managementGet("/api/manage/rooms/{room}/timeline?limit=100")},
	{"manage: people of a room", false, managementGet("/api/manage/rooms/{room}/people?limit=50")},
	{"room creation, processor time", true,
		func(_ context.Context, i *installation) (func([]byte, uint64) []byte, error) {
			return createRoom(i.serverInfo), nil
		}},
	{"join, processor time", true, reserveSeats},
}

func (o growthOperation) connections() int {
	if o.writes {
		return growthWriters
	}
	return 1
}

func (o growthOperation) slice() time.Duration {
	if o.writes {
		return growthWriteSlice
	}
	return growthReadSlice
}

// cost returns the median time of a read. Writes wait for the disk, whose speed varies, so
// their cost is the processor time of server and database.
func (o growthOperation) cost(s measure.Slice) time.Duration {
	if o.writes {
		return s.CPUPerRequest()
	}
	return s.P50
}

type requestMaker func(ctx context.Context, i *installation) (func([]byte, uint64) []byte, error)

func signedGet(target string) requestMaker {
	return func(_ context.Context, i *installation) (func([]byte, uint64) []byte, error) {
		return signedRequest(i.serverInfo, "GET", target, nil), nil
	}
}

// signedGetOfRoom is signedGet for a target with the id of the room in the middle of the past.
func signedGetOfRoom(format string) requestMaker {
	return func(ctx context.Context, i *installation) (func([]byte, uint64) []byte, error) {
		room, err := i.middleRoom(ctx)
		if err != nil {
			return nil, err
		}
		return signedRequest(i.serverInfo, "GET", fmt.Sprintf(format, room), nil), nil
	}
}

// middleRoom returns the id of the room in the middle of the past.
func (i *installation) middleRoom(ctx context.Context) (string, error) {
	c, err := i.client()
	if err != nil {
		return "", err
	}
	past, err := c.PastRooms(ctx, client.PastRoomsRequest{From: i.meetings / 2, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(past.Rooms) != 1 {
		return "", fmt.Errorf("got %d past rooms, want 1", len(past.Rooms))
	}
	return past.Rooms[0].RoomID, nil
}

func pastRooms(from func(meetings int) int) requestMaker {
	return func(_ context.Context, i *installation) (func([]byte, uint64) []byte, error) {
		body := fmt.Appendf(nil, `{"from":%d,"limit":20}`, from(i.meetings))
		return signedRequest(i.serverInfo, "POST", "/api/v4/rooms/fetch_past_rooms", body), nil
	}
}

// managementGet is signedGet for the management API. In the target, {organization} and {project} are
// those of the installation, and {room} is the room in the middle of the past.
func managementGet(target string) requestMaker {
	return func(ctx context.Context, i *installation) (func([]byte, uint64) []byte, error) {
		target := strings.NewReplacer("{organization}", i.OrganizationID, "{project}", i.ProjectID).Replace(target)
		if strings.Contains(target, "{room}") {
			room, err := i.middleRoom(ctx)
			if err != nil {
				return nil, err
			}
			target = strings.ReplaceAll(target, "{room}", room)
		}
		request := "GET " + target + " HTTP/1.1\r\nHost: " + i.Address + "\r\nAuthorization: Bearer " + i.AdminToken +
			"\r\n\r\n"
		return func(to []byte, _ uint64) []byte { return append(to, request...) }, nil
	}
}

// reserveSeats takes a new seat with each request, in rooms of their own.
func reserveSeats(ctx context.Context, i *installation) (func([]byte, uint64) []byte, error) {
	const rooms = 50
	c, err := i.client()
	if err != nil {
		return nil, err
	}
	var ids []string
	for range rooms {
		r, err := c.CreateQuickVideoRoom(ctx, client.QuickRoomRequest{Name: "Amina", MaxParticipants: 1000,
			EmptyTimeout: 300, Metadata: client.Metadata{RoomTitle: "Standup", WelcomeMessage: "Welcome"}})
		if err != nil {
			return nil, err
		}
		ids = append(ids, r.RoomID)
	}
	return func(to []byte, n uint64) []byte {
		body := fmt.Appendf(nil, `{"name":"Guest","seat_key":"seat-key-of-browser-%09d"}`, n)
		to = append(to, "POST /api/join/rooms/"+ids[n%rooms]+"/seats HTTP/1.1\r\nHost: "+i.Address+
			"\r\nContent-Type: application/json"...)
		return appendBody(to, body)
	}, nil
}

// client returns a client of the server's API.
func (i *installation) client() (*client.Client, error) {
	return client.New("http://"+i.Address, client.Credentials{ProjectID: i.ProjectID, APIKey: i.APIKey,
		GatewaySecret: i.GatewaySecret}, client.Options{})
}
