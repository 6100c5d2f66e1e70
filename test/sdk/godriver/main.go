// Command godriver makes calls with the Go SDK for the tests of all SDKs: it reads a line of JSON for
// each call and writes a line with the outcome.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"parley.example/client"
	"parley.example/client/sign"
)

type question struct {
	Do          string
	BaseURL     string `json:"base_url"`
	Credentials client.Credentials
	Options     struct {
		Version     int
		MaxAttempts int `json:"max_attempts"`
	}
	Operation string
	Arguments json.RawMessage

	Profile string
	Case    signatureCase

	Secrets []string
	Headers map[string]string
	Body    string
	Now     int64
}

type signatureCase struct {
	Secrets        []string
	SignedWith     []string `json:"signed_with"`
	Method         string
	Target         string
	ID             string
	Timestamp      string
	IdempotencyKey string `json:"idempotency_key"`
	Body           string
	BodyBase64     []byte `json:"body_base64"`
	Signature      string
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			log.Fatal(err)
		}
		line, err := json.Marshal(answer(&q))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(line))
	}
}

func answer(q *question) map[string]any {
	switch q.Do {
	case "sign":
		return q.Case.sign(q.Profile)
	case "webhook":
		header := http.Header{}
		for name, value := range q.Headers {
			header.Set(name, value)
		}
		event, err := client.VerifyWebhook(q.Secrets, header, []byte(q.Body), time.Unix(q.Now, 0))
		if err != nil {
			return failure(err)
		}
		return map[string]any{"event": event}
	}
	c, err := client.New(q.BaseURL, q.Credentials,
		client.Options{Version: q.Options.Version, MaxAttempts: q.Options.MaxAttempts})
	if q.Do == "print" {
		given := q.Credentials
		encoded, err := json.Marshal(given)
		return map[string]any{"text": fmt.Sprintf("%v %+v %#v %s %s %v %+v %#v", c, c, c, encoded, err, given, given, given)}
	}
	if err != nil {
		return map[string]any{"error": map[string]any{"kind": "invalid_argument", "message": err.Error()}}
	}
	result, err := call(context.Background(), c, q.Operation, q.Arguments)
	if err != nil {
		return failure(err)
	}
	return map[string]any{"result": result}
}

func (c signatureCase) sign(profile string) map[string]any {
	body := []byte(c.Body)
	if c.BodyBase64 != nil {
		body = c.BodyBase64
	}
	signers := c.SignedWith
	if signers == nil {
		signers = c.Secrets
	}
	var signature string
	var valid bool
	switch profile {
	case sign.Profile:
		signature = sign.V5(signers[0], c.Method, c.Target, c.Timestamp, c.IdempotencyKey, body)
		valid = sign.VerifyV5(c.Secrets[0], c.Method, c.Target, c.Timestamp, c.IdempotencyKey, body, c.Signature)
	case "legacy-body":
		signature = sign.Legacy(signers[0], body)
		valid = sign.VerifyLegacy(c.Secrets[0], body, c.Signature)
	default:
		signature, _ = sign.Webhook(signers, c.ID, c.Timestamp, body) // a case may be one that cannot be signed
		valid = sign.VerifyWebhook(c.Secrets, c.ID, c.Timestamp, body, c.Signature) == nil
	}
	return map[string]any{"signature": signature, "valid": valid}
}

var kinds = []struct {
	kind string
	err  error
}{
	{"invalid_request", client.ErrInvalid},
	{"unauthorized", client.ErrUnauthorized},
	{"forbidden", client.ErrForbidden},
	{"not_found", client.ErrNotFound},
	{"conflict", client.ErrConflict},
	{"gone", client.ErrGone},
	{"rate_limited", client.ErrRateLimited},
	{"unavailable", client.ErrUnavailable},
	{"unexpected_response", client.ErrUnexpectedResponse},
	{"missing_credential", client.ErrMissingCredential},
	{"invalid_signature", client.ErrInvalidSignature},
	{"invalid_argument", client.ErrInvalidArgument},
}

func failure(err error) map[string]any {
	fields := map[string]any{"kind": "connection", "message": err.Error()}
	refused, isResponse := errors.AsType[*client.Error](err)
	if isResponse {
		fields = map[string]any{"kind": "server_error", "status": refused.Status, "code": refused.Code,
			"message": refused.Message, "request_id": refused.RequestID, "attempts": refused.Attempts, "remedy": refused.Remedy}
		if refused.RetryAfter > 0 {
			fields["retry_after"] = refused.RetryAfter.Seconds()
		}
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			fields["kind"] = k.kind
		}
	}
	return map[string]any{"error": fields}
}

// wire returns a value with the names of its fields in JSON, and the request that returned it.
func wire(value any, more map[string]any) (map[string]any, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, err
	}
	for name, value := range more {
		fields[name] = value
	}
	return fields, nil
}

// arguments decodes the arguments of a call into a request of the SDK, and returns its idempotency key.
func arguments(raw json.RawMessage, request any) string {
	var beside struct {
		IdempotencyKey string `json:"idempotency_key"`
	}
	if err := errors.Join(json.Unmarshal(raw, &beside), json.Unmarshal(raw, request)); err != nil {
		log.Fatal(strings.TrimSpace(string(raw)), err)
	}
	return beside.IdempotencyKey
}
