package v3

import (
	"net/http"
	"strconv"
	"time"

	"parley/internal/api/web"
	"parley/internal/fault"
)

// refuse answers with the status and the sentence of a refusal; this is the
// one place where version 3 says what a kind of refusal means in HTTP.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	web.LogError(r, f.Err)
	status := http.StatusInternalServerError
	switch f.Kind {
	case fault.Invalid:
		status = http.StatusBadRequest
		switch f.Code {
		case web.CodeNotJSON:
			status = http.StatusUnsupportedMediaType
		case web.CodeTooLarge:
			status = http.StatusRequestEntityTooLarge
		}
	case fault.Unauthorized:
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Parley-HMAC realm="v3"`)
	case fault.Forbidden:
		status = http.StatusForbidden
	case fault.NotFound:
		status = http.StatusNotFound
	case fault.Conflict, fault.Gone:
		status = http.StatusConflict
	case fault.Exhausted:
		status = http.StatusTooManyRequests
	case fault.Unavailable:
		status = http.StatusServiceUnavailable
	}
	if f.Kind == fault.Exhausted || f.Kind == fault.Unavailable {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int((f.RetryAfter+time.Second-1)/time.Second))))
	}
	web.JSON(w, status, Error{Error: f.Message})
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	web.JSON(w, http.StatusNotFound, Error{Error: "there is no such path in this version of the API"})
}

func notAllowed(w http.ResponseWriter, r *http.Request) {
	web.JSON(w, http.StatusMethodNotAllowed, Error{Error: "this path takes " + w.Header().Get("Allow") + ", not " + r.Method})
}

// badHeader answers for a header that the generated code could not bind: one
// that was sent more than once.
func badHeader(w http.ResponseWriter, r *http.Request, err error) {
	refuse(w, r, &fault.Error{Kind: fault.Invalid, Code: "invalid_request", Message: "the headers api-key and key must be sent at most once", Err: err})
}
