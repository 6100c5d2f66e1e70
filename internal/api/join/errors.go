package join

import (
	"net/http"
	"strconv"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/refusal"
)

// statusByKind maps each kind of error to its status. Other kinds are 500.
var statusByKind = map[fault.Kind]int{
	fault.Invalid:     http.StatusBadRequest,
	fault.Forbidden:   http.StatusForbidden,
	fault.NotFound:    http.StatusNotFound,
	fault.Conflict:    http.StatusConflict,
	fault.Gone:        http.StatusGone,
	fault.Exhausted:   http.StatusTooManyRequests,
	fault.Unavailable: http.StatusServiceUnavailable,
}

// writeError writes the response for an error. An unknown room counts as a wrong
// guess of the client's address.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	if f.Code == string(RefusalErrorCodeRoomNotFound) {
		if limitErr := s.recordGuess(r); limitErr != nil {
			f = fault.From(limitErr)
		}
	}
	httpx.LogError(r, f.Err)
	switch RefusalErrorCode(f.Code) {
	case RefusalErrorCodeTooManyJoins:
		s.refusals.Record(refusal.NewSeats, f.Message, "client", httpx.FromContext(r.Context()).Client,
			"room_id", r.PathValue("room_id"))
	case RefusalErrorCodeCheckBusy:
		s.refusals.Record(refusal.Checks, f.Message, "client", httpx.FromContext(r.Context()).Client)
	}
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
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int((f.RetryAfter+time.Second-1)/time.Second))))
	}
	writeErrorBody(w, status, RefusalErrorCode(f.Code), f.Message, f.Reason)
}

func writeErrorBody(w http.ResponseWriter, status int, code RefusalErrorCode, message, reason string) {
	var out Refusal
	out.Error.Code, out.Error.Message = code, message
	if reason != "" {
		value := RefusalErrorReason(reason)
		out.Error.Reason = &value
	}
	httpx.WriteJSON(w, status, out)
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	writeErrorBody(w, http.StatusNotFound, RefusalErrorCodeRoomNotFound, "there is no such path", "")
}

func notAllowed(w http.ResponseWriter, r *http.Request) {
	writeErrorBody(w, http.StatusMethodNotAllowed, RefusalErrorCodeInvalidRequest,
		"this path takes "+w.Header().Get("Allow")+", not "+r.Method, "")
}
