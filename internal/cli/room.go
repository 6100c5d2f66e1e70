package cli

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"parley/internal/api/manage"
)

type roomCommands struct {
	List roomList `cmd:"" help:"List rooms, the newest first."`
	Show roomShow `cmd:"" help:"Show a room."`
	End  roomEnd  `cmd:"" help:"End a room now."`
}

// pageSize is the largest page of the management API.
const pageSize = 100

type roomList struct {
	manager
	Project string `placeholder:"ID" help:"ID of the project whose rooms are listed."`
	State   string `enum:",scheduled,open,active,ended,cancelled,expired" default:"" placeholder:"STATE" help:"State of the listed rooms: scheduled, open, active, ended, cancelled or expired."`
	Limit   int    `placeholder:"N" help:"Maximum number of rooms, the newest first. Default: all."`
}

// Run lists the rooms.
func (c roomList) Run(ctx context.Context, s *streams) error {
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit must be 1 or more, not %d", c.Limit)}
	}
	rooms, err := c.fetch(ctx)
	if err != nil || c.JSON {
		return s.printResult(rooms, err)
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
	rooms := []manage.Room{}
	q := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if c.Project != "" {
		q.Set("project_id", c.Project)
	}
	if c.State != "" {
		q.Set("state", c.State)
	}
	for {
		page, err := callManagement[manage.RoomList](ctx, c.manager, "GET", "/rooms?"+q.Encode(), nil)
		if err != nil {
			return nil, err
		}
		rooms = append(rooms, page.Rooms...)
		if c.Limit > 0 && len(rooms) >= c.Limit {
			return rooms[:c.Limit], nil
		}
		if page.NextCursor == nil {
			return rooms, nil
		}
		q.Set("cursor", *page.NextCursor)
	}
}

type roomShow struct {
	manager
	ID string `arg:"" help:"ID of the room."`
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
	ID string `arg:"" help:"ID of the room."`
}

// Run ends the room.
func (c roomEnd) Run(ctx context.Context, s *streams) error {
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
	_, err = fmt.Fprintf(s.out, "Ended %s with %s.\n", name, pluralize(removed, "participant", "participants"))
	return err
}
