package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"parley.example/client"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestGateway_Reads(t *testing.T) {
	used, minutes, ago := int64(17), 90.25, at("2026-11-20T11:00:00.250Z")
	meta := client.GatewayMeta{RequestID: "req_1", RequestsUsed: &used}
	for _, test := range []struct {
		name, target string
		call         func(c *client.Client) (any, error)
		want         any
	}{
		{"keys", "/api/v5/keys", func(c *client.Client) (any, error) { return c.Keys(t.Context()) }, &client.Keys{
			Current: client.CurrentKey{
				ID:             "k2",
				APIKey:         "pk_0000T…0000",
				Status:         "active",
				SigningProfile: "SVC-HMAC-V5-1",
				CreatedAt:      at("2026-11-20T10:00:00Z"),
			},
			Overlap: &client.OverlapKey{
				ID:                    "k1",
				APIKey:                "pk_9999T…9999",
				Status:                "retiring",
				RetiringSince:         at("2026-11-20T10:00:00Z"),
				OverlapEndsAt:         at("2026-11-21T10:00:00Z"),
				LastUsedAt:            &ago,
				RequestsSinceRotation: 3,
			},
			GatewayMeta: meta}},
		{"usage", "/api/v5/usage", func(c *client.Client) (any, error) { return c.Usage(t.Context()) }, &client.Usage{
			OrganizationID: "o1",
			BillingModel:   "payg",
			Period: client.UsagePeriod{Start: at("2026-11-01T00:00:00Z"),
				End: at("2026-12-01T00:00:00Z")},
			AsOf: at("2026-11-21T10:00:00Z"),
			Totals: client.UsageTotals{
				ParticipantMinutes:         90.25,
				AudioParticipantMinutes:    30,
				VideoParticipantMinutes:    60.25,
				RoomsCreated:               4,
				Sessions:                   3,
				PeakConcurrentParticipants: 7,
			},
			Plan: client.PlanUsage{Availability: client.Available, Name: "default",
				IncludedMinutes: &client.Figure{Availability: client.Unavailable},
				UsedMinutes:     &client.Figure{Availability: client.Available, Value: &minutes}},
			PayAsYouGo: &client.PayAsYouGo{
				Availability: client.Available,
				Currency:     "EUR",
				Unit:         "participant_minute",
				UnitPrice:    "0.0042",
				AmountDue:    "0.37905",
			},
			GatewayMeta: meta,
		}},
		{"limits", "/api/v5/limits", func(c *client.Client) (any, error) { return c.Limits(t.Context()) }, &client.Limits{
			Availability: client.Available,
			Entitlements: []client.Entitlement{{Key: "max_participants", Value: 1000, Unit: "participants",
				Scope: "room", Source: "plan:default", Availability: client.Available}},
			GatewayMeta: meta}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer()
			got, err := test.call(start(t, s, credentials, client.Options{UserAgent: "billing/2"}))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got the response %+v, want %+v", got, test.want)
			}
			sent := s.requestsSeen()[0]
			if sent.method != "GET" || sent.target != test.target || sent.body != "" ||
				sent.header.Get("User-Agent") != "billing/2" {
				t.Errorf("got the request %+v, want GET %s without a body, from billing/2", sent, test.target)
			}
			for _, name := range []string{"Idempotency-Key", "Content-Type", "key", "secret-key"} {
				if _, there := sent.header[http.CanonicalHeaderKey(name)]; there {
					t.Errorf("got the header %s, want none", name)
				}
			}
		})
	}
}

func TestOpenAPI_WithoutCredentials(t *testing.T) {
	s := newServer()
	document, err := start(t, s, client.Credentials{}, client.Options{}).OpenAPI(t.Context(), 5)
	if err != nil || !strings.HasPrefix(string(document), `{"openapi":"3.1.0"`) {
		t.Errorf("got %s, %v, want an OpenAPI 3.1.0 document", document, err)
	}
	for _, name := range []string{"Api-Key", "Hash-Signature", "Timestamp"} {
		if s.requestsSeen()[0].header.Get(name) != "" {
			t.Errorf("got the header %s, want none", name)
		}
	}
}

func TestGateway_ReturnsServerErrors(t *testing.T) {
	for name, call := range map[string]func(c *client.Client) (any, error){
		"keys":     func(c *client.Client) (any, error) { return c.Keys(t.Context()) },
		"usage":    func(c *client.Client) (any, error) { return c.Usage(t.Context()) },
		"limits":   func(c *client.Client) (any, error) { return c.Limits(t.Context()) },
		"requests": func(c *client.Client) (any, error) { return c.Requests(t.Context(), client.RequestsQuery{}) },
		"openapi":  func(c *client.Client) (any, error) { return c.OpenAPI(t.Context(), 5) },
	} {
		s := newServer()
		s.respondWith(errorResponseV5(404, client.CodeGatewayDisabled, "version 5 is disabled"))
		_, err := call(start(t, s, credentials, client.Options{}))
		if failure, ok := errors.AsType[*client.Error](err); !ok || failure.Code != client.CodeGatewayDisabled {
			t.Errorf("%s: got error %v, want %s", name, err, client.CodeGatewayDisabled)
		}
	}
}

func TestRequestsUsed_Unavailable(t *testing.T) {
	s := newServer()
	c := start(t, s, credentials, client.Options{})
	s.respondWith(reply(200, limitsAnswer, "X-Gateway-Requests-Used", "unavailable"))
	limits, err := c.Limits(t.Context())
	if err != nil || limits.RequestsUsed != nil {
		t.Errorf("got %+v, %v, want no RequestsUsed", limits, err)
	}
}

// calls returns items, the newest first.
func calls(n int) []map[string]any {
	var items []map[string]any
	for i := range n {
		items = append(items, map[string]any{"request_id": fmt.Sprint("req_", n-i),
			"received_at": "2026-11-21T10:00:00.000Z",
			"method":      "GET", "path": "/api/v5/keys", "status": 401, "code": "SVC_UNAUTHORIZED", "duration_ms": 0.25, "key_slot": "current",
			"auth_result": "stale_timestamp", "hint": "the timestamp is in milliseconds", "clock_skew_seconds": 310, "user_agent": nil})
	}
	return items
}

func TestRequests_FirstPage(t *testing.T) {
	s := newServer()
	s.calls = calls(3)
	c := start(t, s, credentials, client.Options{})
	page, err := c.Requests(t.Context(), client.RequestsQuery{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	skew := int64(310)
	want := client.RequestItem{
		RequestID:        "req_3",
		ReceivedAt:       at("2026-11-21T10:00:00Z"),
		Method:           "GET",
		Path:             "/api/v5/keys",
		Status:           401,
		Code:             "SVC_UNAUTHORIZED",
		DurationMS:       0.25,
		KeySlot:          "current",
		AuthResult:       "stale_timestamp",
		Hint:             "the timestamp is in milliseconds",
		ClockSkewSeconds: &skew,
	}
	if len(page.Items) != 2 || !reflect.DeepEqual(page.Items[0], want) || page.NextCursor != "a/b+c=&2" ||
		page.Availability != client.Available {
		t.Errorf("got the page %+v, want 2 items, the first %+v, and the cursor a/b+c=&2", page, want)
	}
	// The cursor is encoded once, and signed as it is sent: the server verified.
	if _, err := c.Requests(t.Context(), client.RequestsQuery{Limit: 2, Cursor: page.NextCursor}); err != nil {
		t.Errorf("the next page: got error %v, want none", err)
	}
	if target := s.requestsSeen()[1].target; target != "/api/v5/requests?limit=2&cursor=a%2Fb%2Bc%3D%262" {
		t.Errorf("got the target %s, want the cursor encoded once", target)
	}
}

func TestRequestPages_AllPages(t *testing.T) {
	s := newServer()
	s.calls = calls(5)
	c := start(t, s, credentials, client.Options{})
	pages := c.RequestPages(t.Context(), client.RequestsQuery{Limit: 2})
	for range 2 { // an iterator begins anew each time
		var ids []string
		for page, err := range pages {
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range page.Items {
				ids = append(ids, item.RequestID)
			}
		}
		if got := strings.Join(ids, " "); got != "req_5 req_4 req_3 req_2 req_1" {
			t.Errorf("got the calls %q, want the five calls, newest first", got)
		}
	}
	if n := len(s.requestsSeen()); n != 6 {
		t.Errorf("twice three pages: got %d requests, want 6", n)
	}
	for range pages {
		break
	}
	if n := len(s.requestsSeen()); n != 7 {
		t.Errorf("a loop that stops at once: got %d more requests, want 1", n-6)
	}
}

func TestRequestPages_End(t *testing.T) {
	const same = `{"data":{"availability":"available","items":[],"next_cursor":"x"}}`
	for _, test := range []struct {
		name   string
		script []http.HandlerFunc
		pages  int
		want   error
	}{
		{"not configured", []http.HandlerFunc{reply(200, `{"data":{"availability":"unavailable","items":[]}}`)}, 1, nil},
		{"an error", []http.HandlerFunc{reply(200, same), errorResponseV5(403, client.CodeProjectSuspended, "the project is suspended")}, 1, client.ErrForbidden},
		{"a cursor that goes nowhere", []http.HandlerFunc{reply(200, same), reply(200, same)}, 2, client.ErrUnexpectedResponse},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer()
			s.respondWith(test.script...)
			pages, last := 0, error(nil)
			for page, err := range start(t, s, credentials, client.Options{}).RequestPages(t.Context(),
				client.RequestsQuery{}) {
				if err == nil && page != nil {
					pages++
				}
				last = err
			}
			if pages != test.pages || !errors.Is(last, test.want) {
				t.Errorf("got %d pages, then %v, want %d, then %v", pages, last, test.pages, test.want)
			}
		})
	}
}
