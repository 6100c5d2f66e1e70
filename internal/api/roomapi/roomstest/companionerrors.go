package roomstest

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/roomapi"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
)

const (
	unknownID    = "01890000-0000-7000-8000-000000000000"
	roomNotFound = "there is no such room"
)

// operation is one route with a valid call.
type operation struct {
	route              string                                               // with its query
	fields             func(t testing.TB, f *MeetingFixture) map[string]any // of the body; nil is a GET
	roomLocation       string                                               // of room_id: "body", "query", "path" or ""
	needsActiveProject bool                                                 // requires an active project
	idempotent         bool                                                 // accepts an Idempotency-Key
	endedMessage       string                                               // the error for a room that is over, if any
	errorCases         []ErrorCase                                          // of fields
	invalidQueries     map[string]string                                    // wrong queries and their errors
}

func withScheduledRoom(more map[string]any) func(testing.TB, *MeetingFixture) map[string]any {
	return func(t testing.TB, f *MeetingFixture) map[string]any {
		fields := map[string]any{"room_id": f.CreateScheduled(t)}
		for name, v := range more {
			fields[name] = v
		}
		return fields
	}
}

func (f *MeetingFixture) operations() []operation {
	long := strings.Repeat("é", 256)
	const over = "the room is over already: its state is ended"
	person := func() map[string]any { return map[string]any{"name": "Bela", "client_user_id": "4712"} }
	inRoom := map[string]string{"": "room_id is required in the query",
		"?room_id=a&room_id=b": "room_id must be sent at most once",
		"?room_id=%zz":         "room_id in the query is not percent-encoded correctly"}
	all := []operation{
		{route: "/rooms/start_schedule_room",
			fields:       withScheduledRoom(map[string]any{"name": "Amina", "external_user_id": "4711"}),
			roomLocation: "body", needsActiveProject: true, idempotent: true, endedMessage: over,
			errorCases: []ErrorCase{
				FieldCase("name missing", RemoveField("name"), "name is required"),
				FieldCase("name blank", SetField("name", " "), "name must have 1 to 255 characters and not be blank"),
				FieldCase("name too long", SetField("name", long), "name must have at most 255 characters, not 256"),
				FieldCase("external_user_id of somebody else", SetField("external_user_id", "4712"),
					"external_user_id cannot first be assigned at start: "+
						"leave it out, or send that of the room's creation"),
				FieldCase("external_user_id a number", SetField("external_user_id", 4711),
					"external_user_id must be a string"),
			}},
		{route: "/rooms/join_room", roomLocation: "body", needsActiveProject: true, idempotent: true,
			endedMessage: over,
			fields: func(t testing.TB, f *MeetingFixture) map[string]any {
				return withScheduledRoom(map[string]any{"user_info": person()})(t, f)
			}, errorCases: append(expiryCases(),
				FieldCase("user_info missing", RemoveField("user_info"), "user_info is required"),
				FieldCase("user_info a text", SetField("user_info", "Bela"), "user_info must be an object"),
				FieldCase("name missing", SetField("user_info.name", nil), "user_info.name is required"),
				FieldCase("name blank", SetField("user_info.name", ""),
					"user_info.name must have 1 to 255 characters and not be blank"),
				FieldCase("name too long", SetField("user_info.name", long),
					"user_info.name must have at most 255 characters, not 256"),
				FieldCase("client_user_id too long", SetField("user_info.client_user_id", long),
					"user_info.client_user_id must have at most 255 characters, not 256"),
				FieldCase("is_admin a text", SetField("user_info.is_admin", "true"),
					"user_info.is_admin must be true or false"),
				ErrorCase{Name: "hidden", Change: SetField("user_info.is_hidden", true), Status: 403,
					Message: "user_info.is_hidden needs the project's setting hidden_participants, which is off"},
			)},
		{route: "/rooms/create_invitation_link",
			fields: withScheduledRoom(map[string]any{"role": "viewer", "user_id": "4712"}), roomLocation: "body",
			needsActiveProject: true, idempotent: true, endedMessage: over, errorCases: append(expiryCases(),
				FieldCase("role missing", RemoveField("role"), "role is required"),
				FieldCase("role of nobody", SetField("role", "host"), "role must be admin or viewer"),
				FieldCase("role a number", SetField("role", 1), "role must be a string"),
				FieldCase("user_id too long", SetField("user_id", long),
					"user_id must have at most 255 characters, not 256"),
			)},
		{route: "/rooms/simulate_meeting", roomLocation: "body", needsActiveProject: true, idempotent: true,
			endedMessage: over,
			fields: func(t testing.TB, f *MeetingFixture) map[string]any {
				return map[string]any{"room_id": f.CreateQuick(t), "seconds": 1, "people": []any{person()}}
			}, errorCases: []ErrorCase{
				FieldCase("seconds 0", SetField("seconds", 0), "seconds must be between 1 and 60, not 0"),
				FieldCase("seconds 61", SetField("seconds", 61), "seconds must be between 1 and 60, not 61"),
				FieldCase("seconds a text", SetField("seconds", "10"), "seconds must be an integer"),
				FieldCase("nobody", SetField("people", []any{}), "people must have 1 to 20 entries, not 0"),
				FieldCase("21 people", SetField("people", make([]map[string]any, 21)), "people must be a list of objects"),
				FieldCase("people an object", SetField("people", person()), "people must be a list of objects"),
				FieldCase("a name in people", SetField("people", []any{person(), "Bela"}), "people must be a list of objects"),
				FieldCase("a person without a name", SetField("people", []any{person(), map[string]any{}}),
					"people[1].name is required"),
				FieldCase("a blank name", SetField("people", []any{map[string]any{"name": " "}}),
					"people[0].name must have 1 to 255 characters and not be blank"),
				FieldCase("a long ID", SetField("people", []any{map[string]any{"name": "Bela", "client_user_id": long}}),
					"people[0].client_user_id must have at most 255 characters, not 256"),
				FieldCase("is_admin a text", SetField("people", []any{map[string]any{"name": "Bela", "is_admin": "yes"}}),
					"people[0].is_admin must be true or false"),
				FieldCase("one ID twice", SetField("people", []any{person(), person()}),
					"people[1].client_user_id must be different from that of the other people"),
				{Name: "more people than seats", Change: SetField("people", tenPeople()), Status: 409,
					Message: "people must have at most 9 entries, because the room has 9 seats, of which 0 are taken"},
			}},
		{route: "/rooms/room_status", roomLocation: "query", invalidQueries: inRoom},
		{route: "/rooms/get_active_room_info", roomLocation: "query", invalidQueries: inRoom},
		{route: "/rooms/get_active_rooms_info"},
		{route: "/rooms/end_room", fields: withScheduledRoom(nil), roomLocation: "body", endedMessage: over},
		{route: "/rooms/fetch_past_rooms", fields: func(testing.TB,
			*MeetingFixture) map[string]any {
			return map[string]any{}
		}, errorCases: []ErrorCase{
			FieldCase("limit 0", SetField("limit", 0), "limit must be between 1 and 100, not 0"),
			FieldCase("limit 101", SetField("limit", 101), "limit must be between 1 and 100, not 101"),
			FieldCase("limit a text", SetField("limit", "20"), "limit must be an integer"),
			FieldCase("from -1", SetField("from", -1), "from must be between 0 and 1000000000, not -1"),
			FieldCase("order_by", SetField("order_by", "desc"), "order_by must be ASC or DESC"),
			FieldCase("room_ids a text", SetField("room_ids", unknownID), "room_ids must be a list of strings"),
			FieldCase("101 room_ids", SetField("room_ids", make([]string, 101)),
				"room_ids must have at most 100 entries, not 101"),
		}},
		{route: "/rooms/list_rooms", invalidQueries: map[string]string{
			"?limit=0":            "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"?limit=-1":           "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"?limit=":             "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"?limit=5&limit=5":    "limit must be sent at most once",
			"?cursor=x":           "cursor must be the next_cursor of an earlier response",
			"?state=full":         `state must be scheduled, open, active, ended, cancelled or expired, not "full"`,
			"?x=%zz&cursor=%00":   "cursor must be the next_cursor of an earlier response",
			"?state=ended&state=": "state must be sent at most once",
		}},
		{route: "/rooms/reschedule_room", roomLocation: "body", needsActiveProject: true, idempotent: true,
			endedMessage: "only a scheduled room can be rescheduled, and this one is ended",
			fields: func(t testing.TB, f *MeetingFixture) map[string]any {
				return withScheduledRoom(map[string]any{"start_at": f.StartAt(f.Now.Add(2 * time.Hour)),
					"metadata": map[string]any{"room_title": "Later"}})(t, f)
			}, errorCases: []ErrorCase{
				FieldCase("start_at wrong", SetField("start_at", "tomorrow"), f.InvalidStartMessage+`"tomorrow"`),
				FieldCase("start_at in the past", SetField("start_at", "2020-01-31T09:30"),
					"start_at must be in the future, and 2020-01-31T09:30:00Z is past"),
				FieldCase("max_participants 0", SetField("max_participants", 0),
					"max_participants must be between 1 and 1000, not 0"),
				FieldCase("empty_timeout 86401", SetField("empty_timeout", 86401),
					"empty_timeout must be between 0 and 86400, not 86401"),
				FieldCase("room_title too long", SetField("metadata.room_title", long),
					"metadata.room_title must have at most 255 characters, not 256"),
				FieldCase("metadata a list", SetField("metadata", []int{}), "metadata must be an object"),
			}},
		{route: "/analytics/get_analytics", roomLocation: "query", invalidQueries: inRoom},
		{route: "/analytics/export_attendance", roomLocation: "query", invalidQueries: inRoom},
	}
	if f.HasEvents {
		const wrongAfter, wrongLimit = "after must be a whole number from 0 to 9007199254740991, in digits",
			"limit must be a whole number of at least 1, in digits; more than 100 means 100"
		all = append(all, operation{route: "/rooms/{room_id}/events", roomLocation: "path",
			invalidQueries: map[string]string{
				"?after=":                        wrongAfter,
				"?after=-1":                      wrongAfter,
				"?after=%2B1":                    wrongAfter,
				"?after=1.0":                     wrongAfter,
				"?after=9007199254740992":        wrongAfter,
				"?after=99999999999999999999999": wrongAfter,
				"?after=%zz":                     "after in the query is not percent-encoded correctly",
				"?after=1&after=1":               "after must be sent at most once",
				"?after=1&limit=0":               wrongLimit,
				"?limit=":                        wrongLimit,
				"?limit=1e2":                     wrongLimit,
				"?limit=1&limit=2":               "limit must be sent at most once",
			}})
	}
	return all
}

func tenPeople() (people []any) {
	for range 10 {
		people = append(people, map[string]any{"name": "Bela"})
	}
	return people
}

func expiryCases() []ErrorCase {
	return []ErrorCase{
		FieldCase("expires_in -1", SetField("expires_in", -1), "expires_in must be between 0 and 31622400, not -1"),
		FieldCase("expires_in beyond what a duration holds", SetField("expires_in", 9223372036854775807),
			"expires_in must be between 0 and 31622400"),
		FieldCase("expires_in a text", SetField("expires_in", "60"), "expires_in must be an integer"),
	}
}

// request is a call that a test can change before it is sent.
type request struct {
	method, target string
	body           []byte
	key            string
}

func (o operation) validRequest(t testing.TB, f *MeetingFixture) request {
	s := request{method: http.MethodGet, target: f.Prefix + o.route}
	if o.fields != nil {
		s.method, s.body = http.MethodPost, EncodeJSON(t, o.fields(t, f))
	}
	switch o.roomLocation {
	case "query":
		s.target += "?room_id=" + f.CreateQuick(t)
	case "path":
		s.target = withPathRoom(s.target, f.CreateQuick(t))
	}
	return s
}

func withPathRoom(route, id string) string { return strings.Replace(route, "{room_id}", id, 1) }

// requestFor returns the call for another room.
func (o operation) requestFor(t testing.TB, f *MeetingFixture, id string) request {
	s := o.validRequest(t, f)
	switch o.roomLocation {
	case "query":
		s.target = f.Prefix + o.route + "?room_id=" + id
	case "path":
		s.target = withPathRoom(f.Prefix+o.route, id)
	default:
		fields := o.fields(t, f)
		fields["room_id"] = id
		s.body = EncodeJSON(t, fields)
	}
	return s
}

func (f *MeetingFixture) send(t testing.TB, s request, change func(http.Header)) *http.Response {
	t.Helper()
	header := V5SignedHeaders(f.Issued, s.method, s.target, s.key, s.body)
	if change != nil {
		change(header)
	}
	return f.Checker.Do(t, s.method, s.target, header, s.body)
}

// CheckErrors checks every documented response of every route.
func (f *MeetingFixture) CheckErrors(t *testing.T) {
	other, issued := f.CreateProject(t)
	elsewhere, err := f.LiveRooms.CreateQuick(t.Context(), other, f.roomRequest(time.Time{}), nil)
	Must(t, err)
	for _, op := range f.operations() {
		t.Run(strings.Trim(op.route, "/"), func(t *testing.T) {
			if resp := f.send(t, op.validRequest(t, f), nil); resp.StatusCode != 200 {
				t.Fatalf("valid call: got %d %s, want 200", resp.StatusCode, ErrorMessage(t, resp))
			}
			f.checkSignatures(t, op, issued)
			f.checkBodies(t, op)
			for _, wrong := range op.errorCases {
				t.Run(wrong.Name, func(t *testing.T) {
					s := op.validRequest(t, f)
					s.body = wrong.BuildBody(t, f.Fixture, op.fields(t, f))
					AssertError(t, f.send(t, s, nil), wrong.Status, wrong.Message)
				})
			}
			for query, sentence := range op.invalidQueries {
				AssertError(t, f.send(t, request{method: http.MethodGet,
					target: withPathRoom(f.Prefix+op.route, unknownID) + query}, nil), 400, sentence)
			}
			if op.roomLocation != "" {
				for _, id := range []string{unknownID, "mine", "%00", elsewhere.ID, strings.ToUpper(elsewhere.ID)} {
					AssertError(t, f.send(t, op.requestFor(t, f, id), nil), 404, roomNotFound)
				}
			}
			if op.endedMessage != "" {
				id := f.CreateQuick(t)
				_, err := f.LiveRooms.End(t.Context(), id, room.EndedAPI)
				Must(t, err)
				AssertError(t, f.send(t, op.requestFor(t, f, id), nil), 409, op.endedMessage)
			}
			if op.idempotent {
				f.checkIdempotencyKey(t, op)
			}
			f.checkProjectStatus(t, op)
			f.checkRateLimits(t, op)
			f.checkServerErrors(t, op)
		})
	}
}

// checkSignatures checks calls with wrong signatures.
func (f *MeetingFixture) checkSignatures(t *testing.T, op operation, other key.IssuedCredentials) {
	s := op.validRequest(t, f)
	signed := func(secret, method, target, at, once string) func(http.Header) {
		return func(header http.Header) {
			header.Set("Timestamp", at)
			header.Set("Hash-Signature", sign.V5(secret, method, target, at, once, s.body))
		}
	}
	secret, now := f.Issued.GatewaySecret.Reveal(), sign.FormatTimestamp(time.Now())
	for name, change := range map[string]func(http.Header){
		"another secret":            signed("gs_other", s.method, s.target, now, ""),
		"the API key as the secret": signed(f.Issued.APIKey.Reveal(), s.method, s.target, now, ""),
		"another project's secret":  signed(other.GatewaySecret.Reveal(), s.method, s.target, now, ""),
		"another method":            signed(secret, "PUT", s.target, now, ""),
		"another target":            signed(secret, s.method, s.target+"?", now, ""),
		"a stale timestamp": signed(secret, s.method, s.target,
			sign.FormatTimestamp(time.Now().Add(-302*time.Second)), ""),
		"a timestamp too far ahead": signed(secret, s.method, s.target,
			sign.FormatTimestamp(time.Now().Add(302*time.Second)), ""),
		"milliseconds":                signed(secret, s.method, s.target, now+"000", ""),
		"an Idempotency-Key not sent": signed(secret, s.method, s.target, now, "once"),
		"an unknown key":              func(header http.Header) { header.Set("Api-Key", "pk_other") },
		"another project's key":       func(header http.Header) { header.Set("Api-Key", other.APIKey.Reveal()) },
		"no key":                      func(header http.Header) { header.Del("Api-Key") },
		"no timestamp":                func(header http.Header) { header.Del("Timestamp") },
		"no signature":                func(header http.Header) { header.Del("Hash-Signature") },
		"two timestamps":              func(header http.Header) { header.Add("Timestamp", now) },
		"two signatures": func(header http.Header) {
			header.Add("Hash-Signature",
				header.Get("Hash-Signature"))
		},
		"two keys": func(header http.Header) { header.Add("Api-Key", header.Get("Api-Key")) },
		"a body signature": func(header http.Header) {
			header.Del("Timestamp")
			message := s.body
			if s.method == http.MethodGet {
				message = []byte(s.target)
			}
			header.Set("Hash-Signature", sign.Legacy(f.Issued.ProjectSecret.Reveal(), message))
		},
	} {
		t.Run(name, func(t *testing.T) { AssertError(t, f.send(t, s, change), 401, "invalid signature") })
	}
	if s.method == http.MethodPost { // an Idempotency-Key is signed with the rest
		AssertError(t, f.send(t, s, func(header http.Header) { header.Set("Idempotency-Key", "once") }), 401,
			"invalid signature")
	}
}

// checkBodies checks wrong methods, content types and bodies.
func (f *MeetingFixture) checkBodies(t *testing.T, op operation) {
	s := op.validRequest(t, f)
	takes := map[string]string{http.MethodGet: "GET, HEAD", http.MethodPost: "POST"}[s.method]
	AssertError(t, f.Checker.Do(t, http.MethodPut, s.target, nil, nil), 405, "this path takes "+takes+", not PUT")
	if s.method == http.MethodGet {
		s.body = make([]byte, 65537)
		AssertError(t, f.send(t, s, nil), 413, "the body must not be larger than 65536 bytes")
		return
	}
	for _, wrong := range TransportCases() {
		t.Run(wrong.Name, func(t *testing.T) {
			s := op.validRequest(t, f)
			s.body = wrong.BuildBody(t, f.Fixture, op.fields(t, f))
			AssertError(t, f.send(t, s, func(header http.Header) {
				if wrong.Header != nil {
					wrong.Header(f.Fixture, header, s.body)
				}
			}), wrong.Status, wrong.Message)
		})
	}
	for body, sentence := range map[string]string{
		"":                              "the body is empty: send a JSON object",
		"[]":                            "the body must be a JSON object",
		`{"room_id":"a","room_id":"b"}`: "the body has a field twice: room_id"} {
		s.body = []byte(body)
		AssertError(t, f.send(t, s, nil), 400, sentence)
	}
}

// checkIdempotencyKey repeats a creation.
func (f *MeetingFixture) checkIdempotencyKey(t *testing.T, op operation) {
	s := op.validRequest(t, f)
	s.key = "first " + op.route
	first, again := f.send(t, s, nil), f.send(t, s, nil)
	if a, b := EncodeJSON(t, DecodeFields(t, first)), EncodeJSON(t, DecodeFields(t, again)); first.StatusCode != 200 ||
		again.StatusCode != 200 || string(a) != string(b) {
		t.Errorf("a repeated request: got %d %s, then %d %s, want the same response twice",
			first.StatusCode, a, again.StatusCode, b)
	}
	s.body = op.validRequest(t, f).body
	AssertError(t, f.send(t, s, nil), 422, "this Idempotency-Key was used with another body")
	s.key = strings.Repeat("k", 256)
	AssertError(t, f.send(t, s, nil), 400, "the header Idempotency-Key must have 1 to 255 printable ASCII characters")
	s.key = "a, b" // is how two headers are signed
	AssertError(t, f.send(t, s, func(header http.Header) { header["Idempotency-Key"] = []string{"a", "b"} }), 400,
		"the header Idempotency-Key must be sent at most once")
	s.key = "running"
	end, err := f.LiveRooms.BeginIdempotent(t.Context(),
		&room.IdempotencyKey{ProjectID: f.Project.ID, Route: f.Prefix + op.route, Key: s.key})
	Must(t, err)
	resp := f.send(t, s, nil)
	AssertError(t, resp, 409, "a request with this Idempotency-Key is still under way, try again in a moment")
	if got := resp.Header.Get("Retry-After"); got != "1" {
		t.Errorf("got Retry-After %q, want 1", got)
	}
	end()
}

// checkProjectStatus checks calls for inactive and suspended projects.
func (f *MeetingFixture) checkProjectStatus(t *testing.T, op operation) {
	s := op.validRequest(t, f)
	Must(t, f.Projects.SetStatus(t.Context(), f.Project.ID, project.Inactive))
	if resp := f.send(t, s, nil); op.needsActiveProject {
		AssertError(t, resp, 403, "the project is inactive")
	} else if resp.StatusCode != 200 {
		t.Errorf("inactive project: got %d %s, want 200", resp.StatusCode, ErrorMessage(t, resp))
	}
	Must(t, f.Projects.SetStatus(t.Context(), f.Project.ID, project.Active))
	Must(t, f.Projects.Suspend(t.Context(), f.Project.ID))
	AssertError(t, f.send(t, s, nil), 403, "the project is suspended")
	AssertError(t, f.send(t, s, func(header http.Header) { header.Set("Hash-Signature", "00") }), 401,
		"invalid signature")
	Must(t, f.Projects.Resume(t.Context(), f.Project.ID))
}

func (f *MeetingFixture) checkRateLimits(t *testing.T, op operation) {
	s := op.validRequest(t, f)
	wrong := func(header http.Header) { header.Set("Hash-Signature", "00") }
	reads := op.fields == nil || op.route == "/rooms/fetch_past_rooms"
	f.withRooms(f.LiveRooms, roomapi.Limits{Writes: limiterExhaustedIf(!reads), Reads: limiterExhaustedIf(reads)},
		func() {
			AssertError(t, f.send(t, s, nil), 429, "too many calls with this key, try again later")
			AssertError(t, f.send(t, s, wrong), 401, "invalid signature")
		})
	f.withRooms(f.LiveRooms, roomapi.Limits{Writes: limiterExhaustedIf(reads), Reads: limiterExhaustedIf(!reads),
		Failures: ExhaustedLimiter{}}, func() {
		const tooManyFailures = "too many failed authentications from your address, try again later"
		AssertError(t, f.send(t, s, wrong), 429, tooManyFailures)
		for _, offset := range []time.Duration{-time.Hour, time.Hour} {
			at := sign.FormatTimestamp(time.Now().Add(offset))
			signed := func(secret string) func(http.Header) {
				return func(header http.Header) {
					header.Set("Timestamp", at)
					header.Set("Hash-Signature", sign.V5(secret, s.method, s.target, at, "", s.body))
				}
			}
			wrongClock := signed(f.Issued.GatewaySecret.Reveal())
			AssertError(t, f.send(t, s, wrongClock), 401, "invalid signature")
			AssertError(t, f.send(t, s, signed("gs_other")), 429, tooManyFailures)
			twice := func(header http.Header) { wrongClock(header); header.Add("Timestamp", at) }
			AssertError(t, f.send(t, s, twice), 429, tooManyFailures)
		}
		if resp := f.send(t, op.validRequest(t, f), nil); resp.StatusCode != 200 {
			t.Errorf("valid call: got %d, want 200", resp.StatusCode)
		}
	})
	if f.EndedHandler != nil {
		f.Checker.WithHandler(WithMiddleware(f.EndedHandler), func() {
			AssertError(t, f.send(t, s, nil), 410, "version 3 ended on 2026-01-31, use version 4")
		})
	}
}

func (f *MeetingFixture) checkServerErrors(t *testing.T, op operation) {
	s := op.validRequest(t, f)
	f.withRooms(FailingService{Err: errors.New("secret cause")}, roomapi.Limits{},
		func() { AssertError(t, f.send(t, s, nil), 500, "internal error") })
	f.withRooms(FailingService{Err: ErrDatabaseDown}, roomapi.Limits{},
		func() { AssertError(t, f.send(t, s, nil), 503, ErrDatabaseDown.Message) })
}

func (f *MeetingFixture) withRooms(service MeetingRooms, limits roomapi.Limits, work func()) {
	f.Checker.WithHandler(WithMiddleware(f.Serve(service, limits, DefaultOptions)), work)
}

func limiterExhaustedIf(spent bool) roomapi.RateLimiter {
	return &StubLimiter{AllowAll: !spent}
}
