package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"parley/internal/api/manage"
)

type roomTimeline struct {
	lister
	ID string `arg:"" refers:"room" help:"ID of the room, or its client_room_id if it is unique."`
}

// timelineItem is something that happened in a room.
type timelineItem struct {
	At   string `json:"at"`
	Kind string `json:"kind"` // type of an event or an action of a host, or webhook and the state of a delivery
	Name string `json:"name"` // the person of an event, or the URL of a delivery
	Data any    `json:"data"`

	// Of the connection that a participant.joined began or a participant.left ended; absent for other items.
	ConnectionType    string `json:"connection_type,omitempty"`
	ConnectionQuality string `json:"connection_quality,omitempty"`
	PoorSeconds       *int   `json:"poor_seconds,omitempty"`
}

// deliveryData describes a delivery in a timeline.
type deliveryData struct {
	DeliveryID string `json:"delivery_id"`
	EventID    string `json:"event_id"`
	Type       string `json:"type"`
	Attempts   int    `json:"attempts"`
}

// Run prints the events and the deliveries in the order of time.
func (c roomTimeline) Run(ctx context.Context, s *streams) error {
	events, err := fetchPages(ctx, c.manager, apiPath("/rooms/%s/timeline", c.ID), url.Values{}, 0,
		func(p manage.RoomTimeline) ([]manage.TimelineEvent, *string) { return p.Events, p.NextCursor })
	if err != nil {
		return err
	}
	items := []timelineItem{}
	for _, e := range events {
		item := timelineItem{At: e.At, Kind: e.Kind, Name: e.Name, Data: e.Data}
		if e.Action != nil {
			item.Data = e.Action
		}
		if c := e.Connection; c != nil {
			item.ConnectionType, item.ConnectionQuality = string(c.ConnectionType), string(c.ConnectionQuality)
			item.PoorSeconds = &c.PoorSeconds
		}
		items = append(items, item)
		for _, d := range e.Deliveries {
			at := d.CreatedAt
			if d.DoneAt != nil {
				at = *d.DoneAt
			}
			items = append(items, timelineItem{At: at.UTC().Format(timestampLayout),
				Kind: "webhook." + string(d.State), Name: d.Url,
				Data: deliveryData{DeliveryID: d.DeliveryId, EventID: d.EventId, Type: d.Type, Attempts: d.AttemptCount}})
		}
	}
	slices.SortStableFunc(items, func(a, b timelineItem) int { return cmp.Compare(a.At, b.At) })
	if c.structured() {
		return printItems(s, c.lister, items, nil)
	}
	var rows [][]string
	for _, item := range items {
		at, err := time.Parse(time.RFC3339, item.At)
		if err != nil {
			return err
		}
		data, err := json.Marshal(item.Data)
		if err != nil {
			return err
		}
		quality := item.ConnectionQuality
		if item.PoorSeconds != nil {
			quality = formatQuality(quality, *item.PoorSeconds)
		}
		rows = append(rows, []string{formatTime(&at), item.Kind, item.Name, strings.ToUpper(item.ConnectionType), quality,
			string(data)})
	}
	return printTable(s.out, []string{"TIME", "KIND", "NAME", "MEDIA", "QUALITY", "DATA"}, rows)
}

type roomPeople struct {
	lister
	ID string `arg:"" refers:"room" help:"ID of the room, or its client_room_id if it is unique."`
	At moment `placeholder:"TIME" help:"Time at which the listed people were connected, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago. Default: any."`
}

// Run prints the connections of the participants.
func (c roomPeople) Run(ctx context.Context, s *streams) error {
	people, err := c.fetch(ctx)
	if err != nil || c.structured() {
		return printItems(s, c.lister, people, err)
	}
	var rows [][]string
	for _, p := range people {
		joined, err := time.Parse(time.RFC3339, p.JoinedAt)
		if err != nil {
			return err
		}
		left := "connected"
		if p.LeftAt != nil {
			at, err := time.Parse(time.RFC3339, *p.LeftAt)
			if err != nil {
				return err
			}
			left = formatTime(&at)
		}
		role := p.Role
		if p.Hidden {
			role += ", hidden"
		}
		rows = append(rows, []string{p.Name, role, p.UserId, formatTime(&joined), left, p.Reason,
			strings.ToUpper(string(p.ConnectionType)), formatQuality(string(p.ConnectionQuality), p.PoorSeconds), p.Node,
			p.SeatId})
	}
	return printTable(s.out,
		[]string{"NAME", "ROLE", "USER", "JOINED", "LEFT", "REASON", "MEDIA", "QUALITY", "NODE", "SEAT"}, rows)
}

// formatQuality returns the quality of a connection, with the time for which it was poor.
func formatQuality(quality string, poorSeconds int) string {
	if poorSeconds > 0 {
		quality += fmt.Sprintf(" (poor %s)", time.Duration(poorSeconds)*time.Second)
	}
	return quality
}

// fetch reads all pages.
func (c roomPeople) fetch(ctx context.Context) ([]manage.RoomPerson, error) {
	q := queryOf(map[string]string{"at": string(c.At)})
	return fetchPages(ctx, c.manager, apiPath("/rooms/%s/people", c.ID), q, 0,
		func(p manage.RoomPeople) ([]manage.RoomPerson, *string) { return p.People, p.NextCursor })
}
