// Package use is an example of an integrator's code that uses the code generated from the
// descriptions.
package use

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"parley/test/types/v3"
	"parley/test/types/v4"
	"parley/test/types/v5"
)

// QuickRoom creates a room and returns its link.
func QuickRoom(ctx context.Context, server string, sign func(context.Context, *http.Request) error) (string, error) {
	client, err := v3.NewClientWithResponses(server, v3.WithRequestEditorFn(sign))
	if err != nil {
		return "", err
	}
	once := "order-1"
	params := &v3.CreateQuickAudioRoomParams{IdempotencyKey: &once}
	res, err := client.CreateQuickAudioRoomWithResponse(ctx, params, v3.CreateQuickRoomRequest{
		ProjectId:       "0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10",
		Name:            "Amina",
		MaxParticipants: 10,
		EmptyTimeout:    300,
		Metadata:        v3.Metadata{RoomTitle: "Standup", WelcomeMessage: "Good morning"},
	})
	switch {
	case err != nil:
		return "", err
	case res.JSON401 != nil:
		return "", fmt.Errorf("unauthorized: %s", res.JSON401.Error)
	case res.JSON200 == nil:
		return "", fmt.Errorf("status %d", res.StatusCode())
	}
	return res.JSON200.FinalLink, nil
}

// Schedule creates a room with a number in a form that version 4 accepts.
func Schedule(ctx context.Context, client v4.ClientWithResponsesInterface, project uuid.UUID) (string, error) {
	var most, empty v4.Number
	if err := most.FromNumber0(10); err != nil {
		return "", err
	}
	if err := empty.FromNumber1("300"); err != nil {
		return "", err
	}
	name := "Amina"
	res, err := client.CreateScheduleVideoRoomWithResponse(ctx, nil, v4.CreateScheduledRoomRequest{
		ProjectId:       project,
		StartAt:         "2027-01-31T09:30",
		Name:            &name,
		MaxParticipants: most,
		EmptyTimeout:    empty,
		Metadata:        v4.Metadata{RoomTitle: "Weekly", WelcomeMessage: "Good morning"},
	})
	if err != nil {
		return "", err
	}
	if res.JSON200 == nil {
		return "", fmt.Errorf("status %d", res.StatusCode())
	}
	status, err := client.UpdateProjectStatusWithResponse(ctx, &v4.UpdateProjectStatusParams{ProjectId: project},
		v4.ProjectStatusUpdate{Status: v4.Active})
	if err != nil || status.JSON200 == nil {
		return "", fmt.Errorf("the project stays as it is: %w", err)
	}
	return res.JSON200.FinalLink, nil
}

// Happened returns the participants that joined a room, by connection.
func Happened(ctx context.Context, client v4.ClientWithResponsesInterface, room string) (map[string]string, error) {
	after := int64(0)
	res, err := client.GetRoomEventsWithResponse(ctx, room, &v4.GetRoomEventsParams{After: &after})
	if err != nil || res.JSON200 == nil {
		return nil, fmt.Errorf("no events: %w", err)
	}
	came := map[string]string{}
	for _, event := range res.JSON200.Events {
		if kind, err := event.Discriminator(); err != nil || kind != string(v4.KindParticipantJoined) {
			continue
		}
		joined, err := event.AsParticipantJoinedEvent()
		if err != nil {
			return nil, err
		}
		came[joined.Data.Participant.ConnectionId] = joined.Data.Participant.Name
	}
	return came, nil
}

// Rotated reads a webhook.
func Rotated(e v4.KeyRotatedJSONRequestBody) bool {
	return e.Data.Credential == v4.RotatedProjectSecret
}

// Refused returns the failed calls of the project with their reasons.
func Refused(ctx context.Context, client v5.ClientWithResponsesInterface) (map[string]string, error) {
	limit := 100
	res, err := client.GetRequestsWithResponse(ctx, &v5.GetRequestsParams{Limit: &limit})
	if err != nil {
		return nil, err
	}
	if res.JSON401 != nil && res.JSON401.Error.Code == v5.CodeUnauthorized {
		return nil, fmt.Errorf("%s (%s)", res.JSON401.Error.Message, res.JSON401.Error.RequestId)
	}
	causes := map[string]string{}
	for _, item := range res.JSON200.Data.Items {
		if item.AuthResult != v5.Ok && item.Hint != nil {
			causes[item.RequestId] = *item.Hint
		}
	}
	return causes, nil
}

// Retiring returns how often the key that a rotation replaced was used.
func Retiring(ctx context.Context, client v5.ClientWithResponsesInterface) (int64, error) {
	res, err := client.GetKeysWithResponse(ctx)
	if err != nil || res.JSON200 == nil || res.JSON200.Data.Overlap == nil {
		return 0, err
	}
	return res.JSON200.Data.Overlap.RequestsSinceRotation, nil
}
