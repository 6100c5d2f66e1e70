package manage

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/ratelimit"
	"parley/internal/seal"
)

// signIn signs in and returns the value of the cookie.
func (b *fixture) signIn(body m) string {
	b.t.Helper()
	raw, err := json.Marshal(body)
	must(b.t, err)
	resp := b.contract.Do(b.t, "POST", "/api/manage/sign-in", http.Header{"Content-Type": {"application/json"}}, raw)
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusOK || len(cookies) != 1 {
		b.t.Fatalf("sign in with %v: got %d and %v, want 200 and a cookie", body, resp.StatusCode, cookies)
	}
	c := cookies[0]
	if c.Name != sessionCookie || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" ||
		c.Domain != "" {
		b.t.Errorf("cookie: got %v, want %s for this host only, with Secure, HttpOnly and SameSite=Strict", c, sessionCookie)
	}
	b.secrets = append(b.secrets, c.Value)
	return c.Value
}

func (b *fixture) createUser(email string) (id string) {
	b.t.Helper()
	return b.mustCall("POST", "/users", m{"email": email, "role": "auditor"})["user_id"].(string)
}

// linkCode creates a link and returns the code in it.
func (b *fixture) linkCode(body m) string {
	b.t.Helper()
	link := b.mustCall("POST", "/sign-in-links", body)["url"].(string)
	code, found := strings.CutPrefix(link, "https://meet.example.org/console/sign-in#code=")
	if !found || len(code) < 40 {
		b.t.Fatalf("got the link %s, want one of the console with a code of 256 bits", link)
	}
	b.secrets = append(b.secrets, code)
	return code
}

// as makes calls with the cookie of a session.
func (b *fixture) as(cookie string, calls func()) {
	b.t.Helper()
	defer func(previous string) { b.cookie = previous }(b.cookie)
	b.cookie = cookie
	calls()
}

func testConsole(t *testing.T, b *fixture) {
	b.t = t
	t.Run("token", func(t *testing.T) { testSignInWithToken(t, b) })
	t.Run("link", func(t *testing.T) { testSignInWithLink(t, b) })
	t.Run("users", func(t *testing.T) { testUsers(t, b) })
	t.Run("origin", func(t *testing.T) { testOtherOrigin(t, b) })
	t.Run("errors", func(t *testing.T) { testSignInErrors(t, b) })
	b.t = t
}

func testSignInWithToken(t *testing.T, b *fixture) {
	b.t = t
	created := b.mustCall("POST", "/tokens", m{"name": "night shift", "role": "operator"})
	methods := b.mustCall("GET", "/sign-in-methods", nil)
	if list := methods["methods"].([]any); len(list) != 2 || methods["openid_name"] != nil {
		t.Errorf("methods without a provider: got %v, want token and link", methods)
	}
	cookie := b.signIn(m{"token": created["token"]})
	b.as(cookie, func() {
		c := b.mustCall("GET", "/caller", nil)
		if c["kind"] != "token" || c["id"] != created["token_id"] || c["name"] != "night shift" || c["role"] != "operator" ||
			c["session_id"] == nil || c["expires_at"] == nil {
			t.Errorf("caller: got %v, want the token as operator, in a session", c)
		}
		b.mustCall("GET", "/projects", nil)
		b.assertError("POST", "/backups", nil, 403, "role_not_allowed", "a token with the role operator cannot do this: "+
			"use one with the role owner, which an owner creates with parley token create --role owner")
	})
	// A token that is revoked ends its sessions.
	b.mustCall("POST", "/tokens/"+created["token_id"].(string)+"/revoke", nil)
	b.as(cookie, b.assertRevoked)
	ended := b.mustCall("GET", "/sessions?limit=1", nil)["sessions"].([]any)[0].(m)
	if ended["token_id"] != created["token_id"] || ended["state"] != "ended" || ended["ended_at"] == nil {
		t.Errorf("session of the revoked token: got %v, want that it has ended", ended)
	}
	b.assertError("POST", "/sign-out", nil, 409, "no_session",
		"this request has a management token and no session: parley token revoke revokes a token")
	cookie = b.signIn(m{"token": b.token})
	b.as(cookie, func() {
		b.assertError("GET", "/projects/"+unknownID, nil, 404, "project_not_found", noProjectInConsole)
		b.mustCall("POST", "/sign-out", nil)
		b.assertError("GET", "/caller", nil, 401, "unauthorized",
			"you are not signed in, or your session has ended: sign in again")
	})
	// A token takes precedence over a cookie, because a program sends it on purpose.
	header := http.Header{"Authorization": {"Bearer " + b.token}, "Cookie": {sessionCookie + "=" + cookie}}
	if status, out := b.send("GET", "/caller", header, nil); status != 200 || out["session_id"] != nil {
		t.Errorf("a token and a cookie: got %d %v, want the token", status, out)
	}
}

func testSignInWithLink(t *testing.T, b *fixture) {
	b.t = t
	p := b.createProject()["project_id"].(string)
	other := b.createProject()["project_id"].(string)
	code := b.linkCode(m{"name": "Acme", "role": "integrator", "project_ids": []string{p},
		"expires_at": time.Now().Add(time.Hour).Format(time.RFC3339)})
	cookie := b.signIn(m{"code": code})
	const used = "this sign-in link was opened before, has expired or was revoked: ask for another one, or run parley console"
	b.assertError("POST", "/sign-in", m{"code": code}, 401, "link_not_valid", used)
	var session string
	b.as(cookie, func() {
		c := b.mustCall("GET", "/caller", nil)
		session = c["session_id"].(string)
		if c["kind"] != "link" || c["name"] != "Acme" || c["role"] != "integrator" || c["id"] != session {
			t.Errorf("caller with a link: got %v, want the integrator Acme", c)
		}
		b.mustCall("GET", "/rooms?project_id="+p, nil)
		b.assertError("GET", "/rooms?project_id="+other, nil, 404, "project_not_found", noProjectInConsole)
		b.assertError("POST", "/sign-in-links", m{}, 403, "role_not_allowed",
			"a sign-in link with the role integrator cannot do this: ask an owner for a link with the role operator")
	})
	list := b.mustCall("GET", "/sessions?limit=1", nil)
	if first := list["sessions"].([]any)[0].(m); first["session_id"] != session || first["name"] != "Acme" ||
		first["open_by"] != nil || first["in_use"] != false || first["state"] != "live" {
		t.Errorf("latest session: got %v, want that of Acme, opened and live", first)
	}
	next := b.mustCall("GET", "/sessions?limit=1&cursor="+list["next_cursor"].(string), nil)["sessions"].([]any)
	if len(next) != 1 || next[0].(m)["session_id"].(string) >= session {
		t.Errorf("next page: got %v, want an earlier session", next)
	}
	b.mustCall("POST", "/sessions/"+session+"/revoke", nil)
	b.as(cookie, func() {
		b.assertError("GET", "/projects", nil, 401, "unauthorized",
			"you are not signed in, or your session has ended: sign in again")
	})
	staff := map[string]string{"a link": b.mustCall("POST", "/sign-in-links",
		m{"name": "Bob", "role": "auditor"})["session_id"].(string)}
	b.as(b.signIn(m{"token": b.token}), func() {
		staff["a token"] = b.mustCall("GET", "/caller", nil)["session_id"].(string)
	})
	user := b.createUser("eve@example.org")
	staff["a user"] = b.mustCall("POST", "/sign-in-links", m{"user_id": user})["session_id"].(string)
	b.mustCall("DELETE", "/users/"+user, nil)
	// An operator may let customers in and out, and nobody else.
	night := b.mustCall("POST", "/tokens", m{"name": "night shift", "role": "operator"})["token"]
	b.as(b.signIn(m{"token": night}), func() {
		link := b.mustCall("POST", "/sign-in-links", m{"name": "Acme", "role": "integrator", "project_ids": []string{p}})
		_, code, _ := strings.Cut(link["url"].(string), "#code=")
		customer, end := b.signIn(m{"code": code}), "/sessions/"+link["session_id"].(string)+"/revoke"
		b.as(customer, func() {
			b.assertError("POST", end, nil, 403, "role_not_allowed",
				"a sign-in link with the role integrator cannot do this: ask an owner for a link with the role operator")
		})
		b.mustCall("POST", end, nil)
		b.as(customer, func() {
			b.assertError("GET", "/caller", nil, 401, "unauthorized",
				"you are not signed in, or your session has ended: sign in again")
		})
		for kind, id := range staff {
			if status, out := b.call("POST", "/sessions/"+id+"/revoke", nil); status != http.StatusForbidden {
				t.Errorf("an operator who revokes the session of %s: got %d %v, want 403", kind, status, out)
			}
		}
		b.assertError("POST", "/sessions/"+unknownID+"/revoke", nil, 404, "session_not_found", noSessionInConsole)
		b.assertError("POST", "/sign-in-links", m{"name": "me", "role": "owner"}, 403, "role_not_allowed",
			"a token with the role operator cannot do this: use one with the role owner, "+
				"which an owner creates with parley token create --role owner")
	})
	unopened := b.mustCall("POST", "/sign-in-links", m{"name": "Ada", "role": "owner"})
	b.mustCall("POST", "/sessions/"+unopened["session_id"].(string)+"/revoke", nil)
	_, revoked, _ := strings.Cut(unopened["url"].(string), "#code=")
	b.assertError("POST", "/sign-in", m{"code": revoked}, 401, "link_not_valid", used)
	for _, tc := range []struct {
		body m
		want string
	}{
		{m{"name": "Ada", "role": "owner", "expires_at": time.Now().Add(8 * 24 * time.Hour).Format(time.RFC3339)},
			"expires_at must be in the future and at most 7 days from now"},
		{m{"role": "owner"}, "name must have 1 to 255 characters and not be blank"},
		{m{"name": "Ada"}, `role must be owner, operator, auditor or integrator, not ""`},
		{m{"name": "Ada", "role": "integrator"}, "project_ids must have 1 to 100 projects for the role integrator, not 0"},
		{m{"user_id": unknownID, "role": "owner"},
			"name, role, project_ids and expires_at are not allowed with user_id, because the user has them"},
	} {
		b.assertError("POST", "/sign-in-links", tc.body, 400, "invalid_request", tc.want)
	}
	b.assertError("POST", "/sign-in-links", m{"user_id": unknownID}, 404, "user_not_found", noUser)
	b.assertError("POST", "/sign-in-links", m{"name": "x", "role": "integrator", "project_ids": []string{unknownID}}, 404,
		"project_not_found", noProject)
	b.assertError("GET", "/sessions?limit=0", nil, 400, "invalid_request", "limit must be a whole number of at least 1, in digits; more than 100 means 100")
}

func testUsers(t *testing.T, b *fixture) {
	b.t = t
	p := b.createProject()["project_id"].(string)
	u := b.mustCall("POST", "/users", m{"email": "Ada@Example.org", "name": "Ada", "role": "auditor"})
	id := u["user_id"].(string)
	if u["email"] != "ada@example.org" || u["name"] != "Ada" || u["role"] != "auditor" || u["openid"] != false {
		t.Errorf("create a user: got %v, want Ada, ada@example.org, auditor", u)
	}
	b.assertError("POST", "/users", m{"email": "ADA@example.org", "role": "owner"}, 409, "email_taken",
		emailTaken)
	cookie := b.signIn(m{"code": b.linkCode(m{"user_id": id})})
	b.as(cookie, func() {
		if c := b.mustCall("GET", "/caller", nil); c["kind"] != "user" || c["id"] != id || c["role"] != "auditor" {
			t.Errorf("caller: got %v, want the user Ada as auditor", c)
		}
		b.assertError("POST", "/organizations", m{"name": "x", "billing": "plan"}, 403, "role_not_allowed",
			"a user with the role auditor cannot do this: an owner can give you the role operator with "+
				"parley user change "+id+" --role operator")
	})
	changed := b.mustCall("PATCH", "/users/"+id, m{"role": "integrator", "project_ids": []string{p}, "name": "Ada L."})
	if changed["role"] != "integrator" || changed["project_ids"].([]any)[0] != p || changed["last_sign_in_at"] == nil {
		t.Errorf("change the user: got %v, want an integrator of %s who has signed in", changed, p)
	}
	b.as(cookie, func() { // at once
		b.assertError("GET", "/tokens", nil, 403, "role_not_allowed", "a user with the role integrator cannot do this: "+
			"an owner can give you the role auditor with parley user change "+id+" --role auditor")
		b.mustCall("GET", "/rooms", nil)
	})
	if back := b.mustCall("PATCH", "/users/"+id, m{"role": "operator"}); len(back["project_ids"].([]any)) != 0 {
		t.Errorf("a new role: got %v, want no projects", back)
	}
	second := b.createUser("bob@example.org")
	page := b.mustCall("GET", "/users?limit=1", nil)
	rest := b.mustCall("GET", "/users?cursor="+page["next_cursor"].(string), nil)["users"].([]any)
	if page["users"].([]any)[0].(m)["user_id"] != id || len(rest) != 1 || rest[0].(m)["user_id"] != second {
		t.Errorf("two pages: got %v and %v, want %s and %s", page, rest, id, second)
	}
	b.mustCall("DELETE", "/users/"+id, nil)
	b.as(cookie, func() {
		b.assertError("GET", "/projects", nil, 401, "unauthorized",
			"you are not signed in, or your session has ended: sign in again")
	})
	b.mustCall("DELETE", "/users/"+second, nil)
	for body, want := range map[string]string{
		`{"email":"ada","role":"owner"}`:                               `email must be an email address such as ada@example.org, not "ada"`,
		`{"email":"","role":"owner"}`:                                  "email must have 1 to 254 characters and not be blank",
		`{"email":"a@b.c","role":"root"}`:                              `role must be owner, operator, auditor or integrator, not "root"`,
		`{"email":"a@b.c","role":"owner","project_ids":["` + p + `"]}`: "project_ids is only for the role integrator, not owner",
	} {
		b.assertError("POST", "/users", body, 400, "invalid_request", want)
	}
	b.assertError("POST", "/users", m{"email": "a@b.c", "role": "integrator", "project_ids": []string{unknownID}}, 404,
		"project_not_found", noProject)
	b.assertError("GET", "/users?limit=x", nil, 400, "invalid_request",
		"limit must be a whole number of at least 1, in digits; more than 100 means 100")
}

// A page of another origin cannot use the cookie, or sign somebody in with another account.
func testOtherOrigin(t *testing.T, b *fixture) {
	b.t = t
	cookie := b.signIn(m{"token": b.token})
	token := b.token
	header := http.Header{"Cookie": {sessionCookie + "=" + cookie}, "Sec-Fetch-Site": {"cross-site"}}
	if status, out := b.send("POST", "/sign-out", header, nil); status != 403 {
		t.Errorf("sign out from another site: got %d %v, want 403", status, out)
	}
	for name, tc := range map[string]struct {
		header map[string]string
		status int
	}{
		"another site":                {map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, 403},
		"another host of the site":    {map[string]string{"Origin": "https://a.example.org", "Sec-Fetch-Site": "same-site"}, 403},
		"an older browser":            {map[string]string{"Origin": "https://evil.example"}, 403},
		"the same origin":             {map[string]string{"Origin": "https://meet.example.org", "Sec-Fetch-Site": "same-origin"}, 200},
		"a proxy that changes Host":   {map[string]string{"Origin": "https://meet.example.org"}, 200},
		"no browser, without headers": {nil, 200},
	} {
		for path, body := range map[string]string{"/users": `{"email":"eve@example.org","role":"owner"}`,
			"/sign-in": `{"token":"` + token + `"}`} {
			header := http.Header{"Cookie": {sessionCookie + "=" + cookie}, "Content-Type": {"application/json"}}
			for key, value := range tc.header {
				header.Set(key, value)
			}
			status, out := b.send("POST", path, header, []byte(body))
			if status != tc.status || status == 403 && out["error"].(m)["code"] != "cross_origin" {
				t.Errorf("%s, POST %s: got %d %v, want %d", name, path, status, out, tc.status)
			}
			if id, created := out["user_id"].(string); created {
				b.mustCall("DELETE", "/users/"+id, nil)
			}
		}
	}
}

func testSignInErrors(t *testing.T, b *fixture) {
	b.t = t
	b.assertError("POST", "/sign-in", m{}, 400, "invalid_request", "the body must have either token or code")
	b.assertError("POST", "/sign-in", m{"token": "a", "code": "b"}, 400, "invalid_request",
		"the body must have either token or code")
	b.assertError("POST", "/sign-in", m{"token": "pt_wrong"}, 401, "unauthorized", noLiveToken)
	b.assertError("POST", "/sign-in", m{"code": ""}, 401, "link_not_valid",
		"this sign-in link was opened before, has expired or was revoked: ask for another one, or run parley console")
	header := http.Header{"Content-Type": {"application/json"}, "Origin": {"http://meet.example.org"},
		"Sec-Fetch-Site": {"same-origin"}}
	body := []byte(`{"token":"` + b.token + `"}`)
	if status, out := b.send("POST", "/sign-in", header, body); status != 403 ||
		out["error"].(m)["code"] != "https_required" {
		t.Errorf("sign in at an http address: got %d %v, want 403 https_required", status, out)
	}
	for _, host := range []string{"http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"} {
		header.Set("Origin", host)
		if status, out := b.send("POST", "/sign-in", header, body); status != 200 {
			t.Errorf("sign in at %s: got %d %v, want 200", host, status, out)
		}
	}
	over := ratelimit.NewAddressLimiter(1, time.Now, nil)
	over.RecordAttempt(netip.Addr{})
	b.contract.WithHandler(b.handler(b.tokens, fakePlans{}, singleAddressLimiter{over}), func() {
		b.assertError("POST", "/sign-in", m{"token": "pt_wrong"}, 429, "too_many_attempts",
			"too many failed authentications from your address, try again later")
		b.signIn(m{"token": b.token})
	})
	unavailable := &fault.Error{Kind: fault.Unavailable, Code: "unavailable", Message: "try again"}
	for want, err := range map[string]error{"internal": errors.New("cause"), "unavailable": unavailable} {
		services := b.services(b.tokens, fakePlans{}, nil)
		services.Console = failingConsole{err: err}
		status := map[string]int{"internal": 500, "unavailable": 503}[want]
		b.contract.WithHandler(withMiddleware(NewHandler(services)), func() {
			if got, out := b.call("POST", "/sign-in", m{"code": "x"}); got != status || out["error"].(m)["code"] != want {
				t.Errorf("sign in with a failing database: got %d %v, want %d %s", got, out, status, want)
			}
		})
	}
}

// failingConsole fails every sign-in with err.
type failingConsole struct {
	Console
	err error
}

func (f failingConsole) SignInWithLink(context.Context, string, audit.Origin) (operator.Caller, seal.Secret, error) {
	return operator.Caller{}, "", f.err
}
