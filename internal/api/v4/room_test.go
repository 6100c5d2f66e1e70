package v4

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/internal/api/contract"
	. "parley/internal/api/legacy/legacytest"
	"parley/internal/project"
	"parley/internal/room"
)

const minute = "2006-01-02T15:04"

// fields is a body that is right, to be changed by each case.
func fields(b *Bundle) map[string]any {
	return map[string]any{"project_id": b.Project.ID, "start_at": time.Now().Add(time.Hour).UTC().Format(minute),
		"max_participants": "10", "empty_timeout": 300, "name": "Amina",
		"metadata": map[string]any{"room_title": "Standup", "welcome_message": "Good\nmorning"}}
}

// quickFields is fields of a room that is open at once.
func quickFields(b *Bundle) map[string]any {
	f := fields(b)
	delete(f, "start_at")
	return f
}

// schedule makes a room through the service.
func schedule(t testing.TB, b *Bundle) string {
	t.Helper()
	created, err := b.Rooms.Schedule(t.Context(), b.Project, room.Request{Type: room.Video, StartAt: time.Now().Add(time.Hour),
		MaxParticipants: 2, Title: "T"})
	Must(t, err)
	return created.ID
}

func roomRefusals() []Refusal {
	long := strings.Repeat("é", 256)
	const digits = " must be an integer, or a string of the digits 0 to 9"
	list := Creations()
	for _, field := range []string{"max_participants", "empty_timeout"} {
		for _, v := range []any{"", " 5", "+5", "-5", "5.0", "1e2", "٥", "５", "0x5", "5\n", true, []int{5}, map[string]any{}} {
			list = append(list, Field(fmt.Sprintf("%s %q", field, v), Set(field, v), field+digits))
		}
		list = append(list, Field(field+" beyond 64 bits", Set(field, strings.Repeat("9", 30)), field+" is out of range: "+strings.Repeat("9", 24)+"…"))
	}
	for _, field := range []string{"logout_url", "webhook_url"} {
		for _, v := range []string{"example.org", "/bye", "//example.org/bye", "ftp://example.org", "javascript:alert(1)", "https://", "https:///bye",
			"https:example.org", "https://a b.example", "https://example.org/a b", "https://example.org:99999/", "https://example.org:0/", "https://[::1", "https://%zz/"} {
			list = append(list, Field(field+" "+v, Set(field, v), field+" must be an absolute http or https URL"))
		}
		list = append(list, Field(field+" with credentials", Set(field, "https://user:pass@example.org"), field+" must not contain a user name or password"),
			Field(field+" with a user", Set(field, "https://user@example.org"), field+" must not contain a user name or password"))
	}
	const features = "metadata.room_features"
	const rooms = features + ".breakout_room_features.allowed_number_rooms"
	return append(list,
		Field("fraction", Set("max_participants", 5.5), "max_participants must be an integer written without fraction or exponent"),
		Field("a string out of range", Set("max_participants", "1001"), "max_participants must be between 1 and 1000, not 1001"),
		Field("name too long", Set("name", long), "name must have at most 255 characters, not 256"),
		Field("name blank", Set("name", " "), "name must have 1 to 255 characters and not be blank"),
		Field("external_user_id too long", Set("external_user_id", long), "external_user_id must have at most 255 characters, not 256"),
		Field("external_user_id a number", Set("external_user_id", 7), "external_user_id must be a string"),
		Field("logout_url too long", Set("logout_url", "https://example.org/"+strings.Repeat("é", 236)), "logout_url must have at most 255 characters, not 256"),
		Field("webhook_url too long", Set("webhook_url", "https://example.org/"+strings.Repeat("é", 2029)), "webhook_url must have at most 2048 characters, not 2049"),
		Field("room_features a list", Set(features, []int{}), features+" must be an object"),
		Field("room_duration a string", Set(features+".room_duration", "60"), features+".room_duration must be an integer"),
		Field("room_duration -1", Set(features+".room_duration", -1), features+".room_duration must be between 0 and 1440, not -1"),
		Field("room_duration 1441", Set(features+".room_duration", 1441), features+".room_duration must be between 0 and 1440, not 1441"),
		Field("breakout_room_features a number", Set(features+".breakout_room_features", 4), features+".breakout_room_features must be an object"),
		Field("allowed_number_rooms a string", Set(rooms, "4"), rooms+" must be an integer"),
		Field("allowed_number_rooms -1", Set(rooms, -1), rooms+" must be between 0 and 16, not -1"),
		Field("allowed_number_rooms 17", Set(rooms, 17), rooms+" must be between 0 and 16, not 17"),
	)
}

// startRefusals are those of scheduled rooms besides.
func startRefusals() []Refusal {
	const form = "start_at must have the form YYYY-MM-DDTHH:MM, such as 2027-01-31T09:30, without seconds or offset, not "
	var list []Refusal
	for _, v := range []string{"", "2027-01-31", "2027-01-31T09:30Z", "2027-01-31T09:30:00", "2027-01-31T09:30+01:00", "2027-01-31 09:30", "2027-1-31T09:30",
		"2027-02-30T09:30", "2027-01-31T24:00", "2027-01-31T9:30", "2027-01-31T09:60", " 2027-01-31T09:30", "２027-01-31T09:30"} {
		list = append(list, Field("start_at "+v, Set("start_at", v), form+fmt.Sprintf("%q", v)))
	}
	return append(append(list, Scheduled()...),
		Field("start_at in the past", Set("start_at", "2020-01-31T09:30"), "start_at must be in the future, and 2020-01-31T09:30:00Z is past"),
		Field("start_at too far ahead", Set("start_at", "9999-01-31T09:30"), "start_at must be at most 366 days ahead, and 9999-01-31T09:30:00Z is later"),
		Field("external_user_id without a name", func(f map[string]any) { f["external_user_id"] = "7"; delete(f, "name") }, "name is required when external_user_id is given"),
		Field("external_user_id with an empty name", func(f map[string]any) { f["external_user_id"], f["name"] = "7", "" }, "name is required when external_user_id is given"),
	)
}

// quickRefusals are those of quick rooms besides.
func quickRefusals() []Refusal {
	return []Refusal{
		Field("name missing", Drop("name"), "name is required"),
		Field("name empty", Set("name", ""), "name must have 1 to 255 characters and not be blank"),
	}
}

func TestCreateScheduleVideoRoom(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/St_Johns")
	Must(t, err)
	b, handler := setup(t, Options{Zone: zone})
	c := contract.New(t, Description(t), handler)
	at := time.Now().Add(48 * time.Hour).Truncate(time.Minute).In(zone)
	full := fields(b)
	full["start_at"], full["max_participants"], full["empty_timeout"] = at.Format(minute), "007", "86400"
	full["external_user_id"] = strings.Repeat("é", 255)
	full["logout_url"] = "https://example.org/" + strings.Repeat("é", 235)
	full["webhook_url"] = "http://hooks.example.org:8443/x?y=z"
	full["client_room_id"] = strings.Repeat("ß", 255)
	Set("metadata.room_features", map[string]any{"room_duration": 90, "breakout_room_features": map[string]any{"allowed_number_rooms": 0, "is_allow": true},
		"chat_features": map[string]any{}, "a b\r\nX-Evil: 1": 1})(full)
	Set("metadata.default_lock_settings", map[string]any{"lock_chat": true})(full)
	Set("metadata.logout_url", "https://example.org")(full)
	body := Encode(t, full)
	answer := c.Do(t, http.MethodPost, scheduleVideo, Signed(b.Issued.APIKey, body), body)
	out := Fields(t, answer)
	id, _ := out["room_id"].(string)
	link, _ := out["final_link"].(string)
	want := map[string]any{"status": true, "message": "the room is scheduled", "room_type": "video", "start_time": at.Format(time.RFC3339),
		"room_id": id, "client_room_id": full["client_room_id"], "final_link": link}
	if answer.StatusCode != 200 || !maps.Equal(out, want) || !strings.HasPrefix(link, "https://meet.example.org/r/"+id+"#t=") {
		t.Fatalf("%d %v\nwant %v", answer.StatusCode, out, want)
	}
	const named = "metadata.default_lock_settings, metadata.logout_url, metadata.room_features.a_b__X-Evil__1, metadata.room_features.chat_features, " +
		"metadata.room_features.breakout_room_features.is_allow"
	if got := answer.Header.Get("X-Ignored-Fields"); got != named {
		t.Errorf("X-Ignored-Fields: %q\nwant %q", got, named)
	}
	if got := answer.Header.Values("X-Feature-Adjusted"); got != nil {
		t.Errorf("X-Feature-Adjusted: %q", got)
	}
	r, err := b.Rooms.Get(t.Context(), id)
	Must(t, err)
	if r.Type != room.Video || r.State != room.Scheduled || !r.StartAt.Equal(at) || r.MaxParticipants != 7 || r.EmptyTimeout != 24*time.Hour ||
		r.CreatorName != "Amina" || r.ExternalUserID != full["external_user_id"] || r.LogoutURL != full["logout_url"] || r.WebhookURL != full["webhook_url"] ||
		r.ClientRoomID != full["client_room_id"] || r.Duration != 90*time.Minute || r.BreakoutRooms != 0 {
		t.Errorf("stored: %+v", r)
	}

	t.Run("the least", func(t *testing.T) {
		least := fields(b)
		least["start_at"] = at.Format(minute)
		delete(least, "name")
		body := Encode(t, least)
		answer := c.Do(t, http.MethodPost, scheduleVideo, Signed(b.Issued.ProjectSecret, body), body)
		out := Fields(t, answer)
		r, err := b.Rooms.Get(t.Context(), fmt.Sprint(out["room_id"]))
		Must(t, err)
		if len(out) != 6 || answer.Header.Values("X-Ignored-Fields") != nil || r.Duration != 24*time.Hour || r.BreakoutRooms != 16 || r.CreatorName != "" {
			t.Errorf("%v %v %+v", out, answer.Header, r)
		}
	})
	t.Run("null and empty are absent", func(t *testing.T) {
		text := fmt.Sprintf(`{"project_id":%q,"start_at":%q,"max_participants":5,"empty_timeout":0,"name":null,"external_user_id":"","logout_url":"","webhook_url":null,
			"client_room_id":"","metadata":{"room_title":"T","welcome_message":"","room_features":{"room_duration":null,"breakout_room_features":null}}}`,
			strings.ToUpper(b.Project.ID), at.Format(minute))
		r := httptest.NewRequest(http.MethodPost, scheduleVideo, strings.NewReader(text))
		r.Header = Signed(b.Issued.APIKey, []byte(text))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != 200 || strings.Contains(w.Body.String(), "client_room_id") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
	t.Run("at most twenty names", func(t *testing.T) {
		f := fields(b)
		f["start_at"] = at.Format(minute)
		for i := range 30 {
			Set(fmt.Sprintf("metadata.room_features.feature_%d", i), true)(f)
		}
		body := Encode(t, f)
		answer := c.Do(t, http.MethodPost, scheduleVideo, Signed(b.Issued.APIKey, body), body)
		if n := strings.Count(answer.Header.Get("X-Ignored-Fields"), ","); n != 19 {
			t.Errorf("%d commas", n)
		}
	})
}

func TestGapsAndOverlapsOfTheSchedulingZone(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	Must(t, err)
	b := New(t)
	// The next jump forward within the horizon, whenever this runs.
	gap := time.Now().In(zone)
	for {
		_, end := gap.ZoneBounds()
		if gap = end; gap.IsDST() {
			break
		}
	}
	handler := Wrap(NewHandler(b.Rooms, b.Projects, b.Keys, hooks(b), time.Now, Options{Zone: zone}))
	f := fields(b)
	f["start_at"] = gap.Format("2006-01-02T") + "02:30"
	body := Encode(t, f)
	answer := contract.New(t, Description(t), handler).Do(t, http.MethodPost, scheduleVideo, Signed(b.Issued.APIKey, body), body)
	day := gap.Format("2006-01-02")
	Says(t, answer, 400, "start_at "+day+"T02:30 does not exist in Europe/Berlin: the clocks go from "+day+"T01:59 straight to "+day+"T03:00")
}

// small is a plan below the technical bounds.
type small struct{}

func (small) Entitlements(context.Context, project.Project) (room.Entitlements, error) {
	return room.Entitlements{MaxParticipants: 50, Duration: time.Hour, BreakoutRooms: 2}, nil
}

func TestFeaturesAreLoweredToThePlan(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, Options{})
	b.Rooms.UsePlans(small{})
	c := contract.New(t, Description(t), handler)
	f := fields(b)
	Set("metadata.room_features", map[string]any{"room_duration": 61, "breakout_room_features": map[string]any{"allowed_number_rooms": 3}})(f)
	body := Encode(t, f)
	header := Signed(b.Issued.APIKey, body)
	header.Set("Idempotency-Key", "k")
	for range 2 { // the second time from what was kept
		answer := c.Do(t, http.MethodPost, scheduleVideo, header, body)
		if got := answer.Header.Get("X-Feature-Adjusted"); answer.StatusCode != 200 || got != "room_duration, breakout_room_features.allowed_number_rooms" {
			t.Errorf("%d X-Feature-Adjusted: %q", answer.StatusCode, got)
		}
		r, err := b.Rooms.Get(t.Context(), fmt.Sprint(Fields(t, answer)["room_id"]))
		Must(t, err)
		if r.Duration != time.Hour || r.BreakoutRooms != 2 {
			t.Errorf("%+v", r)
		}
	}
	f["max_participants"] = 51
	body = Encode(t, f)
	Says(t, c.Do(t, http.MethodPost, scheduleVideo, Signed(b.Issued.APIKey, body), body), 400, "max_participants must be between 1 and 50, not 51")
}

func TestOneOfManyAtOnce(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, Options{})
	f := fields(b)
	f["client_room_id"] = "mine"
	statuses, made := AtOnce(t, handler, b.Issued.APIKey, scheduleVideo, "", Encode(t, f))
	if statuses[200] != 1 || statuses[409] != 31 || len(made) != 1 {
		t.Errorf("client_room_id: %v", statuses)
	}
	delete(f, "client_room_id")
	statuses, made = AtOnce(t, handler, b.Issued.APIKey, scheduleVideo, "once", Encode(t, f))
	if statuses[200] < 1 || statuses[200]+statuses[409] != 32 || len(made) != 1 {
		t.Errorf("Idempotency-Key: %v, %d rooms", statuses, len(made))
	}
}
