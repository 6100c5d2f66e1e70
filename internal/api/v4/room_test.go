package v4

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/internal/api/apitest"
	"parley/internal/api/roomapi"
	. "parley/internal/api/roomapi/roomstest"
	"parley/internal/room"
)

const minuteLayout = "2006-01-02T15:04"

// validFields is a body that is right, to be changed by each case.
func validFields(b *Fixture) map[string]any {
	return map[string]any{"project_id": b.Project.ID, "start_at": time.Now().Add(time.Hour).UTC().Format(minuteLayout),
		"max_participants": "10", "empty_timeout": 300, "name": "Amina",
		"metadata": map[string]any{"room_title": "Standup", "welcome_message": "Good\nmorning"}}
}

// validQuickFields is fields of a room that is open at once.
func validQuickFields(b *Fixture) map[string]any {
	f := validFields(b)
	delete(f, "start_at")
	return f
}

// scheduleRoom makes a room through the service.
func scheduleRoom(t testing.TB, b *Fixture) string {
	t.Helper()
	created, err := b.Rooms.Schedule(t.Context(), b.Project,
		room.Spec{Type: room.Video, StartAt: time.Now().Add(time.Hour),
			MaxParticipants: 2, Title: "T"}, nil)
	Must(t, err)
	return created.ID
}

func roomCases() []ErrorCase {
	long := strings.Repeat("é", 256)
	const digits = " must be an integer, or a string of the digits 0 to 9"
	list := CreateCases()
	for _, field := range []string{"max_participants", "empty_timeout"} {
		for _, v := range []any{"", " 5", "+5", "-5", "5.0", "1e2", "٥", "５", "0x5", "5\n", true, []int{5},
			map[string]any{}} {
			list = append(list, FieldCase(fmt.Sprintf("%s %q", field, v), SetField(field, v), field+digits))
		}
		bounds := map[string]string{"max_participants": "between 1 and 1000", "empty_timeout": "between 0 and 86400"}[field]
		list = append(list, FieldCase(field+" beyond 64 bits", SetField(field, strings.Repeat("9", 30)),
			field+" must be "+bounds), FieldCase(field+" beyond what a duration holds",
			SetField(field, strings.Repeat("9", 18)), field+" must be "+bounds))
	}
	for _, field := range []string{"logout_url", "webhook_url"} {
		for _, v := range []string{"example.org", "/bye", "//example.org/bye", "ftp://example.org", "javascript:alert(1)",
			"https://", "https:///bye",
			"https:example.org", "https://a b.example", "https://example.org/a b", "https://example.org:99999/", "https://example.org:0/", "https://[::1", "https://%zz/"} {
			list = append(list, FieldCase(field+" "+v, SetField(field, v), field+" must be an absolute http or https URL"))
		}
		list = append(list, FieldCase(field+" with credentials", SetField(field, "https://user:pass@example.org"), field+
			" must not contain a user name or password"),
			FieldCase(field+" with a user", SetField(field, "https://user@example.org"), field+
				" must not contain a user name or password"))
	}
	const features = "metadata.room_features"
	const rooms = features + ".breakout_room_features.allowed_number_rooms"
	return append(list,
		FieldCase("fraction", SetField("max_participants", 5.5),
			"max_participants must be an integer written without fraction or exponent"),
		FieldCase("a string out of range", SetField("max_participants", "1001"),
			"max_participants must be between 1 and 1000, not 1001"),
		FieldCase("name too long", SetField("name", long), "name must have at most 255 characters, not 256"),
		FieldCase("name blank", SetField("name", " "), "name must have 1 to 255 characters and not be blank"),
		FieldCase("external_user_id too long", SetField("external_user_id", long),
			"external_user_id must have at most 255 characters, not 256"),
		FieldCase("external_user_id a number", SetField("external_user_id", 7), "external_user_id must be a string"),
		FieldCase("logout_url too long", SetField("logout_url", "https://example.org/"+strings.Repeat("é", 236)),
			"logout_url must have at most 255 characters, not 256"),
		FieldCase("webhook_url too long", SetField("webhook_url", "https://example.org/"+strings.Repeat("é", 2029)),
			"webhook_url must have at most 2048 characters, not 2049"),
		FieldCase("webhook_url too many bytes",
			SetField("webhook_url", "https://example.org/"+strings.Repeat("é", 1015)),
			"webhook_url must have at most 2048 bytes, not 2050"),
		FieldCase("room_features a list", SetField(features, []int{}), features+" must be an object"),
		FieldCase("room_duration a string", SetField(features+".room_duration", "60"), features+
			".room_duration must be an integer"),
		FieldCase("room_duration -1", SetField(features+".room_duration", -1), features+
			".room_duration must be between 0 and 1440, not -1"),
		FieldCase("room_duration 1441", SetField(features+".room_duration", 1441), features+
			".room_duration must be between 0 and 1440, not 1441"),
		FieldCase("breakout_room_features a number", SetField(features+".breakout_room_features", 4), features+
			".breakout_room_features must be an object"),
		FieldCase("allowed_number_rooms a string", SetField(rooms, "4"), rooms+" must be an integer"),
		FieldCase("allowed_number_rooms -1", SetField(rooms, -1), rooms+" must be between 0 and 16, not -1"),
		FieldCase("allowed_number_rooms 17", SetField(rooms, 17), rooms+" must be between 0 and 16, not 17"),
	)
}

// startAtCases are those of scheduled rooms besides.
func startAtCases() []ErrorCase {
	const form = "start_at must have the form YYYY-MM-DDTHH:MM, such as 2027-01-31T09:30, without seconds or offset, not "
	var list []ErrorCase
	for _, v := range []string{"", "2027-01-31", "2027-01-31T09:30Z", "2027-01-31T09:30:00", "2027-01-31T09:30+01:00",
		"2027-01-31 09:30", "2027-1-31T09:30",
		"2027-02-30T09:30:00", "2027-01-31T9:30", " 2027-01-31T09:30", "２027-01-31T09:30"} {
		list = append(list, FieldCase("start_at "+v, SetField("start_at", v), form+fmt.Sprintf("%q", v)))
	}
	const exists = "start_at must name a day of the calendar, hours from 00 to 23, and minutes and seconds from 00 to 59, not "
	for _, v := range []string{"2027-02-30T09:30", "2027-01-31T24:00", "2027-01-31T09:60"} {
		list = append(list, FieldCase("start_at "+v, SetField("start_at", v), exists+fmt.Sprintf("%q", v)))
	}
	return append(append(list, ScheduleCases()...),
		FieldCase("start_at in the past", SetField("start_at", "2020-01-31T09:30"),
			"start_at must be in the future, and 2020-01-31T09:30:00Z is past"),
		FieldCase("start_at too far ahead", SetField("start_at", "9999-01-31T09:30"),
			"start_at must be at most 366 days ahead, and 9999-01-31T09:30:00Z is later"),
		FieldCase("external_user_id without a name",
			func(f map[string]any) { f["external_user_id"] = "7"; delete(f, "name") },
			"name is required when external_user_id is given"),
		FieldCase("external_user_id with an empty name",
			func(f map[string]any) { f["external_user_id"], f["name"] = "7", "" },
			"name is required when external_user_id is given"),
	)
}

// quickCases are those of quick rooms besides.
func quickCases() []ErrorCase {
	return []ErrorCase{
		FieldCase("name missing", RemoveField("name"), "name is required"),
		FieldCase("name empty", SetField("name", ""), "name must have 1 to 255 characters and not be blank"),
	}
}

func TestCreateScheduleVideoRoom_StoresRoom(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/St_Johns")
	Must(t, err)
	b, handler := setup(t, roomapi.Options{Zone: zone})
	c := apitest.New(t, Description(t), handler)
	year, month, day := time.Now().In(zone).Date()
	at := time.Date(year, month, day+2, 12, 0, 0, 0, zone) // no clock is set back at noon
	full := validFields(b)
	full["start_at"], full["max_participants"], full["empty_timeout"] = at.Format(minuteLayout), "007", "86400"
	full["external_user_id"] = strings.Repeat("é", 255)
	full["logout_url"] = "https://example.org/" + strings.Repeat("é", 235)
	full["webhook_url"] = "http://hooks.example.org:8443/x?y=z"
	full["client_room_id"] = strings.Repeat("ß", 255)
	SetField("metadata.room_features", map[string]any{"room_duration": 90,
		"breakout_room_features": map[string]any{"allowed_number_rooms": 0, "is_allow": true},
		"chat_features":          map[string]any{}, "a b\r\nX-Evil: 1": 1})(full)
	SetField("metadata.default_lock_settings", map[string]any{"lock_chat": true})(full)
	SetField("metadata.logout_url", "https://example.org")(full)
	body := EncodeJSON(t, full)
	answer := c.Do(t, http.MethodPost, scheduleVideo, SignedHeaders(b.Issued.APIKey, body), body)
	out := DecodeFields(t, answer)
	id, _ := out["room_id"].(string)
	link, _ := out["final_link"].(string)
	want := map[string]any{"status": true, "message": "the room is scheduled", "room_type": "video",
		"start_time": at.Format(time.RFC3339),
		"room_id":    id, "client_room_id": full["client_room_id"], "final_link": link}
	if answer.StatusCode != 200 || !maps.Equal(out, want) ||
		!strings.HasPrefix(link, "https://meet.example.org/r/"+id+"#t=") {
		t.Fatalf("got %d %v\nwant %v", answer.StatusCode, out, want)
	}
	const named = "metadata.default_lock_settings, metadata.logout_url, metadata.room_features.a_b__X-Evil__1, metadata.room_features.chat_features, " +
		"metadata.room_features.breakout_room_features.is_allow"
	if got := answer.Header.Get("X-Ignored-Fields"); got != named {
		t.Errorf("X-Ignored-Fields: got %q\nwant %q", got, named)
	}
	if got := answer.Header.Values("X-Feature-Adjusted"); got != nil {
		t.Errorf("X-Feature-Adjusted: got %q, want none", got)
	}
	r, err := b.Rooms.Get(t.Context(), id)
	Must(t, err)
	if r.Type != room.Video || r.State != room.Scheduled || !r.StartAt.Equal(at) || r.MaxParticipants != 7 ||
		r.EmptyTimeout != 24*time.Hour ||
		r.CreatorName != "Amina" || r.ExternalUserID != full["external_user_id"] || r.LogoutURL != full["logout_url"] ||
		r.WebhookURL != full["webhook_url"] ||
		r.ClientRoomID != full["client_room_id"] || r.Duration != 90*time.Minute || r.BreakoutRooms != 0 {
		t.Errorf("stored room: got %+v, want a scheduled video room, StartAt %s, 7 participants, empty timeout 24h, "+
			"duration 1h30m, no breakout rooms, and the texts of the request %v", r, at, full)
	}

	t.Run("the least", func(t *testing.T) {
		least := validFields(b)
		least["start_at"] = at.Format(minuteLayout)
		delete(least, "name")
		body := EncodeJSON(t, least)
		answer := c.Do(t, http.MethodPost, scheduleVideo, SignedHeaders(b.Issued.ProjectSecret, body), body)
		out := DecodeFields(t, answer)
		r, err := b.Rooms.Get(t.Context(), fmt.Sprint(out["room_id"]))
		Must(t, err)
		if len(out) != 6 || answer.Header.Values("X-Ignored-Fields") != nil || r.Duration != 24*time.Hour ||
			r.BreakoutRooms != 16 || r.CreatorName != "" {
			t.Errorf("got %v, header %v, room %+v, want 24 hours, 16 breakouts and no creator", out, answer.Header, r)
		}
	})
	t.Run("null and empty are absent", func(t *testing.T) {
		text := fmt.Sprintf(`{"project_id":%q,"start_at":%q,"max_participants":5,"empty_timeout":0,"name":null,"external_user_id":"","logout_url":"","webhook_url":null,
			"client_room_id":"","metadata":{"room_title":"T","welcome_message":"","room_features":{"room_duration":null,"breakout_room_features":null}}}`,
			strings.ToUpper(b.Project.ID), at.Format(minuteLayout))
		r := httptest.NewRequest(http.MethodPost, scheduleVideo, strings.NewReader(text))
		r.Header = SignedHeaders(b.Issued.APIKey, []byte(text))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != 200 || strings.Contains(w.Body.String(), "client_room_id") {
			t.Errorf("got %d %s, want 200 without client_room_id", w.Code, w.Body)
		}
	})
	t.Run("at most twenty names", func(t *testing.T) {
		f := validFields(b)
		f["start_at"] = at.Format(minuteLayout)
		for i := range 30 {
			SetField(fmt.Sprintf("metadata.room_features.feature_%d", i), true)(f)
		}
		body := EncodeJSON(t, f)
		answer := c.Do(t, http.MethodPost, scheduleVideo, SignedHeaders(b.Issued.APIKey, body), body)
		if n := strings.Count(answer.Header.Get("X-Ignored-Fields"), ","); n != 19 {
			t.Errorf("X-Ignored-Fields with 30 unknown fields: got %d commas, want 19, for 20 names", n)
		}
	})
}

func TestCreateScheduleVideoRoom_StartInDSTGap(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	Must(t, err)
	b := NewFixture(t)
	// The next jump forward within the horizon, whenever this runs.
	gap := time.Now().In(zone)
	for {
		_, end := gap.ZoneBounds()
		if gap = end; gap.IsDST() {
			break
		}
	}
	handler := WithMiddleware(NewHandler(b.Rooms, b.Projects, b.Keys, newWebhooks(b), time.Now,
		roomapi.Options{Zone: zone}))
	f := validFields(b)
	f["start_at"] = gap.Format("2006-01-02T") + "02:30"
	body := EncodeJSON(t, f)
	answer := apitest.New(t, Description(t), handler).Do(t, http.MethodPost, scheduleVideo,
		SignedHeaders(b.Issued.APIKey, body), body)
	day := gap.Format("2006-01-02")
	AssertError(t, answer, 400, "start_at "+day+"T02:30 does not exist in Europe/Berlin: the clocks go from "+day+
		"T01:59 straight to "+day+"T03:00")
}

func TestCreateScheduleVideoRoom_FeaturesLimitedByPlan(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, roomapi.Options{})
	b.Plan = room.Entitlements{MaxParticipants: 50, Duration: time.Hour, BreakoutRooms: 2} // below the technical bounds
	c := apitest.New(t, Description(t), handler)
	f := validFields(b)
	SetField("metadata.room_features", map[string]any{"room_duration": 61,
		"breakout_room_features": map[string]any{"allowed_number_rooms": 3}})(f)
	body := EncodeJSON(t, f)
	header := SignedHeaders(b.Issued.APIKey, body)
	header.Set("Idempotency-Key", "k")
	for range 2 { // the second time from what was kept
		answer := c.Do(t, http.MethodPost, scheduleVideo, header, body)
		if got := answer.Header.Get("X-Feature-Adjusted"); answer.StatusCode != 200 ||
			got != "room_duration, breakout_room_features.allowed_number_rooms" {
			t.Errorf("got status %d, X-Feature-Adjusted %q, want 200, room_duration and allowed_number_rooms",
				answer.StatusCode, got)
		}
		r, err := b.Rooms.Get(t.Context(), fmt.Sprint(DecodeFields(t, answer)["room_id"]))
		Must(t, err)
		if r.Duration != time.Hour || r.BreakoutRooms != 2 {
			t.Errorf("got %+v, want an hour and 2 breakouts", r)
		}
	}
	f["max_participants"] = 51
	body = EncodeJSON(t, f)
	AssertError(t, c.Do(t, http.MethodPost, scheduleVideo, SignedHeaders(b.Issued.APIKey, body), body), 400,
		"max_participants must be between 1 and 50, not 51")
}

func TestCreateScheduleVideoRoom_ConcurrentRequestsCreateOneRoom(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, roomapi.Options{})
	f := validFields(b)
	f["client_room_id"] = "mine"
	statuses, made := SendConcurrently(t, handler, b.Issued.APIKey, scheduleVideo, "", EncodeJSON(t, f))
	if statuses[200] != 1 || statuses[409] != 31 || len(made) != 1 {
		t.Errorf("one client_room_id: got statuses %v, %d rooms, want 200 once, 409 31 times, one room", statuses, len(made))
	}
	delete(f, "client_room_id")
	statuses, made = SendConcurrently(t, handler, b.Issued.APIKey, scheduleVideo, "once", EncodeJSON(t, f))
	if statuses[200] < 1 || statuses[200]+statuses[409] != 32 || len(made) != 1 {
		t.Errorf("one Idempotency-Key: got statuses %v, %d rooms, want 200 at least once, otherwise 409, one room", statuses,
			len(made))
	}
}
