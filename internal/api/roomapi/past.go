package roomapi

import (
	"encoding/csv"
	"strconv"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/spreadsheet"
)

func (a *API) listRooms(c *Call) error {
	q, err := parseListQuery(c)
	if err != nil {
		return err
	}
	all, more, err := a.rooms.List(c.Request.Context(), q)
	if err != nil {
		return err
	}
	out := RoomList{Rooms: make([]ListedRoom, 0, len(all))}
	for _, l := range all {
		out.Rooms = append(out.Rooms, ListedRoom{
			RoomId:             uuid.MustParse(l.ID),
			ClientRoomId:       httpx.OrNil(l.ClientRoomID),
			RoomType:           ListedRoomRoomType(l.Type),
			State:              RoomState(l.State),
			EndReason:          (*ListedRoomEndReason)(httpx.OrNil(string(l.EndReason))),
			RoomTitle:          l.Title,
			JoinedParticipants: l.Participants,
			MaxParticipants:    l.MaxParticipants,
			CreatedAt:          Time{Time: l.CreatedAt},
			StartAt:            httpx.TimeOrNil(l.StartAt),
			OpenedAt:           httpx.TimeOrNil(l.OpenedAt),
			StartedAt:          httpx.TimeOrNil(l.StartedAt),
			EndedAt:            httpx.TimeOrNil(l.EndedAt),
		})
	}
	if more {
		next := out.Rooms[len(out.Rooms)-1].RoomId
		out.NextCursor = &next
	}
	c.writeJSON(out)
	return nil
}

func parseListQuery(c *Call) (room.ListQuery, error) {
	q := room.ListQuery{ProjectID: c.Project.ID}
	values, err := httpx.Query(c.Request.URL.RawQuery, "state", "limit", "cursor")
	if err != nil {
		return q, err
	}
	q.State, q.Before = room.State(values["state"]), values["cursor"]
	if q.Limit, err = httpx.ParseLimit(values); err != nil {
		return q, err
	}
	if q.Before != "" {
		if q.Before, err = parseRoomID(q.Before); err != nil {
			return q, httpx.ErrCursor
		}
	}
	return q, nil
}

func (a *API) fetchPastRooms(c *Call) error {
	q := room.PastQuery{Limit: room.DefaultPastLimit}
	setIfPresent(&q.Offset, c.Fields.Integer("from"))
	setIfPresent(&q.Limit, c.Fields.Integer("limit"))
	order := PastRoomsOrderByDESC
	if text := c.Fields.Text("order_by"); text != nil {
		order = PastRoomsOrderBy(*text)
	}
	ids := c.Fields.Texts("room_ids")
	for i, text := range ids {
		ids[i], _ = parseRoomID(text) // an invalid id is an unknown room
	}
	if err := c.Fields.Err(); err != nil {
		return err
	}
	if order != PastRoomsOrderByASC && order != PastRoomsOrderByDESC {
		return fault.Invalidf("order_by must be ASC or DESC")
	}
	q.Ascending, q.IDs = order == PastRoomsOrderByASC, ids
	all, total, err := a.rooms.PastRooms(c.Request.Context(), c.Project, q)
	if err != nil {
		return err
	}
	out := PastRooms{
		From:       q.Offset,
		Limit:      q.Limit,
		OrderBy:    order,
		TotalRooms: strconv.Itoa(total),
		RoomsList:  make([]PastRoom, 0, len(all)),
	}
	for _, p := range all {
		out.RoomsList = append(out.RoomsList, PastRoom{
			RoomId:             uuid.MustParse(p.ID),
			RoomSid:            sessionID(p.ID, p.Session),
			RoomTitle:          p.Title,
			Created:            Time{Time: p.CreatedAt},
			Ended:              Time{Time: p.EndedAt},
			JoinedParticipants: strconv.Itoa(p.ParticipantCount),
			WebhookUrl:         p.WebhookURL,
		})
	}
	c.writeJSON(PastRoomsResponse{Status: true, Rooms: out})
	return nil
}

func (a *API) analytics(c *Call) error {
	found, err := a.loadAnalytics(c)
	if err != nil {
		return err
	}
	out := AnalyticsResponse{
		Status:               true,
		Msg:                  successMessage,
		RoomId:               uuid.MustParse(found.Room.ID),
		AsOf:                 Time{Time: found.AsOf},
		ParticipantDurations: map[string]float64{},
		TotalDuration:        found.Total.Seconds(),
		Participants:         make([]AttendeeInfo, 0, len(found.People)),
		Reported:             make([]ReportedAttendee, 0, len(found.Reported)),
	}
	for _, person := range found.People {
		out.ParticipantDurations[person.Identity] = person.Duration.Seconds()
		out.Participants = append(out.Participants,
			AttendeeInfo{
				Identity:    person.Identity,
				Name:        person.Name,
				Role:        ParticipantRole(person.Role),
				JoinedAt:    Time{Time: person.JoinedAt},
				LeftAt:      httpx.TimeOrNil(person.LeftAt),
				Duration:    person.Duration.Seconds(),
				Connections: person.Connections,
			})
	}
	for _, r := range found.Reported {
		out.Reported = append(out.Reported,
			ReportedAttendee{Name: r.Name, At: Time{Time: r.At}, Source: ReportedAttendeeSource(r.Source)})
	}
	c.writeJSON(out)
	return nil
}

func (a *API) loadAnalytics(c *Call) (room.Analytics, error) {
	id, err := c.queryRoomID()
	if err != nil {
		return room.Analytics{}, err
	}
	return a.rooms.Analytics(c.Request.Context(), c.Project, id)
}

// exportAttendance writes a CSV file with one line for each connection.
func (a *API) exportAttendance(c *Call) error {
	found, err := a.loadAnalytics(c)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="attendance-`+found.Room.ID+`.csv"`)
	h.Set("Cache-Control", "no-store")
	_, _ = c.w.Write([]byte(spreadsheet.ByteOrderMark))
	out := csv.NewWriter(c.w)
	out.UseCRLF = true // RFC 4180, section 2
	_ = out.Write([]string{"room_id", "session", "identity", "name", "role", "joined_at", "left_at", "seconds", "reason"})
	for _, stay := range found.Records {
		left := ""
		if !stay.LeftAt.IsZero() {
			left = httpx.FormatTime(stay.LeftAt)
		}
		_ = out.Write([]string{found.Room.ID, room.SessionID(stay.RoomID, stay.Session),
			spreadsheet.EscapeFormulas(stay.PublicID()), spreadsheet.EscapeFormulas(stay.Name), string(stay.Role),
			httpx.FormatTime(stay.JoinedAt), left, strconv.FormatFloat(stay.Duration(found.AsOf).Seconds(), 'f', -1, 64),
			string(stay.Reason)})
	}
	out.Flush() // an error means that the client has gone
	return nil
}

func setIfPresent(to *int, given *int) {
	if given != nil {
		*to = *given
	}
}
