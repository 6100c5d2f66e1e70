package manage

import (
	"errors"
	"net/http"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/operator"
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
	writeErrorBody(w, httpx.Status(f, nil), f.Code, withRemedy(f, caller(r), httpx.FromContext(r.Context()).ID))
}

// WriteInternalError writes the response to a request whose handler panicked.
func WriteInternalError(w http.ResponseWriter, r *http.Request) {
	writeError(w, r, fault.New(fault.Internal, "internal", "internal error"))
}

// remedy is what helps after an error, and the roles that may do it.
type remedy struct {
	command string // for callers with the command line
	page    string // for callers who are signed in to the console; empty if the console has no page for it
	// afterCause says that what follows a colon in the message is a cause and no remedy.
	afterCause bool
}

// remedies maps the code of an error to its remedy. The packages that return these errors also serve other APIs, whose
// callers have no such commands and pages.
var remedies = map[string]remedy{
	"unauthorized": {command: "an owner creates one with parley token create"},
	"organization_not_found": {
		command: "parley org list shows all organizations",
		page:    "the page Organizations lists all organizations",
	},
	"project_not_found": {
		command: "parley project list shows those that you may use, and an owner can give you others with another token",
		page:    "the page Projects and keys lists those that you may use, and an owner can give you others",
	},
	"project_suspended": {
		command: "an owner or an operator can resume it with parley project resume",
		page:    "an owner or an operator can resume it on the page of the project",
	},
	"organization_suspended": {
		command: "an owner or an operator can resume it with parley org resume",
		page:    "an owner or an operator can resume it on the page of the organization",
	},
	"room_not_found": {
		command: "parley room list finds rooms by title, person and time, until they are deleted after their " +
			"retention period",
		page: "the page Rooms finds rooms by title, person and time, until they are deleted after their retention period",
	},
	"delivery_not_found": {
		command: "parley webhook list shows the stored deliveries",
		page:    "the page Webhooks lists the stored deliveries",
	},
	"room_over": {
		command:    "it never opens again, but the integrator's backend can create another room",
		afterCause: true,
	},
	"target_paused": {
		command: "an owner, an operator or an integrator of the project can resume it with parley webhook resume, which " +
			"sends all its deliveries",
		page: "an owner, an operator or an integrator of the project can resume it on the page Webhooks, which sends all " +
			"its deliveries",
	},
	"target_not_paused": {
		command: "parley webhook targets lists the paused targets and those that fail",
		page:    "the page Webhooks lists the paused targets and those that fail",
	},
	"target_not_found": {
		command: "parley webhook list shows the URLs that are used, to everybody who may see the project",
		page:    "the page Webhooks lists the URLs that are used, to everybody who may see the project",
	},
	"token_not_found": {
		command: "an owner, an operator or an auditor sees all with parley token list",
		page:    "the page Team lists all tokens",
	},
	"user_not_found": {
		command: "an owner, an operator or an auditor sees all with parley user list",
		page:    "the page Team lists all users",
	},
	"session_not_found": {
		command: "an owner, an operator or an auditor sees all with parley session list",
		page:    "the page Team lists all sessions",
	},
	"overlap_in_force": {
		command: "wait for its end, which parley key list and parley project show print, end it now with " +
			"parley key revoke-overlap or parley project revoke-secret-overlap, or add --force, which ends it",
		page: "wait for its end, or end it now on the page of the project",
	},
	"no_overlap": {
		command: "only the current one works, and an owner, an operator or an integrator of the project can begin " +
			"an overlap with parley key rotate",
		page: "only the current one works, and an owner, an operator or an integrator of the project can begin " +
			"an overlap with a rotation on the page of the project",
	},
	"no_webhook_target": {
		command: "an owner or an operator can set one with parley project set",
		page:    "an owner or an operator can set one on the page of the project",
	},
	"project_deleted": {command: "nobody can stop that, but an owner or an operator can create another project"},
	"logo_not_found":  {command: "an owner or an operator can set one with parley project logo"},
	"seat_not_found": {
		command: "parley room people lists the participants of a room",
		page:    "the page of the room lists its participants",
	},
	"nothing_to_replay": {
		command: "parley webhook list shows the stored deliveries, and parley webhook retry sends those that wait",
		page:    `the page Webhooks lists the stored deliveries, and its button "Retry now" sends those that wait`,
	},
	"nothing_to_retry": {
		command: "parley webhook list --state pending shows the pending deliveries, and parley webhook replay sends " +
			"others again",
		page: `the page Webhooks lists the pending deliveries, and its button "Replay deliveries" sends others again`,
	},
	"check_not_found": {command: "an owner or an operator creates another one with parley doctor --invite"},
	"node_lost": {
		command:    "it has nothing to hand over, and after a minute it is no longer listed",
		afterCause: true,
	},
	"backup_failed": {
		command:    "the operator of the server can remove the cause, and then repeat the backup with parley backup FILE",
		afterCause: true,
	},
	"internal": {command: "the operator of the server finds the cause in its log under the request ID " + requestID},
	"email_taken": {
		command: "parley user list shows all users, and an owner changes a role with parley user change",
		page:    "the page Team lists all users, and an owner changes a role there",
	},
}

// requestID stands in a remedy for the ID of the request.
const requestID = "{request_id}"

// secretOverlap is the remedy of no_overlap for a project secret.
var secretOverlap = remedy{
	command: "only the current one works, and an owner, an operator or an integrator of the project can begin " +
		"an overlap with parley project rotate-secret",
	page: remedies["no_overlap"].page,
}

// remedyOf returns the remedy of an error, if it has one.
func remedyOf(f *fault.Error) (help remedy, ok bool) {
	if errors.Is(f, key.ErrNoSecretOverlap) {
		return secretOverlap, true
	}
	help, ok = remedies[f.Code]
	return help, ok
}

// withRemedy returns the message of an error with its remedy for a caller, unless the message has one.
func withRemedy(f *fault.Error, c operator.Caller, id string) string {
	message := f.Message
	if c.Role == operator.Owner || c.Role == operator.Operator || c.Role == operator.Auditor {
		message = f.ForOperator()
	}
	help, ok := remedyOf(f)
	hasColon := strings.Contains(message, ": ")
	if !ok || hasColon && !help.afterCause {
		return message
	}
	separator := ": "
	if hasColon {
		separator = "; "
	}
	if c.SessionID != "" && help.page != "" {
		return message + separator + help.page
	}
	return message + separator + strings.ReplaceAll(help.command, requestID, id)
}

func writeErrorBody(w http.ResponseWriter, status int, code, message string) {
	var out Error
	out.Error.Code, out.Error.Message = ErrorCode(code), message
	httpx.WriteJSON(w, status, out)
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	writeErrorBody(w, http.StatusNotFound, "not_found",
		"there is no such path in the management API: use one of its openapi.yaml, in the source of this release")
}

func notAllowed(w http.ResponseWriter, r *http.Request) {
	writeErrorBody(w, http.StatusMethodNotAllowed, "method_not_allowed",
		"this path takes "+w.Header().Get("Allow")+", not "+r.Method)
}
