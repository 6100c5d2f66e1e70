package v5

import (
	"encoding/json"
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

const codeDisabled = "gateway_disabled"

var (
	errDisabled         = fault.New(fault.NotFound, codeDisabled, "version 5 is disabled in this environment")
	errResourceNotFound = fault.New(fault.NotFound, "resource_not_found", "there is no such resource")
	// errMethodNotAllowed is a 404, because version 5 describes no 405: it has only the
	// statuses in codeByStatus. The header Allow names the methods.
	errMethodNotAllowed = fault.New(fault.NotFound, "resource_not_found", "this resource is read with GET or HEAD")
	errUnauthorized     = fault.New(fault.Unauthorized, "unauthorized",
		"the API key, signature or timestamp was not accepted")
	errSuspended = fault.New(fault.Forbidden, "project_suspended", "the project is suspended")
)

// statusExceptions are the statuses that version 5 has for itself: a failure of the
// service is a 503.
var statusExceptions = map[fault.Kind]int{fault.Internal: http.StatusServiceUnavailable}

var codeByStatus = map[int]ErrorCode{
	http.StatusBadRequest:            CodeInvalidRequest,
	http.StatusRequestEntityTooLarge: CodeInvalidRequest,
	http.StatusUnauthorized:          CodeUnauthorized,
	http.StatusForbidden:             CodeProjectSuspended,
	http.StatusNotFound:              CodeNotFound,
	http.StatusTooManyRequests:       CodeRateLimited,
	http.StatusServiceUnavailable:    CodeUnavailable,
}

// mapError returns the status, the code and the message of an error in version 5.
func mapError(f *fault.Error) (status int, code ErrorCode, message string) {
	status, message = httpx.Status(f, statusExceptions), f.Message
	code = codeByStatus[status]
	switch {
	case f.Code == codeDisabled:
		code = CodeDisabled
	case f.Kind == fault.Internal: // only the log shows the cause
		message = "the gateway is unavailable, try again in a moment"
	}
	return status, code, message
}

// writeError writes the response for an error.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	httpx.LogFault(r, f)
	status, code, message := mapError(f)
	h := w.Header()
	switch status {
	case http.StatusUnauthorized:
		h["Www-Authenticate"] = []string{"SVC-HMAC-V5-1"}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		httpx.SetRetryAfter(h, f.RetryAfter)
	}
	var body Error
	body.Error.Code, body.Error.Message, body.Error.RequestId = code, message, httpx.FromContext(r.Context()).ID
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // unreachable because an Error contains only strings
	}
	writeResponse(w, status, text)
}

// WriteInternalError writes the response for a handler of this version that
// panicked.
func WriteInternalError(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(headerRequestID, httpx.FromContext(r.Context()).ID)
	writeError(w, r, fault.New(fault.Internal, "internal", "internal error"))
}
