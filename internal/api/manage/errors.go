package manage

import (
	"net/http"
	"strconv"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

// statusByKind maps each kind of error to its status. Other kinds are 500.
var statusByKind = map[fault.Kind]int{
	fault.Invalid:      http.StatusBadRequest,
	fault.Unauthorized: http.StatusUnauthorized,
	fault.NotFound:     http.StatusNotFound,
	fault.Conflict:     http.StatusConflict,
	fault.Exhausted:    http.StatusTooManyRequests,
	fault.Unavailable:  http.StatusServiceUnavailable,
}

func writeError(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	httpx.LogError(r, f.Err)
	status, known := statusByKind[f.Kind]
	if !known {
		status = http.StatusInternalServerError
	}
	switch f.Code {
	case httpx.CodeUnsupportedMediaType:
		status = http.StatusUnsupportedMediaType
	case httpx.CodeBodyTooLarge:
		status = http.StatusRequestEntityTooLarge
	}
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="management"`)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int((f.RetryAfter+time.Second-1)/time.Second))))
	}
	writeErrorBody(w, status, f.Code, f.Message)
}

func writeErrorBody(w http.ResponseWriter, status int, code, message string) {
	var out Refusal
	out.Error.Code, out.Error.Message = RefusalErrorCode(code), message
	httpx.WriteJSON(w, status, out)
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	writeErrorBody(w, http.StatusNotFound, "not_found", "there is no such path in the management API")
}

func notAllowed(w http.ResponseWriter, r *http.Request) {
	writeErrorBody(w, http.StatusMethodNotAllowed, "method_not_allowed",
		"this path takes "+w.Header().Get("Allow")+", not "+r.Method)
}
