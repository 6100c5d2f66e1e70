package httpx

import (
	"net/http"
	"strconv"
	"time"

	"parley/internal/fault"
)

// Codes of the errors that concern the request body as a whole.
const (
	CodeUnsupportedMediaType = "unsupported_media_type"
	CodeBodyTooLarge         = "body_too_large"
)

// statusByKind is the status of each kind of error. An API with other statuses
// passes them to Status as exceptions.
var statusByKind = map[fault.Kind]int{
	fault.Internal:     http.StatusInternalServerError,
	fault.Invalid:      http.StatusBadRequest,
	fault.Unauthorized: http.StatusUnauthorized,
	fault.Forbidden:    http.StatusForbidden,
	fault.NotFound:     http.StatusNotFound,
	fault.Conflict:     http.StatusConflict,
	fault.Mismatch:     http.StatusUnprocessableEntity,
	fault.Gone:         http.StatusGone,
	fault.Exhausted:    http.StatusTooManyRequests,
	fault.Unavailable:  http.StatusServiceUnavailable,
}

// Status returns the HTTP status of an error. exceptions has the kinds for which an
// API has another status than the others; nil for none.
func Status(f *fault.Error, exceptions map[fault.Kind]int) int {
	switch f.Code {
	case CodeUnsupportedMediaType:
		return http.StatusUnsupportedMediaType
	case CodeBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	if status, ok := exceptions[f.Kind]; ok {
		return status
	}
	return statusByKind[f.Kind]
}

// SetRetryAfter sets the header Retry-After to a time in seconds, rounded up and at
// least 1.
func SetRetryAfter(h http.Header, after time.Duration) {
	seconds := max(1, int((after+time.Second-1)/time.Second))
	h["Retry-After"] = []string{strconv.Itoa(seconds)}
}
