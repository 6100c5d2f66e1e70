package roomstest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/roomapi"
	"parley/internal/api/v5"
	"parley/internal/counter"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// CheckMeeting runs a meeting as a backend does: it opens the room early, creates
// links, reads the state, ends the room and reads its history.
func (f *MeetingFixture) CheckMeeting(t *testing.T) {
	Must(t, f.Projects.Configure(t.Context(), f.Project.ID, project.Settings{HiddenParticipants: true}))
	id := f.CreateScheduled(t)
	is := func(open bool, message string) {
		t.Helper()
		if out := f.MustCall(t, "/rooms/room_status?room_id="+strings.ToUpper(id), nil); out["status"] != open ||
			out["message"] != message {
			t.Errorf("room_status: got %v, want status %v, %q", out, open, message)
		}
	}
	is(false, "the room is scheduled")
	AssertError(t, f.Call(t, "/rooms/get_active_room_info?room_id="+id, nil), 404,
		"the room is scheduled, so nobody is in it")

	opened := f.MustCall(t, "/rooms/start_schedule_room",
		map[string]any{"room_id": id, "name": "Amina", "external_user_id": "4711"})
	if opened["status"] != true || opened["room_id"] != id || len(opened) != 3 {
		t.Errorf("start_schedule_room: got %v, want status true, room_id %s and a link", opened, id)
	}
	is(true, "the room is open")
	second := f.MustCall(t, "/rooms/start_schedule_room", map[string]any{"room_id": id, "name": "Zoe"})
	if second["final_link"] == opened["final_link"] {
		t.Errorf("links of two hosts: got %v twice, want two", second["final_link"])
	}

	join := func(name, user string, more map[string]any) string {
		info := map[string]any{"name": name, "client_user_id": user}
		maps.Copy(info, more)
		out := f.MustCall(t, "/rooms/join_room", map[string]any{"room_id": id, "user_info": info})
		if out["status"] != true || len(out) != 2 {
			t.Errorf("join_room for %s: got %v, want status true and a link", name, out)
		}
		return out["final_link"].(string)
	}
	invited := func(role string) string {
		out := f.MustCall(t, "/rooms/create_invitation_link", map[string]any{"room_id": id, "role": role})
		if out["status"] != true || out["invitation_link"] != out["invitation_url"] || len(out) != 3 {
			t.Errorf("create_invitation_link for %s: got %v, want status true and the same link twice", role, out)
		}
		return out["invitation_link"].(string)
	}
	amina := f.Join(t, opened["final_link"].(string), "Amina", 1)
	f.Now = f.Now.Add(10 * time.Second)
	bela := f.Join(t, join("Bela", "4712", nil), "Bela", 2)
	admin := f.Join(t, join("Ada", "4713", map[string]any{"is_admin": true}), "Ada", 3)
	viewer := invited("viewer")
	formula, again := f.Join(t, viewer, "=HYPERLINK(1)", 4), f.Join(t, viewer, "Dan", 5)
	link := invited("admin")
	cohost := f.Join(t, link, "Eve", 6)
	f.Join(t, join("Ghost", "4714", map[string]any{"is_hidden": true}), "Ghost", 7)
	for _, tc := range []struct {
		a    room.Admission
		role room.Role
	}{{amina, room.Host}, {bela, room.Guest}, {admin, room.Host}, {formula, room.Guest}, {again, room.Guest},
		{cohost, room.CoHost}} {
		if tc.a.Seat.Role != tc.role || tc.a.LinkStatus != room.LinkOK {
			t.Errorf("%s: got %s, link %s, want %s, link %s", tc.a.Seat.Name, tc.a.Seat.Role, tc.a.LinkStatus,
				tc.role, room.LinkOK)
		}
	}
	if taken := f.Join(t, link, "Mallory", 8); taken.LinkStatus != room.LinkTaken || taken.Seat.Role != room.Guest {
		t.Errorf("second use of an admin link: got %s, link %s, want %s, link %s", taken.Seat.Role, taken.LinkStatus,
			room.Guest, room.LinkTaken)
	} else {
		f.Leave(taken, 8)
	}
	is(true, "the room is active")
	f.checkActive(t, id)

	f.Now = f.Now.Add(90*time.Second + 7*time.Millisecond)
	f.Leave(bela, 2)
	f.Now = f.Now.Add(60 * time.Second)
	f.Join(t, join("Bela", "4712", map[string]any{"is_admin": false}), "Bela", 9) // from another browser
	f.Now = f.Now.Add(25 * time.Second)
	f.checkAnalytics(t, id, 25) // while it goes on
	if out := f.MustCall(t, "/rooms/end_room", map[string]any{"room_id": id}); out["status"] != true ||
		out["msg"] != "the room is over" || len(out) != 2 {
		t.Errorf("end_room: got %v, want status true and that the room is over", out)
	}
	f.Now = f.Now.Add(time.Hour)
	is(false, "the room is ended")
	AssertError(t, f.Call(t, "/rooms/join_room", map[string]any{"room_id": id,
		"user_info": map[string]any{"name": "Late"}}), 409, "the room is over already: its state is ended")
	f.checkAnalytics(t, id, 25)
	f.checkExport(t, id)
	f.checkPastRooms(t, id)
}

// checkActive checks the data of a room with six participants and a hidden one.
func (f *MeetingFixture) checkActive(t *testing.T, id string) {
	one := f.MustCall(t, "/rooms/get_active_room_info?room_id="+id, nil)
	result := one["result"].(map[string]any)
	info := result["room_info"].(map[string]any)
	var inside map[string]any
	Must(t, json.Unmarshal([]byte(info["metadata"].(string)), &inside))
	if info["room_id"] != id || info["room_title"] != "Standup" || info["sid"] != id+".1" ||
		info["joined_participants"] != "6" || info["is_running"] != 1.0 ||
		info["creation_time"] != fmt.Sprint(time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC).Unix()) ||
		info["webhook_url"] != "https://example.org/hook" || inside["welcome_message"] != "Hello" {
		t.Errorf("room_info: got %v, want Standup, session %s.1, running, created at 12:00, 6 participants", info, id)
	}
	people := result["participants_info"].([]any)
	var names []string
	for _, p := range people {
		names = append(names, p.(map[string]any)["name"].(string))
	}
	if want := []string{"Amina", "Bela", "Ada", "=HYPERLINK(1)", "Dan", "Eve"}; !slices.Equal(names, want) {
		t.Errorf("participants: got %q, want %q", names, want)
	}
	bela := people[1].(map[string]any)
	if bela["identity"] != "4712" || bela["sid"] != "PA_2" || bela["state"] != "ACTIVE" ||
		bela["is_publisher"] != true ||
		bela["joined_at"] != fmt.Sprint(f.Now.Unix()) || bela["metadata"].(map[string]any)["role"] != "guest" {
		t.Errorf("participant 2: got %v, want 4712, PA_2, ACTIVE, publisher, guest, joined at %d", bela, f.Now.Unix())
	}
	all := f.MustCall(t, "/rooms/get_active_rooms_info", nil)["response"].(map[string]any)
	found := 0
	for _, r := range all["rooms"].([]any) {
		if r.(map[string]any)["room_info"].(map[string]any)["room_id"] == id {
			found += len(r.(map[string]any)["participants_info"].([]any))
		}
	}
	if all["status"] != true || found != 6 {
		t.Errorf("get_active_rooms_info: got %d people in the room, want 6: %v", found, all)
	}
}

// checkAnalytics compares the sum of the analytics with the usage of version 5,
// which reads the same attendance.
func (f *MeetingFixture) checkAnalytics(t *testing.T, id string, last float64) {
	t.Helper()
	out := f.MustCall(t, "/analytics/get_analytics?room_id="+id, nil)
	durations := out["participant_durations"].(map[string]any)
	if durations["4711"] != 10+90.007+60+last || durations["4712"] != 90.007+last || len(durations) != 7 ||
		durations["4714"] != nil {
		t.Errorf("participant_durations: got %v, want 7, %v for 4711, %v for 4712, none for 4714", durations,
			10+90.007+60+last, 90.007+last)
	}
	sum := 0.0
	for _, d := range durations {
		sum += d.(float64)
	}
	if total := out["total_duration"].(float64); math.Abs(sum-total) > 1e-6 {
		t.Errorf("total_duration: got %v, want the sum %v", total, sum)
	}
	bela := out["participants"].([]any)[1].(map[string]any)
	if bela["identity"] != "4712" || bela["connections"] != 2.0 || bela["duration"] != 90.007+last {
		t.Errorf("participant 2: got %v, want 4712, 2 connections, duration %v", bela, 90.007+last)
	}
	if used, want := f.usedMinutes(t), math.Floor(sum/60*100+0.5)/100; used != want {
		t.Errorf("minutes of usage: got %v, want %v, the sum of the analytics", used, want)
	}
}

func (f *MeetingFixture) usedMinutes(t *testing.T) float64 {
	now := func() time.Time { return f.Now }
	reads := v5.NewHandler(f.Keys, usage.NewService(f.DB, usage.NoProvider{}, now),
		counter.New(f.DB, time.Now), time.Now, v5.Options{Skew: DefaultOptions.Skew})
	const target = "/api/v5/usage"
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header = V5SignedHeaders(f.Issued, http.MethodGet, target, "", nil)
	w := httptest.NewRecorder()
	WithMiddleware(reads).ServeHTTP(w, r)
	var out struct {
		Data struct {
			Totals struct {
				Minutes float64 `json:"participant_minutes"`
			} `json:"totals"`
		} `json:"data"`
	}
	Must(t, json.Unmarshal(w.Body.Bytes(), &out))
	return out.Data.Totals.Minutes
}

func (f *MeetingFixture) checkExport(t *testing.T, id string) {
	resp := f.Call(t, "/analytics/export_attendance?room_id="+id, nil)
	raw, err := io.ReadAll(resp.Body)
	Must(t, err)
	lines := strings.Split(string(raw), "\r\n")
	if resp.Header.Get("Content-Disposition") != `attachment; filename="attendance-`+id+`.csv"` ||
		!strings.HasPrefix(resp.Header.Get("Content-Type"), "text/csv") ||
		lines[0] != "\uFEFFroom_id,session,identity,name,role,joined_at,left_at,seconds,reason" || len(lines) != 10 {
		t.Fatalf("attendance-%s.csv: got %v\n%s\nwant text/csv with the header and 8 rows", id, resp.Header, raw)
	}
	want := id + "," + id + ".1,4712,Bela,guest,2026-06-15T12:00:10.000Z,2026-06-15T12:01:40.007Z,90.007,left"
	if lines[2] != want {
		t.Errorf("line 2: got %s\nwant %s", lines[2], want)
	}
	if !strings.Contains(lines[4], ",'=HYPERLINK(1),guest,") {
		t.Errorf("name with a formula: got %s, want it after an apostrophe", lines[4])
	}
	if strings.Contains(string(raw), "Ghost") {
		t.Errorf("export: got the hidden participant Ghost in\n%s\nwant none", raw)
	}
}

func (f *MeetingFixture) checkPastRooms(t *testing.T, id string) {
	cancelled := f.CreateScheduled(t)
	f.MustCall(t, "/rooms/end_room", map[string]any{"room_id": cancelled})
	list := func(fields map[string]any) (map[string]any, []any) {
		out := f.MustCall(t, "/rooms/fetch_past_rooms", fields)["rooms"].(map[string]any)
		return out, out["rooms_list"].([]any)
	}
	out, rooms := list(map[string]any{"room_ids": []string{strings.ToUpper(id), cancelled, unknownID, "mine\u0000"}})
	if out["total_rooms"] != "2" || out["from"] != 0.0 || out["limit"] != 20.0 || out["order_by"] != "DESC" ||
		len(rooms) != 2 {
		t.Fatalf("fetch_past_rooms: got %v, want two rooms, from 0, limit 20, DESC", out)
	}
	if first := rooms[0].(map[string]any); first["room_id"] != cancelled || first["room_sid"] != "" ||
		first["joined_participants"] != "0" {
		t.Errorf("first past room: got %v, want %s, which ended last, without a session", first, cancelled)
	}
	want := map[string]any{"room_id": id, "room_sid": id + ".1", "room_title": "Standup",
		"created": "2026-06-15T12:00:00.000Z", "ended": "2026-06-15T12:03:05.007Z",
		"joined_participants": "7", "analytics_file_id": "", "webhook_url": "https://example.org/hook"}
	if got := rooms[1].(map[string]any); !maps.Equal(got, want) {
		t.Errorf("second past room: got %v\nwant %v", got, want)
	}
	out, rooms = list(map[string]any{"room_ids": []string{id, cancelled}, "from": 1, "limit": 1, "order_by": "ASC"})
	if out["total_rooms"] != "2" || len(rooms) != 1 || rooms[0].(map[string]any)["room_id"] != cancelled {
		t.Errorf("second of two past rooms, ASC: got %v, want %s", out, cancelled)
	}
	for _, ids := range [][]string{{"mine"}, {}} {
		if out, rooms = list(map[string]any{"room_ids": ids}); out["total_rooms"] != "0" || len(rooms) != 0 {
			t.Errorf("past rooms with the IDs %v: got %v, want none", ids, out)
		}
	}

	page := f.MustCall(t, "/rooms/list_rooms?limit=1", nil)
	newest := page["rooms"].([]any)[0].(map[string]any)
	if newest["room_id"] != cancelled || newest["state"] != "cancelled" || page["next_cursor"] != cancelled {
		t.Errorf("list_rooms, limit 1: got %v, want %s, cancelled, and it as next_cursor", page, cancelled)
	}
	page = f.MustCall(t, "/rooms/list_rooms?limit=999&state=ended&cursor="+cancelled, nil)
	ended := page["rooms"].([]any)[0].(map[string]any)
	if ended["room_id"] != id || ended["end_reason"] != "api" || ended["room_type"] != "video" ||
		page["next_cursor"] != nil {
		t.Errorf("list_rooms, ended: got %v, want %s, video, ended by api, and no next_cursor", page, id)
	}
}

// CheckReschedule reschedules a room and checks that it opens at the new time.
func (f *MeetingFixture) CheckReschedule(t *testing.T) {
	created, err := f.LiveRooms.Schedule(t.Context(), f.Project, f.roomRequest(f.Now.Add(time.Hour)), nil)
	Must(t, err)
	before := f.eventTypes(t, created.ID)
	at := f.Now.Add(3 * time.Hour).Truncate(time.Minute)
	fields := map[string]any{"room_id": created.ID, "start_at": f.StartAt(at), "max_participants": 3,
		"client_room_id": "x",
		"metadata":       map[string]any{"room_title": "Later", "welcome_message": ""}}
	resp := f.Call(t, "/rooms/reschedule_room", fields)
	out := DecodeFields(t, resp)
	link, _ := out["final_link"].(string)
	if resp.StatusCode != 200 || out["status"] != true || out["message"] != "the room is scheduled" ||
		out["room_type"] != "video" ||
		out["start_time"] != at.Format(time.RFC3339) || out["room_id"] != created.ID || (link != "") != f.ReturnsLink ||
		resp.Header.Get("X-Ignored-Fields") != "client_room_id" {
		t.Errorf("reschedule_room: got %d %v %v, want 200, scheduled at %s, a link %v, client_room_id ignored",
			resp.StatusCode, out, resp.Header, at.Format(time.RFC3339), f.ReturnsLink)
	}
	r, err := f.LiveRooms.Get(t.Context(), created.ID)
	Must(t, err)
	if !r.StartAt.Equal(at) || !r.DueAt.Equal(at) || r.State != room.Scheduled || r.MaxParticipants != 3 ||
		r.Title != "Later" || r.WelcomeMessage != "Hello" ||
		r.EmptyTimeout != 300*time.Second || r.CreatorName != "Amina" || r.ExternalUserID != "4711" {
		t.Errorf("stored room: got %+v, want scheduled at %s, 3 participants, Later, and the rest unchanged", r, at)
	}
	if after := f.eventTypes(t, created.ID); len(after) != len(before)+1 || after[len(after)-1] != "room.scheduled" {
		t.Errorf("events: got %v, want %v and room.scheduled", after, before)
	}
	f.Now = at
	if host := f.Join(t, created.FinalLink, "Amina", 1); host.Seat.Role != room.Host {
		t.Errorf("role by the first link: got %s, want %s", host.Seat.Role, room.Host)
	}
	f.Now = f.Now.Add(2 * time.Minute)
	AssertError(t, f.Call(t, "/rooms/reschedule_room", fields), 400,
		"start_at must be in the future, and "+at.Format(time.RFC3339)+" is past")
	delete(fields, "start_at")
	AssertError(t, f.Call(t, "/rooms/reschedule_room", fields), 409,
		"only a scheduled room can be rescheduled, and this one is active")
}

func (f *MeetingFixture) eventTypes(t *testing.T, id string) []string {
	all, err := storetest.Events(t.Context(), f.DB, id)
	Must(t, err)
	var kinds []string
	for _, e := range all {
		kinds = append(kinds, string(e.Type))
	}
	return kinds
}

// CheckBodySignatures checks the signatures of older clients, which the operator
// can allow.
func (f *MeetingFixture) CheckBodySignatures(t *testing.T) {
	other, _ := f.CreateProject(t)
	elsewhere, err := f.LiveRooms.CreateQuick(t.Context(), other, f.roomRequest(time.Time{}), nil)
	Must(t, err)
	id := f.CreateQuick(t)
	post, get := EncodeJSON(t, map[string]any{"room_id": id, "role": "viewer"}),
		f.Prefix+"/rooms/room_status?room_id="+id
	call := func(method, target string, body []byte, signer, message string, keys map[string]string) int {
		header := http.Header{"Content-Type": {"application/json"},
			"Hash-Signature": {sign.Legacy(signer, []byte(message))}}
		for name, k := range keys {
			header[name] = []string{k}
		}
		return f.Checker.Do(t, method, target, header, body).StatusCode
	}
	secret, apiKey := f.Issued.ProjectSecret.Reveal(), f.Issued.APIKey.Reveal()
	route := f.Prefix + "/rooms/create_invitation_link"
	own := map[string]string{"Api-Key": apiKey}
	options := DefaultOptions
	options.BodySignatures = true
	for _, tc := range []struct {
		name                           string
		method, target, signer, signed string
		body                           []byte
		keys                           map[string]string
		status                         int
	}{
		{"a body", http.MethodPost, route, secret, string(post), post, own, 200},
		{"path and query", http.MethodGet, get, secret, get, nil, own, 200},
		{"the older name of the key", http.MethodGet, get, secret, get, nil, map[string]string{"Key": apiKey}, 200},
		{"both names", http.MethodGet, get, secret, get, nil, map[string]string{"Key": apiKey, "Api-Key": apiKey}, 200},
		{"an unknown older key beside", http.MethodGet, get, secret, get, nil,
			map[string]string{"Key": "pk_other", "Api-Key": apiKey}, 401},
		{"the API key signs", http.MethodPost, route, apiKey, string(post), post, own, 401},
		{"no key", http.MethodPost, route, secret, string(post), post, nil, 401},
		{"an unknown key", http.MethodPost, route, secret, string(post), post, map[string]string{"Api-Key": "pk_other"},
			401},
		{"another query", http.MethodGet, get + "&x=y", secret, get, nil, own, 401},
		{"a body beside a GET", http.MethodGet, get, secret, "{}", []byte("{}"), own, 401},
		{"a room of another project", http.MethodGet, f.Prefix + "/rooms/room_status?room_id=" + elsewhere.ID, secret,
			f.Prefix + "/rooms/room_status?room_id=" + elsewhere.ID, nil, own, 404},
	} {
		f.Checker.WithHandler(WithMiddleware(f.Serve(f.LiveRooms, roomapi.Limits{}, options)), func() {
			if status := call(tc.method, tc.target, tc.body, tc.signer, tc.signed, tc.keys); status != tc.status {
				t.Errorf("%s: got %d, want %d", tc.name, status, tc.status)
			}
		})
		f.Checker.WithHandler(WithMiddleware(f.Serve(f.LiveRooms, roomapi.Limits{},
			roomapi.Options{Skew: DefaultOptions.Skew})), func() {
			if status := call(tc.method, tc.target, tc.body, tc.signer, tc.signed, tc.keys); status != 401 {
				t.Errorf("%s, with body signatures turned off: got %d, want 401", tc.name, status)
			}
		})
	}
	f.Checker.WithHandler(WithMiddleware(f.Serve(f.LiveRooms, roomapi.Limits{}, options)), func() {
		f.MustCall(t, "/rooms/room_status?room_id="+id, nil) // signatures with a time are still accepted
		stale := V5SignedHeaders(f.Issued, http.MethodGet, get, "", nil)
		stale.Set("Timestamp", "1700000000")
		AssertError(t, f.Checker.Do(t, http.MethodGet, get, stale, nil), 401, "invalid signature")
	})
}
