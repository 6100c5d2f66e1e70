package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"parley.example/client"
)

// creation returns a created room with the fields that come from headers.
func creation(room *client.ScheduledRoom) (map[string]any, error) {
	return wire(room, map[string]any{"request_id": room.RequestID, "ignored_fields": room.IgnoredFields,
		"features_adjusted": room.FeaturesAdjusted})
}

func quickRoom(room *client.QuickRoom, err error) (map[string]any, error) {
	if err != nil {
		return nil, err
	}
	return wire(room, map[string]any{"request_id": room.RequestID, "ignored_fields": room.IgnoredFields})
}

func scheduledRoom(room *client.ScheduledRoom, err error) (map[string]any, error) {
	if err != nil {
		return nil, err
	}
	return creation(room)
}

// gateway returns the data of version 5 with the fields that come from headers.
func gateway[T any](data *T, err error, meta func(*T) client.GatewayMeta) (map[string]any, error) {
	if err != nil {
		return nil, err
	}
	return wire(data, map[string]any{"request_id": meta(data).RequestID, "requests_used": meta(data).RequestsUsed})
}

// items reads an iterator to its end.
func items[T any](all iter.Seq2[T, error]) (map[string]any, error) {
	list := []T{}
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return map[string]any{"items": list}, nil
}

func text(content []byte, err error) (map[string]any, error) {
	return map[string]any{"text": string(content)}, err
}

// call makes the call of an operation.
func call(ctx context.Context, c *client.Client, operation string, raw json.RawMessage) (map[string]any, error) {
	var some struct {
		RoomID  string `json:"room_id"`
		Name    string
		State   string
		Status  client.ProjectStatus
		After   int64
		Limit   int
		Version int
	}
	arguments(raw, &some)
	switch operation {
	case "create_quick_audio_room", "create_quick_video_room":
		var request client.QuickRoomRequest
		request.IdempotencyKey = arguments(raw, &request)
		if operation == "create_quick_audio_room" {
			return quickRoom(c.CreateQuickAudioRoom(ctx, request))
		}
		return quickRoom(c.CreateQuickVideoRoom(ctx, request))
	case "create_scheduled_audio_room", "create_scheduled_video_room":
		var request client.ScheduledRoomRequest
		request.IdempotencyKey = arguments(raw, &request)
		if operation == "create_scheduled_audio_room" {
			return scheduledRoom(c.CreateScheduledAudioRoom(ctx, request))
		}
		return scheduledRoom(c.CreateScheduledVideoRoom(ctx, request))
	case "create_scheduled_audio_room_v3", "create_scheduled_video_room_v3":
		var request client.ScheduledRoomV3Request
		request.IdempotencyKey = arguments(raw, &request)
		if operation == "create_scheduled_audio_room_v3" {
			return scheduledRoom(c.CreateScheduledAudioRoomV3(ctx, request))
		}
		return scheduledRoom(c.CreateScheduledVideoRoomV3(ctx, request))
	case "reschedule_room":
		var request client.RescheduleRequest
		request.IdempotencyKey = arguments(raw, &request)
		return scheduledRoom(c.RescheduleRoom(ctx, request))
	case "start_scheduled_room":
		var request client.StartRoomRequest
		request.IdempotencyKey = arguments(raw, &request)
		return quickRoom(c.StartScheduledRoom(ctx, request))
	case "join_room":
		var request client.JoinRoomRequest
		request.IdempotencyKey = arguments(raw, &request)
		link, err := c.JoinRoom(ctx, request)
		return map[string]any{"final_link": link}, err
	case "create_invitation_link":
		var request client.InvitationRequest
		request.IdempotencyKey = arguments(raw, &request)
		link, err := c.CreateInvitationLink(ctx, request)
		return map[string]any{"invitation_link": link}, err
	case "simulate_meeting":
		var request client.SimulationRequest
		request.IdempotencyKey = arguments(raw, &request)
		begun, err := c.SimulateMeeting(ctx, request)
		if err != nil {
			return nil, err
		}
		return map[string]any{"room_id": begun.RoomID, "people": begun.People, "seconds": begun.Seconds}, nil
	case "sign_join_link":
		var request struct {
			RoomID    string `json:"room_id"`
			Role      string
			Name      string
			UserID    string `json:"user_id"`
			SingleUse bool   `json:"single_use"`
			ExpiresIn *int   `json:"expires_in"`
		}
		arguments(raw, &request)
		link := client.JoinLinkRequest{
			RoomID:    request.RoomID,
			Role:      request.Role,
			Name:      request.Name,
			UserID:    request.UserID,
			SingleUse: request.SingleUse,
		}
		if request.ExpiresIn != nil {
			link.ExpiresIn = time.Duration(*request.ExpiresIn) * time.Second
		}
		signed, err := c.SignJoinLink(link)
		return map[string]any{"text": signed}, err
	case "end_room":
		return map[string]any{}, c.EndRoom(ctx, some.RoomID)
	case "update_project_status":
		updated, err := c.UpdateProjectStatus(ctx, some.Status)
		if err != nil {
			return nil, err
		}
		return wire(updated, map[string]any{"request_id": updated.RequestID})
	case "send_join_event":
		received, err := c.SendJoinEvent(ctx, client.JoinEvent{RoomID: some.RoomID, Name: some.Name})
		if err != nil {
			return nil, err
		}
		return wire(received, map[string]any{"request_id": received.RequestID})
	case "room_status":
		open, message, err := c.RoomStatus(ctx, some.RoomID)
		return map[string]any{"status": open, "message": message}, err
	case "active_room":
		room, err := c.ActiveRoom(ctx, some.RoomID)
		if err != nil {
			return nil, err
		}
		return wire(room, nil)
	case "active_rooms":
		rooms, err := c.ActiveRooms(ctx)
		return map[string]any{"items": rooms}, err
	case "rooms":
		return items(c.Rooms(ctx, some.State))
	case "past_rooms", "all_past_rooms":
		var request client.PastRoomsRequest
		arguments(raw, &request)
		if operation == "all_past_rooms" {
			return items(c.AllPastRooms(ctx, request))
		}
		page, err := c.PastRooms(ctx, request)
		if err != nil {
			return nil, err
		}
		return wire(page, nil)
	case "analytics":
		found, err := c.Analytics(ctx, some.RoomID)
		if err != nil {
			return nil, err
		}
		return wire(found, nil)
	case "export_attendance":
		return text(c.ExportAttendance(ctx, some.RoomID))
	case "room_events":
		return items(c.RoomEvents(ctx, some.RoomID, some.After))
	case "keys":
		keys, err := c.Keys(ctx)
		return gateway(keys, err, func(k *client.Keys) client.GatewayMeta { return k.GatewayMeta })
	case "usage":
		usage, err := c.Usage(ctx)
		return gateway(usage, err, func(u *client.Usage) client.GatewayMeta { return u.GatewayMeta })
	case "limits":
		limits, err := c.Limits(ctx)
		return gateway(limits, err, func(l *client.Limits) client.GatewayMeta { return l.GatewayMeta })
	case "requests":
		list := []client.RequestItem{}
		for page, err := range c.RequestPages(ctx, client.RequestsQuery{Limit: some.Limit}) {
			if err != nil {
				return nil, err
			}
			list = append(list, page.Items...)
		}
		return map[string]any{"items": list}, nil
	case "openapi":
		return text(c.OpenAPI(ctx, some.Version))
	}
	return nil, fmt.Errorf("unknown operation %q", operation)
}
