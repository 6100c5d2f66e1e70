package manage

import (
	"net/http"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

func writeError(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	httpx.LogFault(r, f)
	switch f.Kind {
	case fault.Unauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="management"`)
	case fault.Exhausted, fault.Unavailable:
		httpx.SetRetryAfter(w.Header(), f.RetryAfter)
	}
	writeErrorBody(w, httpx.Status(f, nil), f.Code, withRemedy(f))
}

// remedies maps the code of an error to the command that helps, and the roles that may run it. The
// packages that return these errors also serve other APIs, whose callers have no such commands.
var remedies = map[string]string{
	"unauthorized":           "an owner creates one with parley token create",
	"organization_not_found": "parley org list shows all organizations",
	"project_not_found": "parley project list shows those that you may use, and an owner can give you others with " +
		"another token",
	"project_suspended":      "an owner or an operator can resume it with parley project resume",
	"organization_suspended": "an owner or an operator can resume it with parley org resume",
	"room_not_found": "parley room list finds rooms by title, person and time, until they are deleted after their " +
		"retention period",
	"delivery_not_found": "parley webhook list shows the stored deliveries",
	"target_not_paused":  "parley webhook targets lists the paused targets and those that fail",
	"token_not_found":    "an owner, an operator or an auditor sees all with parley token list",
	"user_not_found":     "an owner, an operator or an auditor sees all with parley user list",
	"session_not_found":  "an owner, an operator or an auditor sees all with parley session list",
	"no_overlap":         "only the current credential works, and parley key rotate begins another overlap",
	"no_webhook_target":  "an owner or an operator can set one with parley project set",
	"project_deleted":    "nobody can stop that, but an owner or an operator can create another project",
	"logo_not_found":     "an owner or an operator can set one with parley project logo",
	"seat_not_found":     "parley room people lists the participants of a room",
	"nothing_to_replay": "parley webhook list shows the stored deliveries, and parley webhook retry sends those " +
		"that wait",
	"nothing_to_retry": "parley webhook list --state pending shows the pending deliveries, and parley webhook " +
		"replay sends others again",
	"email_taken": "parley user list shows all users, and an owner changes a role with parley user change",
}

// withRemedy returns the message of an error with its remedy, unless the message has one.
func withRemedy(f *fault.Error) string {
	remedy, ok := remedies[f.Code]
	if !ok || strings.Contains(f.Message, ": ") {
		return f.Message
	}
	return f.Message + ": " + remedy
}

func writeErrorBody(w http.ResponseWriter, status int, code, message string) {
	var out Error
	out.Error.Code, out.Error.Message = ErrorCode(code), message
	httpx.WriteJSON(w, status, out)
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	writeErrorBody(w, http.StatusNotFound, "not_found", "there is no such path in the management API")
}

func notAllowed(w http.ResponseWriter, r *http.Request) {
	writeErrorBody(w, http.StatusMethodNotAllowed, "method_not_allowed",
		"this path takes "+w.Header().Get("Allow")+", not "+r.Method)
}
