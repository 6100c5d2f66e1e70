package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// operate sends a call of the management API and returns the status, the body and the header.
func (n *testCluster) operate(at *process, method, path, body string, header http.Header) (int, []byte, http.Header) {
	n.t.Helper()
	header = header.Clone()
	header.Set("Content-Type", "application/json")
	answer, raw := at.do(method, "/api/manage"+path, header, []byte(body))
	return answer.StatusCode, raw, answer.Header
}

// mustOperate is operate as the owner.
func (n *testCluster) mustOperate(at *process, method, path, body string) (out map[string]any) {
	n.t.Helper()
	status, raw, _ := n.operate(at, method, path, body, http.Header{"Authorization": {"Bearer " + n.AdminToken}})
	if err := json.Unmarshal(raw, &out); err != nil || status != http.StatusOK {
		n.t.Fatalf("%s %s: got %d %s, want 200", method, path, status, raw)
	}
	return out
}

// signIn signs in with a link and returns the header of the browser, and the session.
func (n *testCluster) signIn(at *process, role, projects string) (browser http.Header, sessionID string) {
	n.t.Helper()
	link := n.mustOperate(at, "POST", "/sign-in-links",
		fmt.Sprintf(`{"name":"Ada","role":%q,"project_ids":[%s]}`, role, projects))
	_, code, _ := strings.Cut(link["url"].(string), "#code=")
	status, raw, header := n.operate(at, "POST", "/sign-in", fmt.Sprintf(`{"code":%q}`, code), http.Header{})
	cookie, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	if status != http.StatusOK || cookie == "" {
		n.t.Fatalf("sign in: got %d %s, want 200 and a cookie", status, raw)
	}
	return http.Header{"Cookie": {cookie}, "Origin": {at.url}, "Sec-Fetch-Site": {"same-origin"}},
		link["session_id"].(string)
}

// console checks that a session that began on one node is known, restricted and revoked on
// the other at once.
func (n *testCluster) console(t *testing.T) {
	expect := func(at *process, browser http.Header, method, path, body string, want int, text string) {
		t.Helper()
		if status, raw, _ := n.operate(at, method, path, body, browser); status != want ||
			!strings.Contains(string(raw), text) {
			t.Errorf("%s %s on %s: got %d %s, want %d with %s", method, path, at.url, status, raw, want, text)
		}
	}
	const newOrganization = `{"name":"Acme","billing":"plan"}`
	owner, session := n.signIn(n.a, "owner", "")
	expect(n.b, owner, "GET", "/caller", "", 200, session)
	evil := owner.Clone()
	evil.Set("Origin", "https://evil.example")
	evil.Set("Sec-Fetch-Site", "cross-site")
	expect(n.b, evil, "POST", "/organizations", newOrganization, 403, "cross_origin")
	expect(n.b, owner, "POST", "/organizations", newOrganization, 200, "Acme")

	auditor, _ := n.signIn(n.a, "auditor", "")
	expect(n.b, auditor, "GET", "/organizations", "", 200, "Acme")
	expect(n.b, auditor, "POST", "/organizations", newOrganization, 403, "role_not_allowed")

	organization := n.mustOperate(n.a, "POST", "/organizations", newOrganization)["organization_id"].(string)
	theirs := n.mustOperate(n.a, "POST", "/projects",
		fmt.Sprintf(`{"organization_id":%q,"name":"Theirs"}`, organization))["project_id"].(string)
	customer, _ := n.signIn(n.b, "integrator", fmt.Sprintf("%q", n.ProjectID))
	expect(n.a, customer, "GET", "/projects/"+n.ProjectID, "", 200, n.ProjectID)
	for _, other := range []string{theirs, "01890000-0000-7000-8000-000000000000"} {
		expect(n.a, customer, "GET", "/projects/"+other, "", 404,
			`{"error":{"code":"project_not_found","message":"there is no such project: the page Projects and keys lists those that `+
				`you may use, and an owner can give you others"}}`)
	}

	n.mustOperate(n.a, "POST", "/sessions/"+session+"/revoke", "")
	expect(n.b, owner, "GET", "/caller", "", 401, "sign in again")
	for _, at := range []*process{n.a, n.b} {
		for _, browser := range []http.Header{owner, auditor, customer} {
			_, secret, _ := strings.Cut(browser.Get("Cookie"), "=")
			if strings.Contains(at.log.String(), secret) {
				t.Errorf("log of %s: got the secret of a session in it, want none", at.url)
			}
		}
	}
}
