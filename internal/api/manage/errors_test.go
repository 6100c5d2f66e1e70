package manage

import (
	"strings"
	"testing"

	"parley/internal/fault"
)

// The messages of common refusals, with what can be done instead.
var (
	noProject       = withRemedy(fault.New(fault.NotFound, "project_not_found", "there is no such project"))
	noOrganization  = withRemedy(fault.New(fault.NotFound, "organization_not_found", "there is no such organization"))
	noRoom          = withRemedy(fault.New(fault.NotFound, "room_not_found", "there is no such room"))
	noToken         = withRemedy(fault.New(fault.NotFound, "token_not_found", "there is no such token"))
	noUser          = withRemedy(fault.New(fault.NotFound, "user_not_found", "there is no such user"))
	noSession       = withRemedy(fault.New(fault.NotFound, "session_not_found", "there is no such session"))
	noDelivery      = withRemedy(fault.New(fault.NotFound, "delivery_not_found", "there is no such delivery"))
	noOverlap       = withRemedy(fault.New(fault.NotFound, "no_overlap", "there is no overlap"))
	noLiveToken     = withRemedy(fault.New(fault.Unauthorized, "unauthorized", "a live management token is required"))
	noSeat          = withRemedy(fault.New(fault.NotFound, "seat_not_found", "there is no such seat in this project"))
	nothingToRetry  = withRemedy(fault.New(fault.NotFound, "nothing_to_retry", "no pending delivery matches"))
	nothingToReplay = withRemedy(fault.New(fault.NotFound, "nothing_to_replay", "no delivery matches"))
	emailTaken      = withRemedy(fault.New(fault.Conflict, "email_taken",
		"there is already a user with this email address"))
	targetNotPaused = withRemedy(fault.New(fault.NotFound, "target_not_paused", "this target is not paused"))
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
		noDelivery:  "there is no such delivery: parley webhook list shows the stored deliveries",
		noLiveToken: "a live management token is required: an owner creates one with parley token create",
		withRemedy(fault.New(fault.Forbidden, "project_suspended", "the project is suspended")): "the project is " +
			"suspended: an owner or an operator can resume it with parley project resume",
		withRemedy(fault.New(fault.Conflict, "organization_suspended", "it is suspended: resume it")): "it is suspended: " +
			"resume it",
		withRemedy(fault.New(fault.Invalid, "invalid_request", "name is required")): "name is required",
	} {
		if message != want {
			t.Errorf("message: got %q, want %q", message, want)
		}
	}
}
