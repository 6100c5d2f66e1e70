package manage

import (
	"cmp"
	"strings"
	"testing"

	"parley/internal/fault"
	"parley/internal/operator"
)

// forToken returns the message of an error for a caller with the command line.
func forToken(f *fault.Error) string { return withRemedy(f, operator.Caller{}) }

// inConsole returns the message of an error for a caller who is signed in to the console.
func inConsole(f *fault.Error) string {
	var c operator.Caller
	c.SessionID = "0197"
	return withRemedy(f, c)
}

// The messages of common refusals, with what can be done instead.
var (
	noProject       = forToken(fault.New(fault.NotFound, "project_not_found", "there is no such project"))
	noOrganization  = forToken(fault.New(fault.NotFound, "organization_not_found", "there is no such organization"))
	noRoom          = forToken(fault.New(fault.NotFound, "room_not_found", "there is no such room"))
	noToken         = forToken(fault.New(fault.NotFound, "token_not_found", "there is no such token"))
	noUser          = forToken(fault.New(fault.NotFound, "user_not_found", "there is no such user"))
	noSession       = forToken(fault.New(fault.NotFound, "session_not_found", "there is no such session"))
	noDelivery      = forToken(fault.New(fault.NotFound, "delivery_not_found", "there is no such delivery"))
	noOverlap       = forToken(fault.New(fault.NotFound, "no_overlap", "there is no overlap"))
	noLiveToken     = forToken(fault.New(fault.Unauthorized, "unauthorized", "a live management token is required"))
	noSeat          = forToken(fault.New(fault.NotFound, "seat_not_found", "there is no such seat in this project"))
	nothingToRetry  = forToken(fault.New(fault.NotFound, "nothing_to_retry", "no pending delivery matches"))
	nothingToReplay = forToken(fault.New(fault.NotFound, "nothing_to_replay", "no delivery matches"))
	emailTaken      = forToken(fault.New(fault.Conflict, "email_taken",
		"there is already a user with this email address"))
	noProjectInConsole = inConsole(fault.New(fault.NotFound, "project_not_found", "there is no such project"))
	noSessionInConsole = inConsole(fault.New(fault.NotFound, "session_not_found", "there is no such session"))
	targetNotPaused    = forToken(fault.New(fault.NotFound, "target_not_paused", "this target is not paused"))
)

// assertRevoked checks that the credential is refused as a revoked token.
func (b *fixture) assertRevoked() {
	b.t.Helper()
	status, out := b.call("GET", "/tokens", nil)
	refusal, _ := out["error"].(m)
	text, _ := refusal["message"].(string)
	if status != 401 || refusal["code"] != "token_revoked" ||
		!strings.HasSuffix(text, ": an owner can create another one with parley token create") {
		b.t.Errorf("call with a revoked token: got %d %v, want 401 token_revoked and what to do", status, out)
	}
}

// A refusal says what can be done instead, once, and by whom.
func TestErrors_SayWhatToDo(t *testing.T) {
	for message, want := range map[string]string{
		noProject: "there is no such project: parley project list shows those that you may use, and an owner can give " +
			"you others with another token",
		noOrganization: "there is no such organization: parley org list shows all organizations",
		noRoom: "there is no such room: parley room list finds rooms by title, person and time, until they are deleted " +
			"after their retention period",
		noToken:   "there is no such token: an owner, an operator or an auditor sees all with parley token list",
		noUser:    "there is no such user: an owner, an operator or an auditor sees all with parley user list",
		noSession: "there is no such session: an owner, an operator or an auditor sees all with parley session list",
		noOverlap: "there is no overlap: only the current credential works, and parley key rotate begins another overlap",
		noSeat:    "there is no such seat in this project: parley room people lists the participants of a room",
		nothingToRetry: "no pending delivery matches: parley webhook list --state pending shows the pending deliveries, and " +
			"parley webhook replay sends others again",
		nothingToReplay: "no delivery matches: parley webhook list shows the stored deliveries, and parley webhook " +
			"retry sends those that wait",
		emailTaken: "there is already a user with this email address: parley user list shows all users, and an owner changes " +
			"a role with parley user change",
		noProjectInConsole: "there is no such project: the page Projects and keys lists those that you may use, and an " +
			"owner can give you others",
		noSessionInConsole: "there is no such session: the page Team lists all sessions",
		noDelivery:         "there is no such delivery: parley webhook list shows the stored deliveries",
		noLiveToken:        "a live management token is required: an owner creates one with parley token create",
		forToken(fault.New(fault.Forbidden, "project_suspended", "the project is suspended")): "the project is " +
			"suspended: an owner or an operator can resume it with parley project resume",
		forToken(fault.New(fault.Conflict, "organization_suspended", "it is suspended: resume it")): "it is suspended: " +
			"resume it",
		forToken(fault.New(fault.Invalid, "invalid_request", "name is required")): "name is required",
	} {
		if message != want {
			t.Errorf("message: got %q, want %q", message, want)
		}
	}
}

// People who are signed in to the console read which page helps, if one does.
func TestErrors_NameThePageOfTheConsole(t *testing.T) {
	for code, help := range remedies {
		got := inConsole(fault.New(fault.NotFound, code, "no"))
		want := "no: " + cmp.Or(help.page, help.command)
		if got != want {
			t.Errorf("message of %s: got %q, want %q", code, got, want)
		}
		if strings.Contains(help.page, "parley ") {
			t.Errorf("page of %s: got the command %q, want a page or a button", code, help.page)
		}
	}
}
