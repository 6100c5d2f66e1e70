package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The kinds of errors. Test for them with errors.Is.
var (
	// ErrInvalid is 400, 413, 415 and 422: the message names the field and the
	// bound.
	ErrInvalid = errors.New("parley: invalid request")
	// ErrUnauthorized is 401: unknown project or key, wrong signature or wrong
	// time. Client.Requests shows the cause for version 5.
	ErrUnauthorized = errors.New("parley: unauthorized")
	// ErrForbidden is 403: the project is inactive or suspended.
	ErrForbidden = errors.New("parley: forbidden")
	// ErrNotFound is 404: no such room or resource, or version 5 is disabled
	// (CodeGatewayDisabled).
	ErrNotFound = errors.New("parley: not found")
	// ErrConflict is 409: the client_room_id is taken, a request with the same
	// Idempotency-Key is in progress, or the room's state forbids it.
	ErrConflict = errors.New("parley: conflict")
	// ErrGone is 410: the operator has ended this version of the API.
	ErrGone = errors.New("parley: gone")
	// ErrRateLimited is 429. Error.RetryAfter is the time to wait.
	ErrRateLimited = errors.New("parley: rate limited")
	// ErrUnavailable is 502, 503 and 504: try again later.
	ErrUnavailable = errors.New("parley: unavailable")
)

// ErrUnexpectedResponse is returned for a response that the API does not document or
// that is larger than 4 MiB, or 64 MiB for ActiveRooms. A call that writes may
// nevertheless have succeeded.
var ErrUnexpectedResponse = errors.New("parley: unexpected response")

// ErrInvalidArgument is returned for an argument that no server accepts, such as an empty
// RoomID or a text that is not UTF-8. The text of the error names the field. Nothing was sent.
var ErrInvalidArgument = errors.New("parley: invalid argument")

// The codes of version 5.
const (
	CodeUnauthorized       = "SVC_UNAUTHORIZED"
	CodeProjectSuspended   = "SVC_GATEWAY_PROJECT_SUSPENDED"
	CodeGatewayDisabled    = "SVC_GATEWAY_DISABLED"
	CodeResourceNotFound   = "SVC_RESOURCE_NOT_FOUND"
	CodeGatewayUnavailable = "SVC_GATEWAY_UNAVAILABLE"
	CodeInvalidRequest     = "SVC_INVALID_REQUEST"
	CodeRateLimited        = "SVC_RATE_LIMITED"
)

// Error is the error response of the server or of a proxy.
type Error struct {
	// Status is the HTTP status, such as 404.
	Status int
	// Code is one of the codes of version 5; empty in other versions.
	Code string
	// Message is the server's message, or the text of the status if there is none.
	// At most 500 printable characters.
	Message string
	// RequestID identifies the request in the server's log. It is not secret.
	RequestID string
	// RetryAfter is how long the server asks to wait; 0 if it does not say.
	RetryAfter time.Duration
	// Attempts is the number of attempts. A conflict after more than one can be
	// caused by an earlier attempt whose response was lost.
	Attempts int
	// Remedy is one sentence about what to do, for mistakes that the client
	// recognizes; empty otherwise.
	Remedy string
}

// Error returns the status, the code, the message and the request, and on a second line the
// remedy if there is one.
func (e *Error) Error() string {
	text := fmt.Sprintf("parley: %d", e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	text += ": " + e.Message
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	if e.Remedy != "" {
		text += "\n" + e.Remedy
	}
	return text
}

// Is reports whether target is the sentinel error of this status.
func (e *Error) Is(target error) bool { return target == e.sentinel() }

func (e *Error) sentinel() error {
	switch e.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return ErrInvalid
	case http.StatusUnauthorized:
		return ErrUnauthorized
	case http.StatusForbidden:
		return ErrForbidden
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusConflict:
		return ErrConflict
	case http.StatusGone:
		return ErrGone
	case http.StatusTooManyRequests:
		return ErrRateLimited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ErrUnavailable
	}
	return nil
}

// IsUnauthorized reports whether err is a 401.
func IsUnauthorized(err error) bool { return errors.Is(err, ErrUnauthorized) }

// IsForbidden reports whether err is a 403.
func IsForbidden(err error) bool { return errors.Is(err, ErrForbidden) }

// IsNotFound reports whether err is a 404.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// IsConflict reports whether err is a 409.
func IsConflict(err error) bool { return errors.Is(err, ErrConflict) }

// IsGone reports whether err is a 410.
func IsGone(err error) bool { return errors.Is(err, ErrGone) }

// IsRateLimited reports whether err is a 429.
func IsRateLimited(err error) bool { return errors.Is(err, ErrRateLimited) }

// IsUnavailable reports whether err is a 502, 503 or 504.
func IsUnavailable(err error) bool { return errors.Is(err, ErrUnavailable) }

const (
	maxMessage = 500 // characters
	maxName    = 100 // characters of a code or a request id
)

// decodeError decodes an error response. It ignores a body in neither of the two documented
// forms, such as the page of a proxy.
func decodeError(status int, header http.Header, body []byte, redact *strings.Replacer) *Error {
	e := &Error{Status: status, RequestID: requestID(header), RetryAfter: retryAfter(header)}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	var inner struct {
		Code      string `json:"code"`
		Message   string `json:"message"`
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal(body, &outer) == nil && json.Unmarshal(outer.Error, &e.Message) != nil {
		if json.Unmarshal(outer.Error, &inner) == nil {
			e.Code, e.Message = inner.Code, inner.Message
			if inner.RequestID != "" {
				e.RequestID = inner.RequestID
			}
		}
	}
	e.Code = printable(redact.Replace(e.Code), maxName)
	e.Message = printable(redact.Replace(e.Message), maxMessage)
	e.RequestID = printable(redact.Replace(e.RequestID), maxName)
	if e.Message == "" {
		e.Message = http.StatusText(status)
	}
	return e
}

// requestID returns the server's id of a request; "" if there is none.
func requestID(header http.Header) string {
	if id := header.Get("X-Gateway-Request-ID"); id != "" {
		return id
	}
	return header.Get("X-Request-ID")
}

// printable makes a text safe for a log: printable, on one line, and with at most
// limit characters.
func printable(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, text)
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit-1]) + "…"
	}
	return text
}
