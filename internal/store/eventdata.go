package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/room"
)

// compactEventData is the stored form of event.Data. It leaves out what the row of the event
// has, because events are a large part of a database: the ID of the room, also as the beginning
// of the ID of a session, and the time of a join. Rows of earlier releases have the JSON of
// event.Data.
type compactEventData struct {
	RoomType     string                `json:"t"` // must stay the first field, because compactPrefix matches it
	ClientRoomID string                `json:"client_room_id,omitempty"`
	Session      string                `json:"s,omitempty"`
	StartAt      *time.Time            `json:"start_at,omitempty"`
	EndReason    string                `json:"end_reason,omitempty"`
	Participant  *compactParticipant   `json:"p,omitempty"`
	Mark         *event.AttendanceMark `json:"mark,omitempty"`
	FailedJoin   *event.FailedJoin     `json:"refusal,omitempty"`
	Feedback     *event.Feedback       `json:"feedback,omitempty"`
}

type compactParticipant struct {
	Identity   string  `json:"i"`
	Name       string  `json:"n"`
	Role       *string `json:"r,omitempty"` // nil for usualRole
	Session    *string `json:"s,omitempty"` // nil for usualSession
	Connection string  `json:"c"`
	JoinedAt   int64   `json:"j,omitempty"` // Unix milliseconds; 0 for the time of the event
	Reason     string  `json:"reason,omitempty"`
}

// What most participants have is left out.
const (
	usualRole    = string(room.Guest)
	usualSession = ".1" // the first session of the room
)

func unless(usual, value string) *string {
	if value == usual {
		return nil
	}
	return &value
}

func valueOr(usual string, value *string) string {
	if value == nil {
		return usual
	}
	return *value
}

// compactPrefix starts every compact form. The JSON of event.Data never starts with it.
const compactPrefix = `{"t":`

// formatEventData returns the stored form of the data of an event: the compact form, or the JSON of
// event.Data if it names another room.
func formatEventData(d *event.Data, roomID string, at time.Time) (string, error) {
	var stored any = d
	if d.RoomID == roomID {
		c := &compactEventData{
			RoomType:     d.RoomType,
			ClientRoomID: d.ClientRoomID,
			Session:      strings.TrimPrefix(d.SessionID, roomID),
			StartAt:      d.StartAt,
			EndReason:    d.EndReason,
			Mark:         d.Mark,
			FailedJoin:   d.FailedJoin,
			Feedback:     d.Feedback,
		}
		if p := d.Participant; p != nil {
			c.Participant = &compactParticipant{
				Identity:   p.Identity,
				Name:       p.Name,
				Role:       unless(usualRole, p.Role),
				Session:    unless(usualSession, strings.TrimPrefix(p.Session, roomID)),
				Connection: p.Connection,
				JoinedAt:   p.JoinedAt.UnixMilli(),
				Reason:     p.Reason,
			}
			if c.Participant.JoinedAt == at.UnixMilli() {
				c.Participant.JoinedAt = 0
			}
		}
		stored = c
	}
	text, err := json.Marshal(stored)
	return string(text), err
}

// parseEventData returns the data of an event from its stored form.
func parseEventData(text, roomID string, at time.Time) (event.Data, error) {
	var d event.Data
	if !strings.HasPrefix(text, compactPrefix) {
		return d, json.Unmarshal([]byte(text), &d)
	}
	var c compactEventData
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return d, err
	}
	sessionID := func(stored string) string {
		if strings.HasPrefix(stored, ".") {
			return roomID + stored
		}
		return stored
	}
	d = event.Data{
		RoomID:       roomID,
		ClientRoomID: c.ClientRoomID,
		SessionID:    sessionID(c.Session),
		RoomType:     c.RoomType,
		StartAt:      c.StartAt,
		EndReason:    c.EndReason,
		Mark:         c.Mark,
		FailedJoin:   c.FailedJoin,
		Feedback:     c.Feedback,
	}
	if p := c.Participant; p != nil {
		d.Participant = &event.Participant{
			Identity:   p.Identity,
			Name:       p.Name,
			Role:       valueOr(usualRole, p.Role),
			Session:    sessionID(valueOr(usualSession, p.Session)),
			Connection: p.Connection,
			JoinedAt:   at,
			Reason:     p.Reason,
		}
		if p.JoinedAt != 0 {
			d.Participant.JoinedAt = time.UnixMilli(p.JoinedAt).UTC()
		}
	}
	return d, nil
}

// scanEvent scans a row of selectEvents.
func scanEvent(row db.Row) (e event.Event, err error) {
	var data string
	if err := row.Scan(eventTable.dests(&e, &e.ProjectID, &data)...); err != nil {
		return event.Event{}, err
	}
	if e.Data, err = parseEventData(data, e.RoomID, e.At); err != nil {
		return event.Event{}, fmt.Errorf("event %s: %w", e.ID, err)
	}
	return e, nil
}
