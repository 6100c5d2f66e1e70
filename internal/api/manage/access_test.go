package manage

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/operator"
)

// rolesOf has the roles that may call each operation: o for operators, a for auditors and i
// for integrators in their projects. An owner may call all. It is written by hand, so that a
// mistake in accessByRoute does not go unnoticed.
var rolesOf = map[string]string{
	"listOrganizations": "oa", "createOrganization": "o", "getOrganization": "oa", "changeOrganization": "o",
	"deleteOrganization": "", "suspendOrganization": "o", "resumeOrganization": "o",
	"listProjects": "oai", "createProject": "o", "getProject": "oai", "changeProject": "o", "deleteProject": "",
	"exportPerson": "o", "erasePerson": "o", "setProjectLogo": "o", "deleteProjectLogo": "o",
	"suspendProject": "o", "resumeProject": "o",
	"rotateProjectSecret": "oi", "revokeProjectSecretOverlap": "oi",
	"listKeys": "oai", "rotateKey": "oi", "revokeKeyOverlap": "oi",
	"listRooms": "oai", "getRoom": "oai", "endRoom": "oi", "removePerson": "oi", "getRoomTimeline": "oai",
	"listRoomPeople": "oai",
	"testWebhook":    "oi", "pauseWebhookTarget": "oi", "resumeWebhookTarget": "oi",
	"listWebhookTargets": "oai", "listWebhooks": "oai",
	"getWebhook": "oai", "replayWebhooks": "oi", "retryWebhooks": "oi",
	"listTokens": "oa", "createToken": "", "revokeToken": "",
	"getUsage": "oai", "rebuildUsage": "o", "listCalls": "oai", "listRejectedCalls": "oa", "listAudit": "oa", "verifyAudit": "oa",
	"createBackup": "",
	"signIn":       "oai", "listSignInMethods": "oai", "signOut": "oai", "getCaller": "oai", "createSignInLink": "o",
	"listSessions": "oa", "revokeSession": "o", "listUsers": "oa", "createUser": "", "changeUser": "", "deleteUser": "",
	"createConnectionCheck": "o", "getConnectionCheck": "oa",
	"drainNode": "o", "cancelDrain": "o", "getOverview": "oai", "listNodes": "oa", "listSettings": "oa", "streamResults": "oai",
	"checkSignature": "oai",
}

// ofNoProject are the operations of integrators that concern no project, or filter by it.
var ofNoProject = []string{"listProjects", "signIn", "listSignInMethods", "signOut", "getCaller", "streamResults"}

// roleNames are the roles by their letter in rolesOf, and that of the owner.
var roleNames = map[byte]operator.Role{
	'w': operator.Owner,
	'o': operator.Operator,
	'a': operator.Auditor,
	'i': operator.Integrator,
}

// newCredentials creates a token, the session of a user and the session of a link with a role.
// Each entry returns the credential, with what an error that refuses the role recommends.
func (b *fixture) newCredentials(role operator.Role, projectID string) map[string]*credential {
	b.t.Helper()
	rights := func(name string) m {
		q := m{"name": name, "role": string(role)}
		if role == operator.Integrator {
			q["project_ids"] = []string{projectID}
		}
		return q
	}
	user := rights("the " + string(role))
	user["email"] = string(role) + "@example.org"
	userID := b.mustCall("POST", "/users", user)["user_id"].(string)
	return map[string]*credential{
		"token": {
			advice: "which an owner creates with parley token create",
			create: func() (token, cookie string) {
				return b.mustCall("POST", "/tokens", rights("role "+string(role)))["token"].(string), ""
			},
		},
		"user": {
			advice: "an owner can give you the role",
			create: func() (token, cookie string) {
				return "", b.signIn(m{"code": b.linkCode(m{"user_id": userID})})
			},
		},
		"link": {
			advice: "ask an owner for a link with the role",
			create: func() (token, cookie string) {
				return "", b.signIn(m{"code": b.linkCode(rights("link"))})
			},
		},
	}
}

// credential is a token or a session with a role.
type credential struct {
	token, cookie string
	advice        string // part of the error for another role
	create        func() (token, cookie string)
}

// Every operation is called with a token, a user and a link of each role. What exists for an
// integrator is in its project, and an object of another project is the same as one that does
// not exist.
func testRoles(t *testing.T, b *fixture) {
	b.t = t
	owner := b.token
	defer func() { b.token, b.cookie = owner, "" }()
	mine, theirs := b.customer(), b.customer()
	credentials := map[byte]map[string]*credential{}
	for letter, role := range roleNames {
		credentials[letter] = b.newCredentials(role, mine.project)
		for _, one := range credentials[letter] {
			one.token, one.cookie = one.create()
		}
	}
	for _, o := range b.contract.Operations() {
		roles, known := rolesOf[o.ID]
		if !known {
			t.Errorf("rolesOf: got no entry of %s, want one: add it", o.ID)
			continue
		}
		call := func(as *credential, c customer) (int, string) {
			b.token, b.cookie = as.token, as.cookie
			defer func() { b.token, b.cookie = owner, "" }()
			path, body := c.request(o.Method, strings.TrimPrefix(o.Path, "/api/manage"), o.HasJSON)
			status, out := b.call(o.Method, path, body)
			return status, fmt.Sprint(out)
		}
		for letter, kinds := range credentials {
			allowed := letter == 'w' || strings.IndexByte(roles, letter) >= 0
			if letter == 'w' && o.ID == "createBackup" {
				continue // its response is no JSON; see testBackups
			}
			for kind, as := range kinds {
				status, out := call(as, nowhere)
				if forbidden := status == http.StatusForbidden; forbidden == allowed || status == http.StatusUnauthorized {
					t.Errorf("%s as a %s with the role %s: got %d %s, want allowed %v", o.ID, kind, roleNames[letter], status, out,
						allowed)
				}
				if status == http.StatusForbidden && !strings.Contains(out, as.advice) {
					t.Errorf("%s as a %s with the role %s: got %s, want %q in it", o.ID, kind, roleNames[letter], out, as.advice)
				}
				if o.ID == "signOut" {
					as.token, as.cookie = as.create()
				}
			}
		}
		// The results of these do not depend on one project; see below and testStream.
		if !strings.Contains(roles, "i") || slices.Contains(ofNoProject, o.ID) {
			continue
		}
		for kind, as := range credentials['i'] {
			foreign, foreignOut := call(as, theirs)
			unknown, unknownOut := call(as, nowhere)
			if foreign != http.StatusNotFound || foreign != unknown || foreignOut != unknownOut {
				t.Errorf("%s of another customer as a %s: got %d %s, want as for one that does not exist, %d %s", o.ID, kind,
					foreign, foreignOut, unknown, unknownOut)
			}
			// Some calls are refused for the state of the object, but never because it is not found.
			if status, out := call(as, mine); status == http.StatusForbidden ||
				strings.Contains(out, "project_not_found") || strings.Contains(out, "room_not_found") {
				t.Errorf("%s of the own project as a %s: got %d %s, want it found", o.ID, kind, status, out)
			}
		}
	}
	b.token = credentials['i']["token"].token
	list := b.mustCall("GET", "/projects", nil)["projects"].([]any)
	if len(list) != 1 || list[0].(m)["project_id"] != mine.project {
		t.Errorf("projects of an integrator: got %v, want %s alone", list, mine.project)
	}
	// A token of one project need not name it.
	rooms := b.mustCall("GET", "/rooms", nil)["rooms"].([]any)
	if len(rooms) != 1 || rooms[0].(m)["room_id"] != mine.room {
		t.Errorf("rooms of an integrator: got %v, want %s alone", rooms, mine.room)
	}
	twice := "/rooms?project_id=" + mine.project + "&project_id=" + theirs.project
	if status, out := b.call("GET", twice, nil); status == http.StatusOK {
		t.Errorf("a second project_id: got %d %v, want an error", status, out)
	}
}

// An integrator of several projects has to name one, and any token can revoke itself.
func testSeveralProjects(t *testing.T, b *fixture) {
	b.t = t
	owner := b.token
	defer func() { b.token = owner }()
	one, two := b.customer(), b.customer()
	created := b.mustCall("POST", "/tokens", m{"name": "two", "role": "integrator",
		"project_ids": []string{one.project, two.project}, "expires_at": time.Now().Add(time.Hour).Format(time.RFC3339)})
	b.token = created["token"].(string)
	for _, c := range []customer{one, two} {
		if rooms := b.mustCall("GET", "/rooms?project_id="+c.project, nil)["rooms"].([]any); len(rooms) != 1 {
			t.Errorf("rooms of project %s: got %v, want one", c.project, rooms)
		}
	}
	ids := []string{one.project, two.project}
	slices.Sort(ids)
	for query, want := range map[string][]string{
		"":                                     ids,
		"?limit=1":                             ids[:1],
		"?limit=1&cursor=" + ids[0]:            ids[1:],
		"?limit=5&cursor=" + ids[1]:            {},
		"?organization_id=" + one.organization: {one.project},
		"?limit=1&organization_id=" + two.organization:                            {two.project},
		"?limit=1&organization_id=" + one.organization + "&cursor=" + one.project: {},
	} {
		got := []string{}
		page := b.mustCall("GET", "/projects"+query, nil)
		for _, p := range page["projects"].([]any) {
			got = append(got, p.(m)["project_id"].(string))
		}
		if _, more := page["next_cursor"]; !slices.Equal(got, want) || more != (query == "?limit=1") {
			t.Errorf("GET /projects%s: got %v, another page: %v, want %v", query, got, more, want)
		}
	}
	foreign := b.asOwner(owner, b.createProject)
	b.assertError("GET", "/projects?organization_id="+foreign["organization_id"].(string), nil, 404,
		"organization_not_found", noOrganization)
	theirs := b.asOwner(owner, func() m { return m{"delivery": b.customer().delivery} })["delivery"].(string)
	for _, id := range []string{theirs, nowhere.delivery} {
		b.assertError("POST", "/webhook-retries", m{"delivery_id": id, "project_id": one.project}, 404,
			"delivery_not_found", noDelivery)
	}
	b.assertError("POST", "/projects/"+one.project+"/suspend", nil, 403, "role_not_allowed",
		"a token with the role integrator cannot do this: use one with the role operator, which an owner creates with "+
			"parley token create --role operator")
	cookie := b.signIn(m{"token": b.token})
	limited := b.services(b.tokens, fakePlans{}, nil)
	limited.Rate = exhausted{}
	b.contract.WithHandler(withMiddleware(NewHandler(limited)), func() {
		b.assertError("GET", "/projects", nil, 429, "rate_limited", "more than 10 calls a second: try again in a moment")
		b.asOwner(owner, func() m { return b.mustCall("GET", "/projects", nil) })
		b.cookie = cookie
		b.mustCall("GET", "/projects", nil)
		b.cookie = ""
	})
	limited.Rate, limited.SessionRate = nil, exhausted{}
	b.contract.WithHandler(withMiddleware(NewHandler(limited)), func() {
		b.mustCall("GET", "/projects", nil)
		b.cookie = cookie
		b.assertError("GET", "/projects", nil, 429, "rate_limited", "more than 50 calls a second: try again in a moment")
		b.cookie = ""
	})
	for _, path := range []string{"/rooms", "/webhooks", "/webhook-targets", "/usage?organization_id=x"} {
		if status, out := b.call("GET", path, nil); status != http.StatusBadRequest ||
			!strings.Contains(fmt.Sprint(out), "project_id is required") {
			t.Errorf("GET %s: got %d %v, want 400 because project_id is required", path, status, out)
		}
	}
	if status, out := b.call("POST", "/webhook-retries", m{"url": secretURL}); status != http.StatusBadRequest {
		t.Errorf("a retry without a project: got %d %v, want 400", status, out)
	}
	if status, out := b.call("POST", "/tokens/"+created["token_id"].(string)+"/revoke", nil); status != http.StatusOK {
		t.Errorf("a token that revokes itself: got %d %v, want 200", status, out)
	}
	path := "/projects?organization_id=" + one.organization
	if status, out := b.call("GET", path, nil); status != http.StatusUnauthorized {
		t.Errorf("the revoked token: got %d %v, want 401", status, out)
	}
}

// exhausted is a limit that no call passes.
type exhausted struct{}

func (exhausted) Allow(string) (bool, time.Duration) { return false, time.Second }

// asOwner makes calls with the token of the owner.
func (b *fixture) asOwner(owner string, call func() m) m {
	token := b.token
	defer func() { b.token = token }()
	b.token = owner
	return call()
}

// customer has an object of each kind in a project of its own.
type customer struct{ organization, project, room, delivery string }

// nowhere are objects that do not exist.
var nowhere = customer{unknownID, unknownID, unknownID, unknownID}

// customer creates a project with a room and a pending delivery.
func (b *fixture) customer() customer {
	b.t.Helper()
	created := b.createProject()
	c := customer{organization: created["organization_id"].(string), project: created["project_id"].(string)}
	b.mustCall("PATCH", "/projects/"+c.project, m{"default_webhook_url": secretURL})
	b.mustCall("POST", "/projects/"+c.project+"/webhook-test", nil)
	sent := b.mustCall("GET", "/webhooks?project_id="+c.project, nil)["webhooks"].([]any)
	c.delivery = sent[0].(m)["delivery_id"].(string)
	c.room = b.createRoom(c.project)
	return c
}

// request returns the path and the body of a call that concerns the customer.
func (c customer) request(method, path string, hasBody bool) (target string, body any) {
	target = strings.NewReplacer("{organization_id}", c.organization, "{project_id}", c.project, "{room_id}", c.room,
		"{delivery_id}", c.delivery, "{token_id}", unknownID, "{session_id}", unknownID, "{user_id}", unknownID).Replace(path)
	if method == http.MethodGet && target == path {
		target += "?project_id=" + c.project
	}
	switch {
	case !hasBody:
		return target, nil
	case path == "/webhook-replays":
		return target, m{"project_id": c.project, "room_id": c.room}
	case path == "/webhook-retries":
		return target, m{"project_id": c.project}
	}
	return target, m{}
}
