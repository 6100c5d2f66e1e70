package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	"parley.example/client"
)

// exampleServer stands in for a running Parley.
func exampleServer(s *server) (baseURL string, stop func()) {
	listening := httptest.NewServer(s)
	return listening.URL, listening.Close
}

// The credentials come from the owner's page, or from quickstart.json in the
// data directory of a server that was just started.
func ExampleNew() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	quickstart := []byte(`{"project_id":"` + projectID + `","api_key":"` + apiKey +
		`","gateway_secret":"` + gatewaySecret + `","project_secret":"` + projectSecret + `"}`)

	var credentials client.Credentials
	if err := json.Unmarshal(quickstart, &credentials); err != nil {
		log.Fatal(err)
	}
	parley, err := client.New(baseURL, credentials, client.Options{UserAgent: "billing/2"})
	if err != nil {
		log.Fatal(err)
	}
	keys, err := parley.Keys(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(keys.Current.APIKey, keys.Current.Status)
	fmt.Println(credentials)
	// Output:
	// pk_0000T…0000 active
	// credentials of project "0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10"
}

func ExampleClient_CreateQuickAudioRoom() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}

	room, err := parley.CreateQuickAudioRoom(context.Background(), client.QuickRoomRequest{
		Name:            "Amina",
		MaxParticipants: 10,
		EmptyTimeout:    300, // seconds
		Metadata:        client.Metadata{RoomTitle: "Standup", WelcomeMessage: "Good morning"},
		IdempotencyKey:  "standup-2027-01-31", // so that it may be tried again
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(room.FinalLink)
	// Output:
	// https://meet.example.org/r/0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f71#t=1
}

func ExampleClient_CreateScheduledVideoRoom() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}

	schedulingZone := time.FixedZone("CET", 3600) // the server's setting
	start := time.Date(2027, 1, 31, 8, 30, 0, 0, time.UTC)
	room, err := parley.CreateScheduledVideoRoom(context.Background(), client.ScheduledRoomRequest{
		StartAt:         client.LocalTime(start, schedulingZone),
		MaxParticipants: 10,
		Name:            "Amina",
		ExternalUserID:  "4711",
		ClientRoomID:    "weekly-2027-01-31",
		Metadata: client.ScheduledRoomMetadata{
			Metadata:     client.Metadata{RoomTitle: "Weekly meeting"},
			RoomFeatures: &client.RoomFeatures{RoomDuration: 600}, // minutes
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(room.ClientRoomID, "starts at", room.StartTime.Format(time.RFC3339))
	for _, feature := range room.FeaturesAdjusted {
		fmt.Println("lowered to what the plan allows:", feature)
	}
	// Output:
	// weekly-2027-01-31 starts at 2027-01-31T09:30:00+01:00
	// lowered to what the plan allows: room_duration
	// lowered to what the plan allows: breakout_room_features.allowed_number_rooms
}

// Version 3 takes an instant, whatever the server's scheduling zone is.
func ExampleClient_CreateScheduledAudioRoomV3() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}

	room, err := parley.CreateScheduledAudioRoomV3(context.Background(), client.ScheduledRoomV3Request{
		StartAt:         time.Date(2027, 1, 31, 8, 30, 0, 0, time.UTC),
		MaxParticipants: 10,
		Metadata:        client.Metadata{RoomTitle: "Weekly call"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(room.RoomType, room.StartTime.UTC())
	// Output:
	// audio 2027-01-31 08:30:00 +0000 UTC
}

func ExampleClient_UpdateProjectStatus() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}

	updated, err := parley.UpdateProjectStatus(context.Background(), client.Inactive)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(updated.Message)
	// Output:
	// the project is now inactive
}

func ExampleClient_SendJoinEvent() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}

	received, err := parley.SendJoinEvent(context.Background(), client.JoinEvent{RoomID: roomID, Name: "Zoë"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(received.Joined)
	// Output:
	// true
}

func ExampleClient_Usage() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}

	usage, err := parley.Usage(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(usage.Totals.ParticipantMinutes, "minutes")
	if payg := usage.PayAsYouGo; payg != nil && payg.Availability == client.Available {
		fmt.Println(payg.AmountDue, payg.Currency)
	}
	// Output:
	// 90.25 minutes
	// 0.37905 EUR
}

func ExampleClient_Limits() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}

	limits, err := parley.Limits(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range limits.Entitlements {
		fmt.Println(e.Key, e.Value, e.Unit, "per", e.Scope)
	}
	// Output:
	// max_participants 1000 participants per room
}

// The pages are read as the loop goes on, the newest calls first.
func ExampleClient_RequestPages() {
	parleyServer := newServer()
	parleyServer.calls = calls(3)
	baseURL, stop := exampleServer(parleyServer)
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}

	for page, err := range parley.RequestPages(context.Background(), client.RequestsQuery{Limit: 2}) {
		if err != nil {
			log.Fatal(err)
		}
		for _, call := range page.Items {
			fmt.Println(call.RequestID, call.Status, call.AuthResult+":", call.Hint)
		}
	}
	// Output:
	// req_3 401 stale_timestamp: the timestamp is in milliseconds
	// req_2 401 stale_timestamp: the timestamp is in milliseconds
	// req_1 401 stale_timestamp: the timestamp is in milliseconds
}

// An error is tested for its kind, and says what to do about it.
func ExampleError() {
	parleyServer := newServer()
	parleyServer.respondWith(
		errorResponse(409, "client_room_id is taken"),
		errorResponse(429, "too many calls, try again later", "Retry-After", "60"),
	)
	baseURL, stop := exampleServer(parleyServer)
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}

	for range 2 {
		_, err = parley.CreateQuickAudioRoom(context.Background(), client.QuickRoomRequest{
			Name: "Amina", MaxParticipants: 10, Metadata: client.Metadata{
				RoomTitle: "Standup"}, ClientRoomID: "standup",
		})
		switch failure, _ := errors.AsType[*client.Error](err); {
		case errors.Is(err, client.ErrConflict):
			fmt.Println("there is one already:", failure.Message)
		case errors.Is(err, client.ErrRateLimited):
			fmt.Println("come back in", failure.RetryAfter)
		}
	}
	fmt.Println(err)
	// Output:
	// there is one already: client_room_id is taken
	// come back in 1m0s
	// parley: 429: too many calls, try again later (request req_2)
}
