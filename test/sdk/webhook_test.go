package sdk

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
)

// checkWebhooks verifies webhooks whose signature is right or wrong.
func (d *driver) checkWebhooks(t *testing.T) {
	const (
		secret  = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
		other   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		now     = int64(1767225600)
		joined  = `{"id":"0197c1a5-7d8e-7c3a-9f00-5b1d2e3f4a5b","type":"participant.joined","timestamp":"2026-01-01T00:00:00Z","sequence":4,"previous":3,"project_id":"0197c1a4-1111-7222-8333-444455556666","data":{"room_id":"r","session_id":"r.1","room_type":"video","participant":{"identity":"i","name":"Zoë","role":"host","session_id":"r.1","connection_id":"PA_1","joined_at":"2026-01-01T00:00:00Z"}}}`
		unknown = `{"id":"e2","type":"room.painted","timestamp":"2026-01-01T00:00:00Z","sequence":5,"previous":4,"project_id":"p","data":{"color":"red"}}`
	)
	for _, test := range []struct {
		name    string
		body    string
		signers []string
		secrets []string
		age     int64
		headers map[string]string // that replace those of a valid webhook; "" for none
		problem string
	}{
		{name: "valid", body: joined},
		{name: "unknown type", body: unknown},
		{name: "signed during a rotation", body: joined, signers: []string{other, secret}},
		{name: "verified during a rotation", body: joined, secrets: []string{other, secret}},
		{name: "299 seconds old", body: joined, age: 299},
		{name: "301 seconds old", body: joined, age: 301, problem: "the timestamp is too old"},
		{name: "301 seconds ahead", body: joined, age: -301, problem: "the timestamp is too new"},
		{name: "another secret", body: joined, signers: []string{other}, problem: "no signature matches"},
		{name: "changed", body: joined, headers: map[string]string{"webhook-id": "e3"}, problem: "no signature matches"},
		{name: "no id", body: joined, headers: map[string]string{"webhook-id": ""}, problem: "missing header webhook-id"},
		{name: "no timestamp", body: joined, headers: map[string]string{"webhook-timestamp": ""}, problem: "missing header webhook-timestamp"},
		{name: "no signature", body: joined, headers: map[string]string{"webhook-signature": ""}, problem: "missing header webhook-signature"},
	} {
		signers, secrets := test.signers, test.secrets
		if signers == nil {
			signers = []string{secret}
		}
		if secrets == nil {
			secrets = []string{secret}
		}
		timestamp := sign.FormatTimestamp(time.Unix(now-test.age, 0))
		signature, err := sign.Webhook(signers, "e1", timestamp, []byte(test.body))
		if err != nil {
			t.Fatal(err)
		}
		headers := map[string]string{"webhook-id": "e1", "webhook-timestamp": timestamp, "webhook-signature": signature}
		for name, value := range test.headers {
			if headers[name] = value; value == "" {
				delete(headers, name)
			}
		}
		got := d.ask(t, map[string]any{"do": "webhook", "secrets": secrets, "headers": headers, "body": test.body,
			"now": now})
		failure, _ := got["error"].(map[string]any)
		event, _ := got["event"].(map[string]any)
		if test.problem != "" {
			message, _ := failure["message"].(string)
			if failure["kind"] != "invalid_signature" || !strings.HasSuffix(message, test.problem) {
				t.Errorf("%s: got %v, want an invalid signature with %q", test.name, got, test.problem)
			}
			continue
		}
		sequence, _ := event["sequence"].(float64)
		if event == nil || !strings.Contains(test.body, `"type":"`+event["type"].(string)) ||
			!strings.Contains(test.body, `"sequence":`+strconv.Itoa(int(sequence))+",") {
			t.Errorf("%s: got %v, want the event %s", test.name, got, test.body)
		}
	}
}
