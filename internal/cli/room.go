package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"parley/internal/api/manage"
	"parley/internal/plural"
)

type roomCommands struct {
	List roomList `cmd:"" help:"List or search rooms, the newest first."`
	Show roomShow `cmd:"" help:"Show a room."`
	End  roomEnd  `cmd:"" help:"End a room now."`

	Remove roomRemove `cmd:"" help:"Remove a participant from a room."`

	Timeline roomTimeline `cmd:"" help:"Show what happened in a room, with its webhook deliveries."`
	People   roomPeople   `cmd:"" help:"Show who was in a room."`
}

type roomList struct {
	lister
	Project string `placeholder:"ID" refers:"project" help:"ID or unique name of the project whose rooms are listed."`
	State   string `enum:",scheduled,open,active,ended,cancelled,expired" default:"" placeholder:"STATE" help:"State of the listed rooms: scheduled, open, active, ended, cancelled or expired."`
	ID      string `name:"id" placeholder:"ID" help:"ID of the room."`
	Client  string `name:"client-room-id" placeholder:"ID" help:"ID that the integrator gave the room."`
	Title   string `placeholder:"TEXT" help:"Part of the title, in upper or lower case."`
	Person  string `placeholder:"TEXT" help:"Part of the name of a participant, or a user ID."`
	At      moment `placeholder:"TIME" xor:"from,to" help:"Time at which the rooms were in progress, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	From    moment `placeholder:"TIME" xor:"from" help:"Time from which the rooms were in progress, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	To      moment `placeholder:"TIME" xor:"to" help:"Time until which the rooms were in progress, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	Limit   int    `placeholder:"N" help:"Maximum number of rooms, the newest first. Default: all."`
}

// Run lists the rooms.
func (c roomList) Run(ctx context.Context, s *streams) error {
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit must be 1 or more, not %d", c.Limit)}
	}
	rooms, err := c.fetch(ctx)
	if err != nil || c.structured() {
		return printItems(s, c.lister, rooms, err, "participants_sent_out")
	}
	var rows [][]string
	for _, r := range rooms {
		rows = append(rows, []string{r.RoomId, string(r.RoomType), string(r.State), string(r.EndReason), r.Title,
			fmt.Sprintf("%d/%d", r.Participants, r.MaxParticipants), formatTime(&r.CreatedAt), r.ProjectId})
	}
	return printTable(s.out, []string{"ROOM", "TYPE", "STATE", "END REASON", "TITLE", "IN", "CREATED", "PROJECT"}, rows)
}

// fetch reads all pages, up to the limit.
func (c roomList) fetch(ctx context.Context) ([]manage.Room, error) {
	q := queryOf(map[string]string{"project_id": c.Project, "state": c.State, "room_id": c.ID,
		"client_room_id": c.Client, "title": c.Title, "person": c.Person,
		"from": string(cmp.Or(c.At, c.From)), "to": string(cmp.Or(c.At, c.To))})
	return fetchPages(ctx, c.manager, "/rooms", q, c.Limit, func(p manage.RoomList) ([]manage.Room, *string) {
		return p.Rooms, p.NextCursor
	})
}

// fetchRoomsNamed returns the rooms with a client_room_id in a project or, without its ID, in all projects of the
// caller.
func fetchRoomsNamed(ctx context.Context, m manager, clientRoomID, projectID string) ([]manage.Room, error) {
	list := roomList{lister: lister{manager: m}, Client: clientRoomID, Project: projectID}
	rooms, err := list.fetch(ctx)
	if projectID != "" || !isRefusal(err, manage.ErrorCodeInvalidRequest) {
		return rooms, err
	}
	// An integrator of several projects must name one.
	projects, err := fetchProjects(ctx, m, "", "")
	for _, p := range projects {
		list.Project = p.ProjectId
		of, err := list.fetch(ctx)
		if err != nil {
			return nil, err
		}
		rooms = append(rooms, of...)
	}
	return rooms, err
}

type roomShow struct {
	manager
	ID string `arg:"" refers:"room" help:"ID of the room, or its client_room_id if it is unique."`
}

// Run prints the room.
func (c roomShow) Run(ctx context.Context, s *streams) error {
	r, err := callManagement[manage.Room](ctx, c.manager, "GET", apiPath("/rooms/%s", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(r, err)
	}
	return printFields(s.out, "room", r.RoomId, "title", r.Title, "project", r.ProjectId,
		"client_room_id", r.ClientRoomId,
		"type", string(r.RoomType), "state", string(r.State), "end reason", string(r.EndReason),
		"participants", fmt.Sprintf("%d of at most %d", r.Participants, r.MaxParticipants),
		"created", formatTime(&r.CreatedAt), "opens", formatTime(r.StartAt), "opened", formatTime(r.OpenedAt),
		"started", formatTime(r.StartedAt), "ended", formatTime(r.EndedAt))
}

type roomEnd struct {
	manager
	irreversible
	ID string `arg:"" refers:"room" help:"ID of the room, or its client_room_id if it is unique."`
}

// Run ends the room.
func (c roomEnd) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		r, err := callManagement[manage.Room](ctx, c.manager, "GET", apiPath("/rooms/%s", c.ID), nil)
		if err != nil {
			return "", err
		}
		switch r.State {
		case manage.RoomStateEnded, manage.RoomStateCancelled, manage.RoomStateExpired:
			return "", fmt.Errorf("the room is over already: its state is %s", r.State)
		case manage.RoomStateScheduled:
			return fmt.Sprintf("cancel room %s %s, which has not opened yet", r.RoomId, quoteName(r.Title)), nil
		}
		return fmt.Sprintf("end room %s %s with %s", r.RoomId, quoteName(r.Title),
			plural.Count(r.Participants, "participant", "participants")), nil
	}); !ok {
		return err
	}
	r, err := callManagement[manage.Room](ctx, c.manager, "POST", apiPath("/rooms/%s/end", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(r, err)
	}
	name := fmt.Sprintf("%s room %s %s of project %s", r.RoomType, r.RoomId, quoteName(r.Title), r.ProjectId)
	if r.State == manage.RoomStateCancelled {
		_, err = fmt.Fprintf(s.out, "Canceled %s, which had not opened yet.\n", name)
		return err
	}
	removed := 0
	if r.ParticipantsSentOut != nil {
		removed = *r.ParticipantsSentOut
	}
	_, err = fmt.Fprintf(s.out, "Ended %s with %s.\n", name, plural.Count(removed, "participant", "participants"))
	return err
}

type roomRemove struct {
	manager
	irreversible
	ID     string `arg:"" refers:"room" help:"ID of the room, or its client_room_id if it is unique."`
	Person string `arg:"" help:"Identity, seat ID or name of the participant, as parley room people shows it."`
}

// Run removes the participant.
func (c roomRemove) Run(ctx context.Context, s *streams) error {
	seat, name, err := c.findSeat(ctx)
	if err != nil {
		return err
	}
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		return fmt.Sprintf("remove %s from room %s", quoteName(name), c.ID), nil
	}); !ok {
		return err
	}
	removed, err := callManagement[manage.RemovedPerson](ctx, c.manager, "POST",
		apiPath("/rooms/%s/remove-person", c.ID), manage.PersonRemoval{SeatId: seat})
	if err != nil || c.JSON {
		return s.printResult(removed, err)
	}
	_, err = fmt.Fprintf(s.out, "Removed %s from room %s. Only a host can readmit them.\n", quoteName(name), c.ID)
	return err
}

// findSeat returns the seat and the name of the person. Among people with the same name, it
// prefers the ones who are connected. If several are left, it returns an error that lists
// their seats.
func (c roomRemove) findSeat(ctx context.Context) (seat, name string, err error) {
	people, err := roomPeople{lister: lister{manager: c.manager}, ID: c.ID}.fetch(ctx)
	if err != nil {
		return "", "", err
	}
	var present, gone []string // seats of people with the name
	for _, p := range people {
		switch {
		case p.Identity == c.Person || p.SeatId == c.Person:
			return p.SeatId, p.Name, nil
		case p.Name == c.Person && p.LeftAt == nil:
			present = append(present, p.SeatId)
		case p.Name == c.Person:
			gone = append(gone, p.SeatId)
		}
	}
	seats := present
	if len(seats) == 0 {
		seats = gone
	}
	slices.Sort(seats)
	seats = slices.Compact(seats)
	switch len(seats) {
	case 0:
		return "", "", fmt.Errorf("nobody with the identity, seat ID or name %s was in room %s: "+
			"parley room people lists who was", quoteName(c.Person), c.ID)
	case 1:
		return seats[0], c.Person, nil
	}
	return "", "", fmt.Errorf("%d people in room %s have the name %s: give one of the seat IDs %s", len(seats), c.ID,
		quoteName(c.Person), strings.Join(seats, ", "))
}
