package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// renamed has better names for schemas whose names mean something else without the rest
// of the description. A key with a version counts only for that version.
var renamed = map[string]string{
	"Done":                     "EndRoomResult",
	"EventEndReason":           "EndReason",
	"EventLeaveReason":         "LeaveReason",
	"EventRoomType":            "RoomType",
	"Figure":                   "PlanMinutes",
	"Metadata":                 "RoomMetadata",
	"ProjectStatusUpdate":      "ProjectStatusRequest",
	"RequestItem":              "LoggedRequest",
	"Requests":                 "RequestList",
	"RoomEvent":                "JoinEventRequest",
	"RoomEventReceived":        "JoinEventReceived",
	"RoomReference":            "EndRoomRequest",
	"RoomStarted":              "ScheduledRoomStarted",
	"StartScheduleRoomRequest": "StartScheduledRoomRequest",
	"Totals":                   "UsageTotals",

	// The calls of version 3 for scheduled rooms are calls of their own in the SDKs.
	"v3 CreateScheduledRoomRequest": "CreateScheduledRoomV3Request",
}

// inline has the names of objects that have none in the description, by the object and the
// field that contain them. Without an entry, the name consists of both.
var inline = map[string]string{
	"FeedbackData.feedback":                "Feedback",
	"JoinFailedData.refusal":               "JoinFailedPerson",
	"ReportedData.mark":                    "ReportedPerson",
	"RescheduleRoomMetadata.room_features": "RoomFeatures",
	"RoomFeatures.breakout_room_features":  "BreakoutRoomFeatures",
	"RoomMetadata.room_features":           "RoomFeatures",
}

// envelopes are the fields of responses that contain all that the SDKs return.
var envelopes = map[string]string{
	"ActiveRoomResponse":  "result",
	"ActiveRoomsResponse": "response",
	"KeysResponse":        "data",
	"LimitsResponse":      "data",
	"PastRoomsResponse":   "rooms",
	"RequestsResponse":    "data",
	"UsageResponse":       "data",
}

// documented has the documentation of objects and fields for which the description has
// none, or one that only a reader of the whole description understands.
var documented = map[string]string{
	"BreakoutRoomFeatures":          "The requested breakout rooms.",
	"CreateQuickRoomRequest":        "A room that opens immediately. The SDK adds the project_id.",
	"CreateScheduledRoomRequest":    "A room that opens at its start time. The SDK adds the project_id.",
	"CreateScheduledRoomV3Request":  "A room that opens at its start time, in version 3. The SDK adds the project_id.",
	"CurrentKey":                    "The API key in use.",
	"Entitlement":                   "One entitlement of the plan.",
	"EventFormerParticipant":        "The participant who left, with the same data as in the joined event.",
	"EventParticipant":              "The participant. There are no events about hidden participants.",
	"Feedback":                      "The participant and the rating.",
	"InvitationLink.invitation_url": "The same value as invitation_link.",
	"JoinEventReceived":             "The join event is in the event log of the room.",
	"JoinEventUserInfo":             "The person who joined.",
	"JoinRoomUserInfo":              "The person for whom the link is.",
	"KeyOverlapEndingData":          "The credential whose old value stops working soon.",
	"KeyRotatedData":                "The credential that was rotated.",
	"Keys":                          "The API keys of the project.",
	"Keys.overlap":                  "The previous key during the overlap of a rotation, otherwise null.",
	"Limits":                        "The entitlements of the organization's plan.",
	"LoggedRequest":                 "A call in the request log.",
	"OverlapKey":                    "The previous API key, which works until the overlap of a rotation ends.",
	"ParticipantMetadata":           "The role of a participant, and the breakout room.",
	"PersonalLink.final_link":       "The first browser that joins with it claims it.",
	"PlanUsage":                     "The usage of the plan. Only `availability` if no plan provider knows the plan.",
	"ProjectStatusChangedData":      "The new status of the project.",
	"QuickRoomCreated":              "A room that is open.",
	"RequestList":                   "One page of the request log, the newest first.",
	"RescheduleRoomMetadata":        "The texts and features of the room that change.",
	"RescheduleRoomRequest": "The changes of a scheduled room. The fields have the rules of the creation. " +
		"Absent fields keep their value.",
	"RoomMetadata": "The texts and features of the room.",
	"ScheduledRoomCreated.final_link": "The link of the creator. The first browser that joins with it becomes " +
		"the host. Without the part after `#`, it is the link for guests. Version 3 does not send it.",
	"Usage": "The usage in the current calendar month (UTC): of all projects of the organization but test " +
		"projects, or of the test project.",
	"UsagePeriod": "The calendar month.",
	"UsageTotals": "The sums of the month.",
}

// addedField is the field of request bodies that the SDKs add.
const addedField = "project_id"

// headerFields are the fields of a response that the SDKs read from its headers.
var headerFields = []struct {
	header string
	field
}{
	{"X-Request-ID", requestID},
	{"X-Gateway-Request-ID", requestID},
	{"X-Ignored-Fields", field{
		name:       "ignored_fields",
		doc:        "The names of fields that were sent and have no effect, from the response header X-Ignored-Fields.",
		shape:      shape{kind: kindList, items: &shape{kind: kindString}},
		fromHeader: true,
	}},
	{"X-Feature-Adjusted", field{
		name:       "features_adjusted",
		doc:        "The requested features that were lowered to the limit of the plan, from the header X-Feature-Adjusted.",
		shape:      shape{kind: kindList, items: &shape{kind: kindString}},
		fromHeader: true,
	}},
	{"X-Gateway-Requests-Used", field{
		name: "requests_used",
		doc: "The number of correctly signed version 5 calls of the organization on this UTC day, including this one, " +
			"from the header X-Gateway-Requests-Used. It is null if the server does not know it.",
		shape:      shape{kind: kindInteger},
		fromHeader: true,
	}},
}

var requestID = field{
	name:       "request_id",
	doc:        "Identifies this request, from a response header. Quote it to support.",
	shape:      shape{kind: kindString},
	fromHeader: true,
}

// checkTables returns an error for each name of the tables that the descriptions no longer have.
func (m *model) checkTables() error {
	var problems []error
	known := map[string]bool{}
	for _, o := range m.objects {
		known[o.name] = true
		for _, f := range o.fields {
			known[o.name+"."+f.name] = true
		}
	}
	for _, e := range m.enums {
		known[e.name] = true
	}
	names := slices.Sorted(maps.Keys(documented))
	names = slices.AppendSeq(names, maps.Keys(inline))
	names = slices.AppendSeq(names, maps.Values(renamed))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !known[name] {
			problems = append(problems, fmt.Errorf("%s is in a table of names.go and in no description", name))
		}
	}
	return errors.Join(problems...)
}
