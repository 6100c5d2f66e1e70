package manage

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

func writeError(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	httpx.LogError(r, f.Err)
	switch f.Kind {
	case fault.Unauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="management"`)
	case fault.Exhausted, fault.Unavailable:
		httpx.SetRetryAfter(w.Header(), f.RetryAfter)
	}
	writeErrorBody(w, httpx.Status(f, nil), f.Code, f.Message)
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
