package manage

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/operator"
)

// forToken returns the message of an error for a caller with the command line, with requestID in the place of the ID.
func forToken(f *fault.Error) string { return withRemedy(f, operator.Caller{}, requestID) }

// inConsole returns the message of an error for a caller who is signed in to the console.
func inConsole(f *fault.Error) string {
	var c operator.Caller
	c.SessionID = "0197"
	return withRemedy(f, c, requestID)
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
	noOverlap       = forToken(fault.New(fault.NotFound, "no_overlap", "there is no overlap of API keys"))
	noSecretOverlap = forToken(key.ErrNoSecretOverlap)
	noLiveToken     = forToken(fault.New(fault.Unauthorized, "unauthorized", "a live management token is required"))
	noSeat          = forToken(fault.New(fault.NotFound, "seat_not_found", "there is no such seat in this project"))
	nothingToRetry  = forToken(fault.New(fault.NotFound, "nothing_to_retry", "no pending delivery matches"))
	nothingToReplay = forToken(fault.New(fault.NotFound, "nothing_to_replay", "no delivery matches"))
	emailTaken      = forToken(fault.New(fault.Conflict, "email_taken",
		"there is already a user with this email address"))
	roomOver           = forToken(fault.New(fault.Conflict, "room_over", "the room is over already: its state is ended"))
	internalError      = forToken(fault.New(fault.Internal, "internal", "internal error"))
	noCheck            = forToken(fault.New(fault.NotFound, "check_not_found", "there is no such connection check"))
	noProjectInConsole = inConsole(fault.New(fault.NotFound, "project_not_found", "there is no such project"))
	noSessionInConsole = inConsole(fault.New(fault.NotFound, "session_not_found", "there is no such session"))
	targetPaused       = forToken(fault.New(fault.Conflict, "target_paused", "the target is paused"))
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
		noOverlap: "there is no overlap of API keys: only the current one works, and an owner, an operator or an " +
			"integrator of the project can begin an overlap with parley key rotate",
		noSecretOverlap: "there is no overlap of project secrets: only the current one works, and an owner, an " +
			"operator or an integrator of the project can begin an overlap with parley project rotate-secret",
		inConsole(key.ErrNoSecretOverlap): "there is no overlap of project secrets: only the current one works, " +
			"and an owner, an operator or an integrator of the project can begin an overlap with a rotation on the page of " +
			"the project",
		forToken(fault.New(fault.Unavailable, "backup_failed", "the backup could not be made: the disk is full")): "the " +
			"backup could not be made: the disk is full; the operator of the server can remove the cause, and then repeat the " +
			"backup with parley backup FILE",
		forToken(fault.New(fault.Conflict, "node_lost", "the node a is lost: it sends no heartbeats")): "the node a is " +
			"lost: it sends no heartbeats; it has nothing to hand over, and after a minute it is no longer listed",
		targetPaused: "the target is paused: an owner, an operator or an integrator of the project can resume it with " +
			"parley webhook resume, which sends all its deliveries",
		roomOver: "the room is over already: its state is ended; it never opens again, but the integrator's backend can " +
			"create another room",
		internalError: "internal error: the operator of the server finds the cause in its log under the request ID " +
			"{request_id}",
		noSeat: "there is no such seat in this project: parley room people lists the participants of a room",
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
		if help.afterCause {
			got, want = inConsole(fault.New(fault.NotFound, code, "no: cause")), "no: cause; "+cmp.Or(help.page, help.command)
		}
		if got != want {
			t.Errorf("message of %s: got %q, want %q", code, got, want)
		}
		if strings.Contains(help.page, "parley ") {
			t.Errorf("page of %s: got the command %q, want a page or a button", code, help.page)
		}
	}
}

// withoutRemedy are the codes whose messages need no remedy, each with the reason.
var withoutRemedy = map[string]string{
	"invalid_request":        "each message names the field, the rule and the bound",
	"unsupported_media_type": "the message names the media type that the operation takes",
	"body_too_large":         "the message names the bound",
	"method_not_allowed":     "the message names the methods that the path takes",
	"too_many_streams":       "the messages say which pages to close; they are not literals",
	"backup_running":         "the message says to try again, and when",
}

// saysWhatToDo finds the remedy in a message: who can do something, or an imperative.
var saysWhatToDo = regexp.MustCompile(`try again|: (an owner|the operator|parley|to send|ask|wait|use|open|make|end|` +
	`suspend|delete|stop|sign in)\b`)

// Every code of an error has a remedy in remedies, or each of its messages says what can be done.
func TestErrorCodes_SayWhatToDo(t *testing.T) {
	raw, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	enum := regexp.MustCompile(`(?s)\n    ErrorCode:\n.*?(\n    \w|\z)`).FindString(string(raw))
	codes := regexp.MustCompile(`(?m)^        - (\w+)$`).FindAllStringSubmatch(enum, -1)
	if len(codes) < 40 {
		t.Fatalf("got %d codes in the description, want at least 40", len(codes))
	}
	messages := errorMessages(t)
	for _, match := range codes {
		code := match[1]
		_, mapped := remedies[code]
		excused := withoutRemedy[code] != ""
		found := messages[code]
		if mapped || excused {
			if mapped && excused {
				t.Errorf("%s: got a remedy and a reason for none, want one of them", code)
			}
			continue
		}
		if len(found) == 0 {
			t.Errorf("%s: got no message in the code, want one, or a remedy", code)
		}
		for _, message := range found {
			if !saysWhatToDo.MatchString(message) {
				t.Errorf("%s: got the message %q, want one that says what can be done instead, or a remedy", code, message)
			}
		}
	}
}

// errorMessages returns the literal messages of the errors that this API may return, by their codes.
func errorMessages(t *testing.T) map[string][]string {
	t.Helper()
	messages := map[string][]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"v3", "v4", "v5", "join", "roomapi", "media", "testdata"}, d.Name()) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			code, message := "", ""
			switch n := n.(type) {
			case *ast.CallExpr:
				switch {
				case len(n.Args) >= 3 && nameOf(n.Fun) == "New":
					code, message = textOf(n.Args[1]), textOf(n.Args[2])
				case len(n.Args) == 4 && nameOf(n.Fun) == "writeErrorBody":
					code, message = textOf(n.Args[2]), textOf(n.Args[3])
				}
			case *ast.CompositeLit:
				for _, element := range n.Elts {
					pair, ok := element.(*ast.KeyValueExpr)
					switch {
					case ok && nameOf(pair.Key) == "Code":
						code = textOf(pair.Value)
					case ok && nameOf(pair.Key) == "Message":
						message = textOf(pair.Value)
					}
				}
			}
			if code != "" && message != "" {
				messages[code] = append(messages[code], message)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// nameOf returns the name of an identifier or of what is selected, or an empty string.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// textOf returns the literal text of an expression, or the format of a call of fmt.Sprintf; parts that are no literals
// are empty.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	case *ast.CallExpr:
		if nameOf(e.Fun) == "Sprintf" && len(e.Args) > 0 {
			return textOf(e.Args[0])
		}
	}
	return ""
}
