package companiontest

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/client/sign"
	"parley/internal/api/legacy"
	"parley/internal/api/legacy/legacytest"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
)

const (
	nobody = "01890000-0000-7000-8000-000000000000"
	noRoom = "there is no such room"
)

// operation is one route with a call that is right.
type operation struct {
	route  string                                      // with its query
	fields func(t testing.TB, h *House) map[string]any // of the body; nil is a GET
	room   string                                      // where the room stands: "body", "query", "path" or nowhere
	admits bool                                        // needs a project that admits
	once   bool                                        // takes an Idempotency-Key
	over   string                                      // what is said of a room that is over; "" where it is no matter
	wrong  []legacytest.Refusal                        // of fields
	query  map[string]string                           // wrong queries and what is said of them
}

func withRoom(more map[string]any) func(testing.TB, *House) map[string]any {
	return func(t testing.TB, h *House) map[string]any {
		f := map[string]any{"room_id": h.Scheduled(t)}
		for name, v := range more {
			f[name] = v
		}
		return f
	}
}

func (h *House) operations() []operation {
	long := strings.Repeat("é", 256)
	const over = "the room is over already: its state is ended"
	person := func() map[string]any { return map[string]any{"name": "Bela", "client_user_id": "4712"} }
	inRoom := map[string]string{"": "room_id is required in the query", "?room_id=a&room_id=b": "room_id must be sent at most once",
		"?room_id=%zz": "room_id is not written as a query should be"}
	all := []operation{
		{route: "/rooms/start_schedule_room", fields: withRoom(map[string]any{"name": "Amina", "external_user_id": "4711"}), room: "body", admits: true, once: true, over: over, wrong: []legacytest.Refusal{
			legacytest.Field("name missing", legacytest.Drop("name"), "name is required"),
			legacytest.Field("name blank", legacytest.Set("name", " "), "name must have 1 to 255 characters and not be blank"),
			legacytest.Field("name too long", legacytest.Set("name", long), "name must have at most 255 characters, not 256"),
			legacytest.Field("external_user_id of somebody else", legacytest.Set("external_user_id", "4712"), "external_user_id cannot first be assigned at start: leave it out, or send that of the room's creation"),
			legacytest.Field("external_user_id a number", legacytest.Set("external_user_id", 4711), "external_user_id must be a string"),
		}},
		{route: "/rooms/join_room", room: "body", admits: true, once: true, over: over,
			fields: func(t testing.TB, h *House) map[string]any {
				return withRoom(map[string]any{"user_info": person()})(t, h)
			}, wrong: append(expiries(),
				legacytest.Field("user_info missing", legacytest.Drop("user_info"), "user_info is required"),
				legacytest.Field("user_info a text", legacytest.Set("user_info", "Bela"), "user_info must be an object"),
				legacytest.Field("name missing", legacytest.Set("user_info.name", nil), "user_info.name is required"),
				legacytest.Field("name blank", legacytest.Set("user_info.name", ""), "user_info.name must have 1 to 255 characters and not be blank"),
				legacytest.Field("name too long", legacytest.Set("user_info.name", long), "user_info.name must have at most 255 characters, not 256"),
				legacytest.Field("client_user_id too long", legacytest.Set("user_info.client_user_id", long), "user_info.client_user_id must have at most 255 characters, not 256"),
				legacytest.Field("is_admin a text", legacytest.Set("user_info.is_admin", "true"), "user_info.is_admin must be true or false"),
				legacytest.Refusal{Name: "hidden", Change: legacytest.Set("user_info.is_hidden", true), Status: 403, Sentence: "user_info.is_hidden needs the project's setting hidden_participants, which is off"},
			)},
		{route: "/rooms/create_invitation_link", fields: withRoom(map[string]any{"role": "viewer", "user_id": "4712"}), room: "body", admits: true, once: true, over: over, wrong: append(expiries(),
			legacytest.Field("role missing", legacytest.Drop("role"), "role is required"),
			legacytest.Field("role of nobody", legacytest.Set("role", "host"), "role must be admin or viewer"),
			legacytest.Field("role a number", legacytest.Set("role", 1), "role must be a string"),
			legacytest.Field("user_id too long", legacytest.Set("user_id", long), "user_id must have at most 255 characters, not 256"),
		)},
		{route: "/rooms/room_status", room: "query", query: inRoom},
		{route: "/rooms/get_active_room_info", room: "query", query: inRoom},
		{route: "/rooms/get_active_rooms_info"},
		{route: "/rooms/end_room", fields: withRoom(nil), room: "body", over: over},
		{route: "/rooms/fetch_past_rooms", fields: func(testing.TB, *House) map[string]any { return map[string]any{} }, wrong: []legacytest.Refusal{
			legacytest.Field("limit 0", legacytest.Set("limit", 0), "limit must be between 1 and 100, not 0"),
			legacytest.Field("limit 101", legacytest.Set("limit", 101), "limit must be between 1 and 100, not 101"),
			legacytest.Field("limit a text", legacytest.Set("limit", "20"), "limit must be an integer"),
			legacytest.Field("from -1", legacytest.Set("from", -1), "from must be between 0 and 1000000000, not -1"),
			legacytest.Field("order_by", legacytest.Set("order_by", "desc"), "order_by must be ASC or DESC"),
			legacytest.Field("room_ids a text", legacytest.Set("room_ids", nobody), "room_ids must be a list of strings"),
			legacytest.Field("101 room_ids", legacytest.Set("room_ids", make([]string, 101)), "room_ids must have at most 100 entries, not 101"),
		}},
		{route: "/rooms/list_rooms", query: map[string]string{
			"?limit=0":            "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"?limit=-1":           "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"?limit=":             "limit must be a whole number of at least 1, in digits; more than 100 means 100",
			"?limit=5&limit=5":    "limit must be sent at most once",
			"?cursor=x":           "cursor must be the next_cursor of an earlier answer",
			"?state=full":         `state must be scheduled, open, active, ended, cancelled or expired, not "full"`,
			"?x=%zz&cursor=%00":   "cursor must be the next_cursor of an earlier answer",
			"?state=ended&state=": "state must be sent at most once",
		}},
		{route: "/rooms/reschedule_room", room: "body", admits: true, once: true, over: "only a scheduled room can be rescheduled, and this one is ended",
			fields: func(t testing.TB, h *House) map[string]any {
				return withRoom(map[string]any{"start_at": h.StartAt(h.Now.Add(2 * time.Hour)), "metadata": map[string]any{"room_title": "Later"}})(t, h)
			}, wrong: []legacytest.Refusal{
				legacytest.Field("start_at wrong", legacytest.Set("start_at", "tomorrow"), h.WrongStart+`"tomorrow"`),
				legacytest.Field("start_at in the past", legacytest.Set("start_at", "2020-01-31T09:30"), "start_at must be in the future, and 2020-01-31T09:30:00Z is past"),
				legacytest.Field("max_participants 0", legacytest.Set("max_participants", 0), "max_participants must be between 1 and 1000, not 0"),
				legacytest.Field("empty_timeout 86401", legacytest.Set("empty_timeout", 86401), "empty_timeout must be between 0 and 86400, not 86401"),
				legacytest.Field("room_title too long", legacytest.Set("metadata.room_title", long), "metadata.room_title must have at most 255 characters, not 256"),
				legacytest.Field("metadata a list", legacytest.Set("metadata", []int{}), "metadata must be an object"),
			}},
		{route: "/analytics/get_analytics", room: "query", query: inRoom},
		{route: "/analytics/export_attendance", room: "query", query: inRoom},
	}
	if h.Events {
		const wrongAfter, wrongLimit = "after must be a whole number from 0 to 9007199254740991, in digits", "limit must be a whole number of at least 1, in digits; more than 100 means 100"
		all = append(all, operation{route: "/rooms/{room_id}/events", room: "path", query: map[string]string{
			"?after=":                        wrongAfter,
			"?after=-1":                      wrongAfter,
			"?after=%2B1":                    wrongAfter,
			"?after=1.0":                     wrongAfter,
			"?after=9007199254740992":        wrongAfter,
			"?after=99999999999999999999999": wrongAfter,
			"?after=%zz":                     "after is not written as a query should be",
			"?after=1&after=1":               "after must be sent at most once",
			"?after=1&limit=0":               wrongLimit,
			"?limit=":                        wrongLimit,
			"?limit=1e2":                     wrongLimit,
			"?limit=1&limit=2":               "limit must be sent at most once",
		}})
	}
	return all
}

func expiries() []legacytest.Refusal {
	return []legacytest.Refusal{
		legacytest.Field("expires_in -1", legacytest.Set("expires_in", -1), "expires_in must be between 0 and 31622400, not -1"),
		legacytest.Field("expires_in beyond what a duration holds", legacytest.Set("expires_in", 9223372036854775807), "expires_in must be between 0 and 31622400, not 9223372036854775807"),
		legacytest.Field("expires_in a text", legacytest.Set("expires_in", "60"), "expires_in must be an integer"),
	}
}

// sent is a call that can be changed before it goes out.
type sent struct {
	method, target string
	body           []byte
	key            string
}

func (o operation) right(t testing.TB, h *House) sent {
	s := sent{method: http.MethodGet, target: h.Prefix + o.route}
	if o.fields != nil {
		s.method, s.body = http.MethodPost, legacytest.Encode(t, o.fields(t, h))
	}
	switch o.room {
	case "query":
		s.target += "?room_id=" + h.Quick(t)
	case "path":
		s.target = inPath(s.target, h.Quick(t))
	}
	return s
}

func inPath(route, id string) string { return strings.Replace(route, "{room_id}", id, 1) }

// of is the call about another room.
func (o operation) of(t testing.TB, h *House, id string) sent {
	s := o.right(t, h)
	switch o.room {
	case "query":
		s.target = h.Prefix + o.route + "?room_id=" + id
	case "path":
		s.target = inPath(h.Prefix+o.route, id)
	default:
		f := o.fields(t, h)
		f["room_id"] = id
		s.body = legacytest.Encode(t, f)
	}
	return s
}

func (h *House) send(t testing.TB, s sent, change func(http.Header)) *http.Response {
	t.Helper()
	header := Timed(h.Issued, s.method, s.target, s.key, s.body)
	if change != nil {
		change(header)
	}
	return h.Checker.Do(t, s.method, s.target, header, s.body)
}

// Refusals meets every documented answer of every route.
func (h *House) Refusals(t *testing.T) {
	other, issued := h.Another(t)
	elsewhere, err := h.Meeting.CreateQuick(t.Context(), other, h.request(time.Time{}))
	legacytest.Must(t, err)
	for _, op := range h.operations() {
		t.Run(strings.Trim(op.route, "/"), func(t *testing.T) {
			if answer := h.send(t, op.right(t, h), nil); answer.StatusCode != 200 {
				t.Fatalf("%d %s", answer.StatusCode, legacytest.Sentence(t, answer))
			}
			h.unsigned(t, op, issued)
			h.whole(t, op)
			for _, wrong := range op.wrong {
				t.Run(wrong.Name, func(t *testing.T) {
					s := op.right(t, h)
					s.body = wrong.Build(t, h.Bundle, op.fields(t, h))
					legacytest.Says(t, h.send(t, s, nil), wrong.Status, wrong.Sentence)
				})
			}
			for query, sentence := range op.query {
				legacytest.Says(t, h.send(t, sent{method: http.MethodGet, target: inPath(h.Prefix+op.route, nobody) + query}, nil), 400, sentence)
			}
			if op.room != "" {
				for _, id := range []string{nobody, "mine", "%00", elsewhere.ID, strings.ToUpper(elsewhere.ID)} {
					legacytest.Says(t, h.send(t, op.of(t, h, id), nil), 404, noRoom)
				}
			}
			if op.over != "" {
				id := h.Quick(t)
				_, err := h.Meeting.End(t.Context(), id, room.EndedAPI)
				legacytest.Must(t, err)
				legacytest.Says(t, h.send(t, op.of(t, h, id), nil), 409, op.over)
			}
			if op.once {
				h.once(t, op)
			}
			h.projects(t, op)
			h.limits(t, op)
			h.failures(t, op)
		})
	}
}

// unsigned are calls that have not shown who makes them.
func (h *House) unsigned(t *testing.T, op operation, other key.Issued) {
	s := op.right(t, h)
	signed := func(secret, method, target, at, once string) func(http.Header) {
		return func(header http.Header) {
			header.Set("Timestamp", at)
			header.Set("Hash-Signature", sign.V5(secret, method, target, at, once, s.body))
		}
	}
	secret, now := h.Issued.GatewaySecret.Reveal(), sign.FormatTimestamp(time.Now())
	for name, change := range map[string]func(http.Header){
		"another secret":              signed("gs_other", s.method, s.target, now, ""),
		"the API key as the secret":   signed(h.Issued.APIKey.Reveal(), s.method, s.target, now, ""),
		"another project's secret":    signed(other.GatewaySecret.Reveal(), s.method, s.target, now, ""),
		"another method":              signed(secret, "PUT", s.target, now, ""),
		"another target":              signed(secret, s.method, s.target+"?", now, ""),
		"a stale timestamp":           signed(secret, s.method, s.target, sign.FormatTimestamp(time.Now().Add(-302*time.Second)), ""),
		"a timestamp too far ahead":   signed(secret, s.method, s.target, sign.FormatTimestamp(time.Now().Add(302*time.Second)), ""),
		"milliseconds":                signed(secret, s.method, s.target, now+"000", ""),
		"an Idempotency-Key not sent": signed(secret, s.method, s.target, now, "once"),
		"an unknown key":              func(header http.Header) { header.Set("Api-Key", "pk_other") },
		"another project's key":       func(header http.Header) { header.Set("Api-Key", other.APIKey.Reveal()) },
		"no key":                      func(header http.Header) { header.Del("Api-Key") },
		"no timestamp":                func(header http.Header) { header.Del("Timestamp") },
		"no signature":                func(header http.Header) { header.Del("Hash-Signature") },
		"two timestamps":              func(header http.Header) { header.Add("Timestamp", now) },
		"two signatures":              func(header http.Header) { header.Add("Hash-Signature", header.Get("Hash-Signature")) },
		"two keys":                    func(header http.Header) { header.Add("Api-Key", header.Get("Api-Key")) },
		"a body signature": func(header http.Header) {
			header.Del("Timestamp")
			message := s.body
			if s.method == http.MethodGet {
				message = []byte(s.target)
			}
			header.Set("Hash-Signature", sign.Legacy(h.Issued.ProjectSecret.Reveal(), message))
		},
	} {
		t.Run(name, func(t *testing.T) { legacytest.Says(t, h.send(t, s, change), 401, "invalid signature") })
	}
	if s.method == http.MethodPost { // an Idempotency-Key is signed with the rest
		legacytest.Says(t, h.send(t, s, func(header http.Header) { header.Set("Idempotency-Key", "once") }), 401, "invalid signature")
	}
}

// whole are requests that are wrong as a whole.
func (h *House) whole(t *testing.T, op operation) {
	s := op.right(t, h)
	takes := map[string]string{http.MethodGet: "GET, HEAD", http.MethodPost: "POST"}[s.method]
	legacytest.Says(t, h.Checker.Do(t, http.MethodPut, s.target, nil, nil), 405, "this path takes "+takes+", not PUT")
	if s.method == http.MethodGet {
		s.body = make([]byte, 65537)
		legacytest.Says(t, h.send(t, s, nil), 413, "the body must not be larger than 65536 bytes")
		return
	}
	for _, wrong := range legacytest.WrongBodies() {
		t.Run(wrong.Name, func(t *testing.T) {
			s := op.right(t, h)
			s.body = wrong.Build(t, h.Bundle, op.fields(t, h))
			legacytest.Says(t, h.send(t, s, func(header http.Header) {
				if wrong.Header != nil {
					wrong.Header(h.Bundle, header, s.body)
				}
			}), wrong.Status, wrong.Sentence)
		})
	}
	for body, sentence := range map[string]string{"": "the body ends before its JSON does", "[]": "the body must be a JSON object",
		`{"room_id":"a","room_id":"b"}`: "the body has a field twice: room_id"} {
		s.body = []byte(body)
		legacytest.Says(t, h.send(t, s, nil), 400, sentence)
	}
}

// once sends a creation again.
func (h *House) once(t *testing.T, op operation) {
	s := op.right(t, h)
	s.key = "first " + op.route
	first, again := h.send(t, s, nil), h.send(t, s, nil)
	if a, b := legacytest.Encode(t, legacytest.Fields(t, first)), legacytest.Encode(t, legacytest.Fields(t, again)); first.StatusCode != 200 || again.StatusCode != 200 || string(a) != string(b) {
		t.Errorf("the same answer again: %d %s, %d %s", first.StatusCode, a, again.StatusCode, b)
	}
	s.body = op.right(t, h).body
	legacytest.Says(t, h.send(t, s, nil), 422, "this Idempotency-Key was used with another body")
	s.key = strings.Repeat("k", 256)
	legacytest.Says(t, h.send(t, s, nil), 400, "the header Idempotency-Key must have 1 to 255 printable ASCII characters")
	s.key = "running"
	_, end, err := h.Meeting.Begin(t.Context(), &room.Once{ProjectID: h.Project.ID, Route: h.Prefix + op.route, Key: s.key})
	legacytest.Must(t, err)
	answer := h.send(t, s, nil)
	if legacytest.Says(t, answer, 409, "a request with this Idempotency-Key is still under way, try again in a moment"); answer.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After: %q", answer.Header.Get("Retry-After"))
	}
	end()
}

// projects are such as admit nobody.
func (h *House) projects(t *testing.T, op operation) {
	s := op.right(t, h)
	legacytest.Must(t, h.Projects.SetStatus(t.Context(), h.Project.ID, project.Inactive))
	if answer := h.send(t, s, nil); op.admits {
		legacytest.Says(t, answer, 403, "the project is inactive")
	} else if answer.StatusCode != 200 {
		t.Errorf("an inactive project: %d %s", answer.StatusCode, legacytest.Sentence(t, answer))
	}
	legacytest.Must(t, h.Projects.SetStatus(t.Context(), h.Project.ID, project.Active))
	legacytest.Must(t, h.Projects.Suspend(t.Context(), h.Project.ID))
	legacytest.Says(t, h.send(t, s, nil), 403, "the project is suspended")
	legacytest.Says(t, h.send(t, s, func(header http.Header) { header.Set("Hash-Signature", "00") }), 401, "invalid signature")
	legacytest.Must(t, h.Projects.Resume(t.Context(), h.Project.ID))
}

func (h *House) limits(t *testing.T, op operation) {
	s := op.right(t, h)
	wrong := func(header http.Header) { header.Set("Hash-Signature", "00") }
	reads := op.fields == nil || op.route == "/rooms/fetch_past_rooms"
	h.with(h.Meeting, legacy.Limits{Rate: spentIf(!reads), Reads: spentIf(reads)}, func() {
		legacytest.Says(t, h.send(t, s, nil), 429, "too many calls with this key, try again later")
		legacytest.Says(t, h.send(t, s, wrong), 401, "invalid signature")
	})
	h.with(h.Meeting, legacy.Limits{Rate: spentIf(reads), Reads: spentIf(!reads), Failures: legacytest.Spent{}}, func() {
		legacytest.Says(t, h.send(t, s, wrong), 429, "too many failed authentications from your address, try again later")
		if answer := h.send(t, op.right(t, h), nil); answer.StatusCode != 200 {
			t.Errorf("a valid call: %d", answer.StatusCode)
		}
	})
	if h.Ended != nil {
		h.Checker.With(legacytest.Wrap(h.Ended), func() {
			legacytest.Says(t, h.send(t, s, nil), 410, "version 3 ended on 2026-01-31, use version 4")
		})
	}
}

func (h *House) failures(t *testing.T, op operation) {
	s := op.right(t, h)
	h.with(legacytest.Failing{Err: errors.New("secret cause")}, legacy.Limits{}, func() { legacytest.Says(t, h.send(t, s, nil), 500, "internal error") })
	h.with(legacytest.Failing{Err: legacytest.Gone}, legacy.Limits{}, func() { legacytest.Says(t, h.send(t, s, nil), 503, legacytest.Gone.Message) })
}

func (h *House) with(rooms Rooms, limits legacy.Limits, work func()) {
	h.Checker.With(legacytest.Wrap(h.Serve(rooms, limits, Options)), work)
}

func spentIf(spent bool) legacy.Rate { return &legacytest.Busy{Lifted: !spent} }
