package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley.example/client"
	"parley.example/client/sign"
)

// TestWebhookHandler_Responses sends webhooks over HTTP to the handler.
func TestWebhookHandler_Responses(t *testing.T) {
	const joined = `{"id":"e1","type":"participant.joined","sequence":4,"data":{"participant":{"name":"Zoë"}}}`
	const other = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	for _, test := range []struct {
		name, method, body string
		secrets            []string // that sign
		age                time.Duration
		without            string // a header that is not sent
		fails              bool   // the handler of the event
		status             int
		response           string
		handled            bool
	}{
		{name: "valid", secrets: []string{projectSecret}, status: 204, handled: true},
		{name: "rotated", secrets: []string{other, projectSecret}, status: 204, handled: true},
		{name: "five minutes old", secrets: []string{projectSecret}, age: 299 * time.Second, status: 204, handled: true},
		{name: "another secret", secrets: []string{other}, status: 401, response: "no signature matches"},
		{name: "old", secrets: []string{projectSecret}, age: time.Hour, status: 401, response: "the timestamp is too old"},
		{name: "new", secrets: []string{projectSecret}, age: -time.Hour, status: 401, response: "the timestamp is too new"},
		{name: "no id", secrets: []string{projectSecret}, without: "webhook-id", status: 401, response: "missing header webhook-id"},
		{name: "no signature", secrets: []string{projectSecret}, without: "webhook-signature", status: 401, response: "missing header webhook-signature"},
		{name: "the handler fails", secrets: []string{projectSecret}, fails: true, status: 500, handled: true},
		{name: "no JSON", body: "<html>", secrets: []string{projectSecret}, status: 500},
		{name: "too large", body: strings.Repeat(" ", 1<<20+1), secrets: []string{projectSecret}, status: 413},
		{name: "GET", method: "GET", secrets: []string{projectSecret}, status: 405},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got *client.RoomEvent
			server := httptest.NewServer(client.WebhookHandler([]string{projectSecret},
				func(_ context.Context, event *client.RoomEvent) error {
					got = event
					if test.fails {
						return errors.New("the database does not answer")
					}
					return nil
				}))
			defer server.Close()
			body, method := joined, http.MethodPost
			if test.body != "" {
				body = test.body
			}
			if test.method != "" {
				method = test.method
			}
			request, err := http.NewRequest(method, server.URL, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			timestamp := sign.FormatTimestamp(time.Now().Add(-test.age))
			signature, err := sign.Webhook(test.secrets, "e1", timestamp, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("webhook-id", "e1")
			request.Header.Set("webhook-timestamp", timestamp)
			request.Header.Set("webhook-signature", signature)
			request.Header.Del(test.without)
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			text := new(strings.Builder)
			if err := response.Write(text); err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != test.status || !strings.Contains(text.String(), test.response) {
				t.Errorf("got the response %s, want status %d with %q", text, test.status, test.response)
			}
			if (got != nil) != test.handled {
				t.Fatalf("got the event %+v, want an event: %v", got, test.handled)
			}
			if got != nil && (got.Type != "participant.joined" || got.Data.Participant.Name != "Zoë") {
				t.Errorf("got the event %+v, want that Zoë joined", got)
			}
		})
	}
}
