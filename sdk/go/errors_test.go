package client_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"parley.example/client"
)

func TestError_Decoding(t *testing.T) {
	kinds := map[string]error{"invalid": client.ErrInvalid, "unauthorized": client.ErrUnauthorized,
		"forbidden": client.ErrForbidden,
		"not found": client.ErrNotFound, "conflict": client.ErrConflict, "gone": client.ErrGone, "rate limited": client.ErrRateLimited, "unavailable": client.ErrUnavailable}
	predicates := map[string]func(error) bool{"unauthorized": client.IsUnauthorized, "forbidden": client.IsForbidden,
		"not found": client.IsNotFound, "conflict": client.IsConflict, "gone": client.IsGone, "rate limited": client.IsRateLimited, "unavailable": client.IsUnavailable}
	for _, test := range []struct {
		answer http.HandlerFunc
		call   string // "read" or "write"
		kind   string
		text   string
	}{
		{errorResponse(400, "max_participants must be between 1 and 1000, not 0"), "write", "invalid",
			"parley: 400: max_participants must be between 1 and 1000, not 0 (request req_1)"},
		{errorResponse(401, "invalid signature"), "write", "unauthorized", "parley: 401: invalid signature (request req_1)"},
		{errorResponse(403, "the project is inactive"), "write", "forbidden", "parley: 403: the project is inactive (request req_1)"},
		{errorResponse(404, "there is no such room"), "write", "not found", "parley: 404: there is no such room (request req_1)"},
		{errorResponse(405, "not allowed"), "write", "", "parley: 405: not allowed (request req_1)"},
		{errorResponse(409, "client_room_id is taken"), "write", "conflict", "parley: 409: client_room_id is taken (request req_1)"},
		{errorResponse(410, "version 3 has ended"), "write", "gone", "parley: 410: version 3 has ended (request req_1)"},
		{errorResponse(413, "the body is too large"), "write", "invalid", "parley: 413: the body is too large (request req_1)"},
		{errorResponse(415, "no JSON"), "write", "invalid", "parley: 415: no JSON (request req_1)"},
		{errorResponse(422, "used with another body"), "write", "invalid", "parley: 422: used with another body (request req_1)"},
		{errorResponse(429, "too many calls", "Retry-After", "60"), "write", "rate limited", "parley: 429: too many calls (request req_1)"},
		{errorResponse(500, "our failure"), "write", "", "parley: 500: our failure (request req_1)"},
		{errorResponse(503, "try again", "Retry-After", "60"), "write", "unavailable", "parley: 503: try again (request req_1)"},
		{errorResponseV5(400, client.CodeInvalidRequest, "limit must be a number"), "read", "invalid",
			"parley: 400 SVC_INVALID_REQUEST: limit must be a number (request req_1)"},
		{errorResponseV5(401, client.CodeUnauthorized, "not accepted"), "read", "unauthorized", "parley: 401 SVC_UNAUTHORIZED: not accepted (request req_1)"},
		{errorResponseV5(403, client.CodeProjectSuspended, "suspended"), "read", "forbidden",
			"parley: 403 SVC_GATEWAY_PROJECT_SUSPENDED: suspended (request req_1)"},
		{errorResponseV5(404, client.CodeGatewayDisabled, "disabled"), "read", "not found", "parley: 404 SVC_GATEWAY_DISABLED: disabled (request req_1)"},
		{errorResponseV5(404, client.CodeResourceNotFound, "none"), "read", "not found", "parley: 404 SVC_RESOURCE_NOT_FOUND: none (request req_1)"},
		{errorResponseV5(413, client.CodeInvalidRequest, "too large"), "read", "invalid", "parley: 413 SVC_INVALID_REQUEST: too large (request req_1)"},
		{errorResponseV5(429, client.CodeRateLimited, "too many", "Retry-After", "60"), "read", "rate limited",
			"parley: 429 SVC_RATE_LIMITED: too many (request req_1)"},
		{errorResponseV5(503, client.CodeGatewayUnavailable, "later", "Retry-After", "60"), "read", "unavailable",
			"parley: 503 SVC_GATEWAY_UNAVAILABLE: later (request req_1)"},
		// The page of a proxy is not part of the error.
		{reply(502, "<html>secret of the proxy", "X-Request-ID", "", "Retry-After", "60"), "write", "unavailable", "parley: 502: Bad Gateway"},
		{reply(418, `{"error":""}`), "write", "", "parley: 418: I'm a teapot (request req_1)"},
		{reply(400, `{"error":["a"]}`), "write", "invalid", "parley: 400: Bad Request (request req_1)"},
		{reply(400, `{"error":"one\r\ntwo\u202e"}`), "write", "invalid", "parley: 400: one��two� (request req_1)"},
	} {
		t.Run(test.text, func(t *testing.T) {
			s := newServer()
			s.respondWith(test.answer)
			c := start(t, s, credentials, client.Options{})
			call := status
			if test.call == "read" {
				call = keys
			}
			err := call(t.Context(), c)
			if err == nil {
				t.Fatalf("got no error, want %s", test.text)
			}
			if text, _, _ := strings.Cut(err.Error(), "\n"); text != test.text {
				t.Fatalf("got error %s without its remedy, want %s", text, test.text)
			}
			for name, kind := range kinds {
				if errors.Is(err, kind) != (name == test.kind) {
					t.Errorf("errors.Is(%v, %s): got %v, want %v", err, name, name != test.kind, name == test.kind)
				}
			}
			for name, is := range predicates {
				if is(err) != (name == test.kind) {
					t.Errorf("Is… %s of %v: got %v, want %v", name, err, name != test.kind, name == test.kind)
				}
			}
		})
	}
}

func TestClient_UnexpectedResponses(t *testing.T) {
	type answers map[string]http.HandlerFunc
	ok := func(body string) http.HandlerFunc { return reply(200, body) }
	for _, test := range []struct {
		name    string
		answers answers
	}{
		{"read", answers{"empty": ok(""), "page": ok("<html>"), "null": ok("null"), "no data": ok("{}"), "data null": ok(`{"data":null}`),
			"data of another kind": ok(`{"data":[]}`), "field of another kind": ok(
				`{"data":{"current":{"id":5}}}`), "cut": ok(`{"data":{`),
			"two": ok(keysAnswer + keysAnswer), "no content": reply(204, "")}},
		{"write", answers{"empty": ok(""), "page": ok("<html>"), "null": ok("null"), "no status": ok("{}"), "accepted": reply(202, "{}")}},
		{"event", answers{"page": ok("<html>"), "not joined": ok(`{"joined":false}`), "nothing": ok("{}")}},
		{"quick", answers{"page": ok("<html>"), "nothing": ok("{}"), "no link": ok(`{"status":true,"room_id":"x"}`)}},
		{"schedule", answers{"page": ok("<html>"), "nothing": ok("{}"), "no time": ok(`{"room_id":"x"}`), "bad time": ok(`{"room_id":"x","start_time":"soon"}`)}},
	} {
		for name, answer := range test.answers {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				s := newServer()
				s.respondWith(answer)
				c := start(t, s, credentials, client.Options{})
				var err error
				switch test.name {
				case "read":
					err = keys(t.Context(), c)
				case "write":
					err = status(t.Context(), c)
				case "event":
					err = joinEvent(t.Context(), c)
				case "quick":
					err = create(withIdempotencyKey(quickRoom()))(t.Context(), c)
				case "schedule":
					_, err = c.CreateScheduledVideoRoom(t.Context(), scheduledRoom())
				}
				if !errors.Is(err, client.ErrUnexpectedResponse) || len(s.requestsSeen()) != 1 {
					t.Errorf("got %d requests, error %v, want 1 and ErrUnexpectedResponse", len(s.requestsSeen()), err)
				}
			})
		}
	}
}

// TestClient_HugeBodies checks that an endless answer is not read to its end.
func TestClient_HugeBodies(t *testing.T) {
	var written atomic.Int64
	endless := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, `{"error":"`)
			for block := strings.Repeat("x", 1<<16); ; {
				if _, err := io.WriteString(w, block); err != nil || written.Add(int64(len(block))) > 1<<28 {
					return
				}
			}
		}
	}
	s := newServer()
	s.respondWith(endless(200), endless(403))
	c := start(t, s, credentials, client.Options{})
	if err := keys(t.Context(), c); !errors.Is(err, client.ErrUnexpectedResponse) {
		t.Errorf("got error %v, want ErrUnexpectedResponse", err)
	}
	if err := keys(t.Context(), c); !client.IsForbidden(err) || len(err.Error()) > 200 {
		t.Errorf("got error %v, want Forbidden in at most 200 bytes", err)
	}
	if n := written.Load(); n > 64<<20 { // what the network buffers comes on top
		t.Errorf("got %d bytes written, want at most %d", n, 64<<20)
	}
}

// TestClient_ManyActiveRooms checks that the list of active rooms, which has no pages, may be larger than other
// responses.
func TestClient_ManyActiveRooms(t *testing.T) {
	s := newServer()
	s.respondWith(reply(200, `{"response":{"rooms":[`+activeRoomJSON+`]`+strings.Repeat(" ", 5<<20)+`}}`))
	rooms, err := start(t, s, credentials, client.Options{}).ActiveRooms(t.Context())
	if err != nil || len(rooms) != 1 {
		t.Errorf("got %d rooms, error %v, want 1 and none", len(rooms), err)
	}
}

func TestError_LongMessageTruncated(t *testing.T) {
	s := newServer()
	s.respondWith(errorResponse(400, strings.Repeat("é", 5000)))
	err := status(t.Context(), start(t, s, credentials, client.Options{}))
	failure, ok := errors.AsType[*client.Error](err)
	if !ok || utf8.RuneCountInString(failure.Message) != 500 || !strings.HasSuffix(failure.Message, "é…") {
		t.Errorf("got %+v, want a message of 500 characters that ends with é…", err)
	}
}
