package v5

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

const codeDisabled = "gateway_disabled"

var (
	errDisabled         = fault.New(fault.NotFound, codeDisabled, "version 5 is disabled in this environment")
	errResourceNotFound = fault.New(fault.NotFound, "resource_not_found", "there is no such resource")
	errMethodNotAllowed = fault.New(fault.NotFound, "resource_not_found", "this resource is read with GET or HEAD")
	errUnauthorized     = fault.New(fault.Unauthorized, "unauthorized",
		"the API key, signature or timestamp was not accepted")
	errSuspended = fault.New(fault.Forbidden, "project_suspended", "the project is suspended")
)

// mapError returns the status, the code and the message of an error in version 5.
func mapError(f *fault.Error) (status int, code ErrorErrorCode, message string) {
	switch f.Kind {
	case fault.Invalid:
		if f.Code == httpx.CodeBodyTooLarge {
			return http.StatusRequestEntityTooLarge, SVCINVALIDREQUEST, f.Message
		}
		return http.StatusBadRequest, SVCINVALIDREQUEST, f.Message
	case fault.Unauthorized:
		return http.StatusUnauthorized, SVCUNAUTHORIZED, f.Message
	case fault.Forbidden:
		return http.StatusForbidden, SVCGATEWAYPROJECTSUSPENDED, f.Message
	case fault.NotFound:
		if f.Code == codeDisabled {
			return http.StatusNotFound, SVCGATEWAYDISABLED, f.Message
		}
		return http.StatusNotFound, SVCRESOURCENOTFOUND, f.Message
	case fault.Exhausted:
		return http.StatusTooManyRequests, SVCRATELIMITED, f.Message
	case fault.Unavailable:
		return http.StatusServiceUnavailable, SVCGATEWAYUNAVAILABLE, f.Message
	}
	// Other kinds are internal errors; only the log shows their cause.
	return http.StatusServiceUnavailable, SVCGATEWAYUNAVAILABLE, "the gateway is unavailable, try again in a moment"
}

// writeError writes the response for an error and returns its status and code.
func writeError(w http.ResponseWriter, r *http.Request, err error) (int, ErrorErrorCode) {
	f := fault.From(err)
	httpx.LogError(r, f.Err)
	status, code, message := mapError(f)
	h := w.Header()
	switch status {
	case http.StatusUnauthorized:
		h["Www-Authenticate"] = []string{"SVC-HMAC-V5-1"}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h["Retry-After"] = []string{strconv.Itoa(max(1, int((f.RetryAfter+time.Second-1)/time.Second)))}
	}
	var body Error
	body.Error.Code, body.Error.Message, body.Error.RequestId = code, message, httpx.FromContext(r.Context()).ID
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // unreachable because an Error contains only strings
	}
	writeResponse(w, status, text)
	return status, code
}

// WriteInternalError writes the response for a handler of this version that
// panicked.
func WriteInternalError(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(headerRequestID, httpx.FromContext(r.Context()).ID)
	writeError(w, r, fault.New(fault.Internal, "internal", "internal error"))
}
