package rooms

import (
	"net/http"
	"strconv"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

// errorBody is the body of every error response.
type errorBody struct {
	Error   string `json:"error"`
	Message string `json:"message,omitempty"`
}

// WriteErrorMessage writes an error response.
func (a *API) WriteErrorMessage(w http.ResponseWriter, r *http.Request, status int, sentence string) {
	body := errorBody{Error: sentence}
	if a.DuplicateMessage && a.hasMessageField(r.URL.Path) {
		body.Message = sentence
	}
	httpx.WriteJSON(w, status, body)
}

// statusByKind is the status of each kind of error in versions 3 and 4.
var statusByKind = map[fault.Kind]int{
	fault.Invalid:      http.StatusBadRequest,
	fault.Unauthorized: http.StatusUnauthorized,
	fault.Forbidden:    http.StatusForbidden,
	fault.NotFound:     http.StatusNotFound,
	fault.Conflict:     http.StatusConflict,
	fault.Gone:         http.StatusConflict,
	fault.Mismatch:     http.StatusUnprocessableEntity,
	fault.Exhausted:    http.StatusTooManyRequests,
	fault.Unavailable:  http.StatusServiceUnavailable,
}

// WriteError writes the response to an error: its status, message and headers.
func (a *API) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	httpx.LogError(r, f.Err)
	status, known := statusByKind[f.Kind]
	if !known {
		status = http.StatusInternalServerError
	}
	switch {
	case f.Code == httpx.CodeUnsupportedMediaType:
		status = http.StatusUnsupportedMediaType
	case f.Code == httpx.CodeBodyTooLarge:
		status = http.StatusRequestEntityTooLarge
	case f.Kind == fault.Unauthorized:
		w.Header().Set("WWW-Authenticate", `Parley-HMAC realm="`+a.Version+`"`)
	}
	if f.Kind == fault.Exhausted || f.Kind == fault.Unavailable || f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int((f.RetryAfter+time.Second-1)/time.Second))))
	}
	a.WriteErrorMessage(w, r, status, f.Message)
}

// NotFound writes the response for a path that the version does not have.
func NotFound(w http.ResponseWriter, _ *http.Request) {
	httpx.WriteJSON(w, http.StatusNotFound, errorBody{Error: "there is no such path in this version of the API"})
}

// NotAllowed writes the response for a method that the path does not have. The
// header Allow must be set.
func (a *API) NotAllowed(w http.ResponseWriter, r *http.Request) {
	a.WriteErrorMessage(w, r, http.StatusMethodNotAllowed, "this path takes "+w.Header().Get("Allow")+", not "+r.Method)
}
