package roomapi

import (
	"net/http"

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
	if a.repeatsMessage[r.URL.Path] {
		body.Message = sentence
	}
	httpx.WriteJSON(w, status, body)
}

// statusExceptions are the statuses that versions 3 and 4 have for themselves: a room
// that has ended is a 409.
var statusExceptions = map[fault.Kind]int{fault.Gone: http.StatusConflict}

// WriteError writes the response to an error: its status, message and headers.
func (a *API) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	httpx.LogFault(r, f)
	if f.Kind == fault.Unauthorized {
		w.Header().Set("WWW-Authenticate", `Parley-HMAC realm="`+a.Name+`"`)
	}
	if f.Kind == fault.Exhausted || f.Kind == fault.Unavailable || f.RetryAfter > 0 {
		httpx.SetRetryAfter(w.Header(), f.RetryAfter)
	}
	a.WriteErrorMessage(w, r, httpx.Status(f, statusExceptions), f.Message)
}

// notFound writes the response for a path that the version does not have.
func notFound(w http.ResponseWriter, _ *http.Request) {
	httpx.WriteJSON(w, http.StatusNotFound, errorBody{Error: "there is no such path in this version of the API"})
}

// notAllowed writes the response for a method that the path does not have. The
// header Allow must be set.
func (a *API) notAllowed(w http.ResponseWriter, r *http.Request) {
	a.WriteErrorMessage(w, r, http.StatusMethodNotAllowed, "this path takes "+w.Header().Get("Allow")+", not "+r.Method)
}
