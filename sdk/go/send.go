package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"time"

	"parley.example/client/sign"
)

const (
	maxResponse    = 4 << 20  // bytes of the body of a success
	maxActiveRooms = 64 << 20 // bytes of the list of active rooms, which has no pages
	maxErrorBody   = 64 << 10 // bytes of the body of an error
)

// request is one call, which may be sent several times.
type request struct {
	method string
	target string // path and query
	body   []byte

	bodyKey        string // signs the body, versions 3 and 4
	gatewaySigned  bool   // signed with the Gateway secret and the time
	idempotencyKey string

	hasClientRoomID bool // the body has a client_room_id

	repeatable  bool          // safe to send again
	retryWindow time.Duration // how long it is safe; 0 for no limit
}

// maxBody returns the maximum size of the body of a success in bytes.
func (r *request) maxBody() int {
	if strings.HasSuffix(r.target, activeRoomsPath) {
		return maxActiveRooms
	}
	return maxResponse
}

type response struct {
	header http.Header
	body   []byte
}

// exchange sends a request once. An error of the server is an *Error.
func (c *Client) exchange(ctx context.Context, r *request, offset time.Duration) (*response, error) {
	out, err := http.NewRequestWithContext(ctx, r.method, c.base+r.target, bytes.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("parley: %w", err)
	}
	sent := time.Now()
	out.Header.Set("User-Agent", c.userAgent)
	out.Header.Set("Accept", "application/json")
	if len(r.body) > 0 {
		out.Header.Set("Content-Type", "application/json")
	}
	if r.idempotencyKey != "" {
		out.Header.Set("Idempotency-Key", r.idempotencyKey)
	}
	if r.bodyKey != "" {
		out.Header.Set("hash-signature", sign.Legacy(r.bodyKey, r.body))
	}
	if r.gatewaySigned {
		timestamp := sign.FormatTimestamp(sent.Add(offset))
		out.Header.Set("api-key", c.credentials.APIKey)
		out.Header.Set("timestamp", timestamp)
		// RequestURI is what net/http writes into the request line.
		out.Header.Set("hash-signature", sign.V5(c.credentials.GatewaySecret, r.method, out.URL.RequestURI(),
			timestamp, r.idempotencyKey, r.body))
	}
	in, err := c.http.Do(out)
	if err != nil {
		return nil, c.connectionError("", err)
	}
	defer in.Body.Close()
	c.clock.observe(sent, time.Now(), in.Header)
	if in.StatusCode/100 == 2 && in.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: status %d", ErrUnexpectedResponse, in.StatusCode)
	}
	if in.StatusCode != http.StatusOK {
		// A read error is ignored, because the status alone identifies an error.
		body, _ := io.ReadAll(io.LimitReader(in.Body, maxErrorBody))
		return nil, decodeError(in.StatusCode, in.Header, body, c.redact)
	}
	limit := r.maxBody()
	body, err := io.ReadAll(io.LimitReader(in.Body, int64(limit)+1))
	if err != nil {
		return nil, c.connectionError("read the response: ", err)
	}
	if len(body) > limit {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", ErrUnexpectedResponse, limit)
	}
	return &response{header: in.Header, body: body}, nil
}

// connectionError is an error of net/http without secrets: its text may quote what the
// server wrote, and a server may repeat what it received.
type connectionError struct {
	text string
	err  error
}

func (e *connectionError) Error() string { return e.text }

func (e *connectionError) Unwrap() error { return e.err }

func (c *Client) connectionError(doing string, err error) error {
	return &connectionError{"parley: " + doing + c.redact.Replace(err.Error()), err}
}

// call sends a request and decodes the response into into, a pointer to a struct.
func (c *Client) call(ctx context.Context, r *request, into any) (http.Header, error) {
	a, err := c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := decode(a.body, into); err != nil {
		return nil, err
	}
	return a.header, nil
}

// document sends a request whose response is not JSON in an envelope. A page in its place, for
// instance of a proxy, is ErrUnexpectedResponse.
func (c *Client) document(ctx context.Context, r *request) ([]byte, error) {
	response, err := c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	if mediaType, _, _ := mime.ParseMediaType(response.header.Get("Content-Type")); mediaType == "text/html" {
		return nil, fmt.Errorf("%w: it is a page instead of the document", ErrUnexpectedResponse)
	}
	return response.body, nil
}

// decode decodes JSON. Its errors name the field with a wrong type, and repeat no
// value.
func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	if err == nil {
		return nil
	}
	field := ""
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && mistyped.Field != "" {
		field = " in " + mistyped.Field
	}
	return fmt.Errorf("%w: invalid JSON%s", ErrUnexpectedResponse, field)
}

// sendJSON encodes a body and sends the request with it.
func (c *Client) sendJSON(ctx context.Context, r *request, body, into any) (http.Header, error) {
	if err := checkTexts("", reflect.ValueOf(body)); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(body)
	if err != nil { // a time in a year after 9999
		return nil, fmt.Errorf("%w: %w", ErrInvalidArgument, err)
	}
	r.body = encoded
	return c.call(ctx, r, into)
}

// splitHeader returns the names in a header, which are separated by commas.
func splitHeader(header http.Header, name string) []string {
	var list []string
	for item := range strings.SplitSeq(strings.Join(header.Values(name), ","), ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
