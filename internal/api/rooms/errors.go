package rooms

import (
	"net/http"
	"strconv"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

// errorBody is the body of every refusal.
type errorBody struct {
	Error   string `json:"error"`
	Message string `json:"message,omitempty"`
}

// WriteErrorMessage answers with a refusal's sentence.
func (a *API) WriteErrorMessage(w http.ResponseWriter, r *http.Request, status int, sentence string) {
	body := errorBody{Error: sentence}
	if a.DuplicateMessage && a.hasMessageField(r.URL.Path) {
		body.Message = sentence
	}
	httpx.WriteJSON(w, status, body)
}

// statusByKind says, in this one place, what a kind of refusal is for versions 3
// and 4.
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

// WriteError answers with the status and the sentence of a refusal.
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

// NotFound answers for a path that the version does not have.
func NotFound(w http.ResponseWriter, _ *http.Request) {
	httpx.WriteJSON(w, http.StatusNotFound, errorBody{Error: "there is no such path in this version of the API"})
}

// NotAllowed answers for a method that the path does not have; Allow is set.
func (a *API) NotAllowed(w http.ResponseWriter, r *http.Request) {
	a.WriteErrorMessage(w, r, http.StatusMethodNotAllowed, "this path takes "+w.Header().Get("Allow")+", not "+r.Method)
}
