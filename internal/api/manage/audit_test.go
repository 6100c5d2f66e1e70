package manage

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/audit"
	"parley/internal/store/storetest"
)

// changingCall is a call that changes something and succeeds.
type changingCall struct {
	action audit.Action
	// prepare returns the path and the body of the call. It makes other calls first.
	prepare func(b *fixture) (path string, body any)
}

// unrecorded is the action of a call that changes nothing.
const unrecorded audit.Action = ""

// secretURL is the URL of a webhook with credentials in the path and in the query.
const secretURL = "https://hooks.example.org/services/T0KEN?key=PASSW0RD"

// changingCalls has a call of every operation that is not a GET.
var changingCalls = map[string]changingCall{
	"createOrganization": {audit.OrganizationCreated, func(*fixture) (string, any) {
		return "/organizations", m{"name": "Acme", "billing": "payg"}
	}},
	"changeOrganization": {audit.OrganizationChanged, func(b *fixture) (string, any) {
		return "/organizations/" + b.createProject()["organization_id"].(string), m{"plan": "gold"}
	}},
	"suspendOrganization": {audit.OrganizationSuspended, func(b *fixture) (string, any) {
		o := b.mustCall("POST", "/organizations", m{"name": "Late", "billing": "plan"})
		return "/organizations/" + o["organization_id"].(string) + "/suspend", nil
	}},
	"resumeOrganization": {audit.OrganizationResumed, func(b *fixture) (string, any) {
		o := b.mustCall("POST", "/organizations", m{"name": "Late", "billing": "plan"})
		path := "/organizations/" + o["organization_id"].(string)
		b.mustCall("POST", path+"/suspend", nil)
		return path + "/resume", nil
	}},
	"createProject": {audit.ProjectCreated, func(b *fixture) (string, any) {
		return "/projects", m{"name": "Lessons", "organization_id": b.createProject()["organization_id"]}
	}},
	"changeProject": {audit.ProjectChanged, func(b *fixture) (string, any) {
		return b.projectPath(""), m{"name": "Classes", "default_webhook_url": secretURL}
	}},
	"setProjectLogo": {audit.ProjectChanged, func(b *fixture) (string, any) {
		return b.projectPath("/logo"), pngImage(16, 16)
	}},
	"deleteProjectLogo": {audit.ProjectChanged, func(b *fixture) (string, any) {
		path := b.projectPath("/logo")
		b.mustPut(path, pngImage(16, 16))
		return path, nil
	}},
	"suspendProject": {audit.ProjectSuspended, func(b *fixture) (string, any) { return b.projectPath("/suspend"), nil }},
	"resumeProject": {audit.ProjectResumed, func(b *fixture) (string, any) {
		path := b.projectPath("")
		b.mustCall("POST", path+"/suspend", nil)
		return path + "/resume", nil
	}},
	"rotateProjectSecret": {audit.SecretRotated, func(b *fixture) (string, any) {
		return b.projectPath("/rotate-secret"), nil
	}},
	"revokeProjectSecretOverlap": {audit.SecretOverlapRevoked, func(b *fixture) (string, any) {
		path := b.projectPath("")
		b.mustCall("POST", path+"/rotate-secret", nil)
		return path + "/revoke-secret-overlap", nil
	}},
	"rotateKey": {audit.KeyRotated, func(b *fixture) (string, any) { return b.projectPath("/keys/rotate"), nil }},
	"revokeKeyOverlap": {audit.KeyOverlapRevoked, func(b *fixture) (string, any) {
		path := b.projectPath("/keys")
		b.mustCall("POST", path+"/rotate", nil)
		return path + "/revoke-overlap", nil
	}},
	"endRoom": {audit.RoomEnded, func(b *fixture) (string, any) {
		return "/rooms/" + b.createRoom(b.createProject()["project_id"].(string)) + "/end", nil
	}},
	"removePerson": {audit.ParticipantRemoved, func(b *fixture) (string, any) {
		id := b.createRoom(b.createProject()["project_id"].(string))
		b.join(id, "Amina")
		return "/rooms/" + id + "/remove-person", m{"seat_id": b.seatOf(id)}
	}},
	"testWebhook": {audit.WebhookTested, func(b *fixture) (string, any) {
		path := b.projectPath("")
		b.mustCall("PATCH", path, m{"default_webhook_url": secretURL})
		return path + "/webhook-test", nil
	}},
	"pauseWebhookTarget": {audit.WebhookTargetPaused, func(b *fixture) (string, any) {
		path := b.projectPath("")
		b.mustCall("PATCH", path, m{"default_webhook_url": secretURL})
		return path + "/webhook-pause", m{"url": secretURL}
	}},
	"resumeWebhookTarget": {audit.WebhookTargetResumed, func(b *fixture) (string, any) {
		return "/projects/" + b.failedTest() + "/webhook-resume", m{"url": secretURL}
	}},
	"replayWebhooks": {audit.WebhookReplayed, func(b *fixture) (string, any) {
		return "/webhook-replays", m{"project_id": b.failedTest(), "url": secretURL,
			"since": time.Now().Add(-time.Hour).Format(time.RFC3339), "before": time.Now().Add(time.Hour).Format(time.RFC3339)}
	}},
	"retryWebhooks": {audit.WebhookRetried, func(b *fixture) (string, any) {
		path := b.projectPath("")
		b.mustCall("PATCH", path, m{"default_webhook_url": secretURL})
		b.mustCall("POST", path+"/webhook-test", nil)
		return "/webhook-retries", m{"project_id": strings.TrimPrefix(path, "/projects/"), "url": secretURL}
	}},
	"rebuildUsage": {audit.UsageRebuilt, func(b *fixture) (string, any) {
		o := b.mustCall("POST", "/organizations", m{"name": "Counted", "billing": "plan"})
		return "/usage/rebuild", m{"organization_id": o["organization_id"]}
	}},
	"signIn": {audit.SessionStarted, func(b *fixture) (string, any) { return "/sign-in", m{"token": b.token} }},
	"signOut": {audit.SessionEnded, func(b *fixture) (string, any) {
		b.cookie = b.signIn(m{"token": b.token})
		return "/sign-out", nil
	}},
	"createSignInLink": {audit.LinkCreated, func(b *fixture) (string, any) {
		return "/sign-in-links", m{"name": "Ada", "role": "auditor"}
	}},
	"drainNode": {audit.NodeDraining, func(b *fixture) (string, any) {
		b.heartbeat("another")
		b.heartbeat(b.rooms.NodeID())
		return "/nodes/" + b.rooms.NodeID() + "/drain", m{"within": 60}
	}},
	"cancelDrain": {audit.NodeDrainCancelled, func(b *fixture) (string, any) {
		b.heartbeat("another")
		b.heartbeat(b.rooms.NodeID())
		b.mustCall("POST", "/nodes/"+b.rooms.NodeID()+"/drain", m{})
		return "/nodes/" + b.rooms.NodeID() + "/cancel-drain", nil
	}},
	"createConnectionCheck": {audit.ConnectionCheckCreated, func(*fixture) (string, any) { return "/connection-checks", nil }},
	"revokeSession": {audit.SessionEnded, func(b *fixture) (string, any) {
		link := b.mustCall("POST", "/sign-in-links", m{"name": "Ada", "role": "auditor"})
		return "/sessions/" + link["session_id"].(string) + "/revoke", nil
	}},
	"createUser": {audit.UserCreated, func(b *fixture) (string, any) {
		return "/users", m{"email": "ada@example.org", "role": "auditor"}
	}},
	"changeUser": {audit.UserChanged, func(b *fixture) (string, any) {
		return "/users/" + b.createUser("bob@example.org"), m{"role": "operator"}
	}},
	"deleteUser": {audit.UserDeleted, func(b *fixture) (string, any) {
		return "/users/" + b.createUser("cyd@example.org"), nil
	}},
	"deleteOrganization": {audit.OrganizationDeleted, func(b *fixture) (string, any) {
		o := b.mustCall("POST", "/organizations", m{"name": "Leaving", "billing": "plan"})
		return "/organizations/" + o["organization_id"].(string), nil
	}},
	"deleteProject": {audit.ProjectDeleting, func(b *fixture) (string, any) {
		path := b.projectPath("")
		b.mustCall("POST", path+"/suspend", nil)
		return path, nil
	}},
	"exportPerson": {unrecorded, func(b *fixture) (string, any) {
		return b.projectPath("/person-export"), m{"user_id": "user-7"}
	}},
	"checkSignature": {unrecorded, func(b *fixture) (string, any) {
		return b.projectPath("/signature-checks"), m{"version": "v3", "method": "POST", "path": "/api/v3/rooms"}
	}},
	"erasePerson": {audit.PersonErased, func(b *fixture) (string, any) {
		id := b.createProject()["project_id"].(string)
		room := b.createRoom(id)
		b.join(room, "Amina")
		seat := b.seatOf(room)
		b.mustCall("POST", "/rooms/"+room+"/end", nil)
		return "/projects/" + id + "/person-erase", m{"seat_id": seat}
	}},
	"createToken": {audit.TokenCreated, func(*fixture) (string, any) { return "/tokens", m{"name": "night shift"} }},
	"revokeToken": {audit.TokenRevoked, func(b *fixture) (string, any) {
		return "/tokens/" + b.mustCall("POST", "/tokens", m{"name": "spare"})["token_id"].(string) + "/revoke", nil
	}},
}

// projectPath creates a project and returns its path, followed by suffix.
func (b *fixture) projectPath(suffix string) string {
	b.t.Helper()
	return "/projects/" + b.createProject()["project_id"].(string) + suffix
}

// failedTest returns a new project whose target secretURL refused a test event.
func (b *fixture) failedTest() (projectID string) {
	b.t.Helper()
	projectID = b.createProject()["project_id"].(string)
	b.mustCall("PATCH", "/projects/"+projectID, m{"default_webhook_url": secretURL})
	b.mustCall("POST", "/projects/"+projectID+"/webhook-test", nil)
	sent := b.mustCall("GET", "/webhooks?project_id="+projectID, nil)["webhooks"].([]any)
	b.failDelivery(sent[0].(m)["delivery_id"].(string))
	return projectID
}

// auditEntries returns the entries with a higher number than n, in order.
func (b *fixture) auditEntries(n int64) []audit.Entry {
	b.t.Helper()
	entries, err := b.db.AuditEntriesAfter(b.t.Context(), n, 1000)
	must(b.t, err)
	return entries
}

// lastAuditEntry returns the number of the last entry.
func (b *fixture) lastAuditEntry() int64 {
	b.t.Helper()
	n, _, err := b.audit.Head(b.t.Context())
	must(b.t, err)
	return n
}

// requireNoChangeWithoutEntry fails unless a call is refused and changes no row while no entry can be appended to the
// audit log.
func (b *fixture) requireNoChangeWithoutEntry(call func() (status int)) {
	b.t.Helper()
	exec := func(q string) {
		b.t.Helper()
		must(b.t, b.db.Write(storetest.Patient(b.t.Context()), func(ctx context.Context) error { return b.db.Exec(ctx, q) }))
	}
	exec(`CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no entry'); END`)
	defer exec(`DROP TRIGGER refuse`)
	before := b.database.Rows(b.t)
	if status := call(); status != http.StatusInternalServerError {
		b.t.Errorf("the call without an entry in the audit log: got %d, want 500", status)
	}
	if diff := cmp.Diff(before, b.database.Rows(b.t)); diff != "" {
		b.t.Errorf("rows after the call without an entry in the audit log (-before +after):\n%s", diff)
	}
}

// TestAudit_OneEntryPerChange calls every operation that changes something. A call that
// succeeds writes one entry with its origin, and a refused one none. A call whose entry cannot be
// written changes nothing. An operation that is added to the description needs a call in changingCalls.
func TestAudit_OneEntryPerChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tokens, err := b.tokens.List(t.Context())
	must(t, err)
	for _, o := range b.contract.Operations() {
		if o.Method == http.MethodGet || o.ID == "createBackup" { // package app records backups
			continue
		}
		t.Run(o.ID, func(t *testing.T) {
			b.t = t
			call, known := changingCalls[o.ID]
			if !known {
				t.Fatalf("changingCalls: got no call of %s, want one: add it", o.ID)
			}
			path, body := call.prepare(b)
			header := http.Header{"Authorization": {"Bearer " + b.token}}
			if b.cookie != "" {
				header = http.Header{"Cookie": {sessionCookie + "=" + b.cookie}}
				b.cookie = ""
			}
			var raw []byte
			switch body := body.(type) {
			case string:
				raw = []byte(body)
				header.Set("Content-Type", "application/octet-stream")
			case m:
				raw, err = json.Marshal(body)
				must(t, err)
				header.Set("Content-Type", "application/json")
			}
			if call.action != unrecorded {
				b.requireNoChangeWithoutEntry(func() int {
					return b.contract.Do(t, o.Method, "/api/manage"+path, header, raw).StatusCode
				})
			}
			last := b.lastAuditEntry()
			resp := b.contract.Do(t, o.Method, "/api/manage"+path, header, raw)
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%s %s: got %d, want 200", o.Method, path, resp.StatusCode)
			}
			var secrets m
			must(t, json.NewDecoder(resp.Body).Decode(&secrets))
			b.keepSecrets(secrets)
			entries := b.auditEntries(last)
			if call.action == unrecorded && len(entries) == 0 {
				return
			}
			if len(entries) != 1 {
				t.Fatalf("got the entries %+v, want one", entries)
			}
			e := entries[0]
			want := audit.Origin{
				Kind:      audit.KindToken,
				ActorID:   tokens[0].ID,
				ActorName: "test",
				RequestID: resp.Header.Get("X-Request-ID"),
				Address:   "192.0.2.1",
				Node:      b.rooms.NodeID(),
			}
			if e.Origin != want || e.Action != call.action || e.Subject == "" || e.Before+e.After == "{}{}" {
				t.Errorf("got %+v, want the action %s with values and the origin %+v", e, call.action, want)
			}
			if strings.HasPrefix(path, "/projects/") && e.ProjectID != strings.Split(path, "/")[2] {
				t.Errorf("%s: got an entry of the project %q, want that of the path", path, e.ProjectID)
			}
		})
		t.Run(o.ID+" refused", func(t *testing.T) {
			b.t = t
			last := b.lastAuditEntry()
			path := strings.TrimPrefix(unknownPath(o.Path), "/api/manage")
			var body any
			if o.HasJSON {
				body = m{}
			}
			if o.ID == "setProjectLogo" {
				body = pngImage(16, 16)
			}
			if o.HasJSON || strings.Contains(o.Path, "{") {
				if status, out := b.call(o.Method, path, body); status < 400 {
					t.Errorf("%s %s: got %d %v, want a refusal", o.Method, path, status, out)
				}
			}
			if status, _ := b.send(o.Method, path, http.Header{}, nil); status != http.StatusUnauthorized && !o.Public {
				t.Errorf("%s %s without a token: got %d, want 401", o.Method, path, status)
			}
			if entries := b.auditEntries(last); len(entries) != 0 {
				t.Errorf("got the entries %+v, want none", entries)
			}
		})
	}
	b.t = t
	if report, err := b.audit.Verify(t.Context()); err != nil || report.Problem != nil || report.Rows < 30 {
		t.Errorf("verify: got %+v, %v, want no problem in at least 30 entries", report, err)
	}
	if len(b.secrets) < 30 {
		t.Errorf("got %d secrets, want at least 30", len(b.secrets))
	}
	for _, e := range b.auditEntries(0) {
		for _, secret := range append(b.secrets, b.token, "T0KEN", "PASSW0RD") {
			if strings.Contains(fmt.Sprintf("%+v", e), secret) {
				t.Errorf("entry %d (%s): got a secret, want none", e.N, e.Action)
			}
		}
	}
}

// A call that succeeds without changing anything leaves no entry.
func TestAudit_NoEntryWithoutChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.createProject()
	path := "/projects/" + p["project_id"].(string)
	token := b.mustCall("POST", "/tokens", m{"name": "spare"})["token_id"].(string)
	b.mustPut(path+"/logo", pngImage(16, 16))
	repeated := func() {
		b.mustPut(path+"/logo", pngImage(16, 16))
		b.mustCall("PATCH", path, m{"name": "Classes", "embed_origins": []string{"https://example.org"},
			"features": m{"breakout_rooms": 3}, "webhook_events": []string{"room.ended"}})
		b.mustCall("PATCH", "/organizations/"+p["organization_id"].(string), m{"plan": "gold"})
		b.mustCall("POST", path+"/suspend", nil)
		b.mustCall("POST", "/tokens/"+token+"/revoke", nil)
	}
	repeated()
	last := b.lastAuditEntry()
	repeated()
	if entries := b.auditEntries(last); len(entries) != 0 {
		t.Errorf("got the entries %+v, want none", entries)
	}
}

// TestAudit_Values checks the values before and after.
func TestAudit_Values(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.projectPath("")
	keys := func() []any { return b.mustCall("GET", path+"/keys", nil)["keys"].([]any) }
	first := keys()[0].(m)["id"].(string)
	last := b.lastAuditEntry()
	expect := func(before, after string) {
		t.Helper()
		entries := b.auditEntries(last)
		if len(entries) == 0 || entries[0].Before != before || entries[0].After != after {
			t.Errorf("got %+v, want before %s and after %s", entries, before, after)
		}
		last = b.lastAuditEntry()
	}
	b.mustCall("PATCH", path, m{"name": "Classes", "features": m{"camera": false}, "default_webhook_url": secretURL})
	expect(`{"default_webhook_url":"","features.camera":true,"name":"Lessons"}`,
		`{"default_webhook_url":"https://hooks.example.org/…","features.camera":false,"name":"Classes"}`)
	b.mustCall("PATCH", path, m{"default_webhook_url": secretURL + "2"})
	const hidden = `{"default_webhook_url":"https://hooks.example.org/…"}`
	expect(hidden, hidden)

	b.mustCall("POST", path+"/keys/rotate", nil)
	second := keys()[0].(m)["id"].(string)
	at, err := time.Parse(time.RFC3339, keys()[1].(m)["overlap_ends_at"].(string))
	must(t, err)
	ends := at.UTC().Format("2006-01-02T15:04:05.000Z")
	expect(fmt.Sprintf(`{"current":%q}`, first),
		fmt.Sprintf(`{"current":%q,"overlap":%q,"overlap_ends_at":%q}`, second, first, ends))
	b.mustCall("POST", path+"/keys/revoke-overlap", nil)
	expect(fmt.Sprintf(`{"overlap":%q,"overlap_ends_at":%q}`, first, ends), `{}`)

	project := strings.TrimPrefix(path, "/projects/")
	scheduled, open := b.createScheduled(project), b.createRoom(project)
	b.mustCall("POST", "/rooms/"+scheduled+"/end", nil)
	expect(`{"state":"scheduled"}`, `{"state":"cancelled"}`)
	b.mustCall("POST", path+"/suspend", m{"end_rooms": true})
	entries := b.auditEntries(last)
	if len(entries) != 2 || entries[0].Action != audit.ProjectSuspended || entries[1].Action != audit.RoomEnded ||
		entries[1].Subject != open || entries[1].ProjectID != project ||
		entries[1].After != `{"end_reason":"project_suspended","state":"ended"}` ||
		entries[1].RequestID != entries[0].RequestID {
		t.Errorf("suspend and end rooms: got %+v, want the suspension and the end of %s", entries, open)
	}
}

func testAudit(t *testing.T, b *fixture) {
	b.t = t
	p := b.createProject()
	project := p["project_id"].(string)
	b.mustCall("PATCH", "/projects/"+project, m{"name": "Classes"})
	list := func(query string) []any { return b.mustCall("GET", "/audit"+query, nil)["entries"].([]any) }
	all := list("?limit=100")
	if n := int64(len(all)); n != b.lastAuditEntry() {
		t.Fatalf("got %d entries, want %d", n, b.lastAuditEntry())
	}
	newest := all[0].(m)
	for name, want := range (m{"action": "project.changed", "actor": "test", "actor_kind": "token", "subject": project,
		"project_id": project, "address": "192.0.2.1", "before": m{"name": "Lessons"}, "after": m{"name": "Classes"}}) {
		if diff := cmp.Diff(want, newest[name]); diff != "" {
			t.Errorf("newest entry: %s (-want +got):\n%s", name, diff)
		}
	}
	if of := list("?project_id=" + project); len(of) != 2 || of[1].(m)["action"] != "project.created" {
		t.Errorf("entries of the project: got %v, want its creation and its change", of)
	}
	for query, want := range map[string]int{"action=project.changed": 1, "action=project.created": 1,
		"action=key.rotated": 0, "actor=test": 2, "actor=" + newest["actor_id"].(string): 2, "actor=service": 0,
		"subject=" + project: 2, "subject=" + unknownID: 0, "action=project.changed&actor=test&subject=" + project: 1} {
		if found := list("?project_id=" + project + "&" + query); len(found) != want {
			t.Errorf("entries with %s: got %v, want %d", query, found, want)
		}
	}
	page := b.mustCall("GET", "/audit?limit=2", nil)
	rest := b.mustCall("GET", "/audit?limit=100&cursor="+page["next_cursor"].(string), nil)
	paged := append(page["entries"].([]any), rest["entries"].([]any)...)
	if diff := cmp.Diff(all, paged); diff != "" || rest["next_cursor"] != nil {
		t.Errorf("two pages: got next_cursor %v, want none; entries (-want +got):\n%s", rest["next_cursor"], diff)
	}
	if since := list("?since=" + newest["at"].(string)); len(since) == 0 || !cmp.Equal(since[0], newest) {
		t.Errorf("entries since the newest: got %v, want %v first", since, newest)
	}
	if before := list("?before=" + all[len(all)-2].(m)["at"].(string)); len(before) > 1 {
		t.Errorf("entries before the second: got %v, want at most the first", before)
	}
	for _, at := range []string{"2999-01-01T00:00:00Z", "2999-01-01t00:00:00z", "2999-01-01T00:00:00.000000000Z",
		"2999-01-01t00:00:00%2b00:00", "2999-01-01T05:30:00%2B05:30", "2998-12-31T16:00:00.5-08:00"} {
		if diff := cmp.Diff(all, list("?before="+at)); diff != "" {
			t.Errorf("entries before %s (-want +got):\n%s", at, diff)
		}
		if since := list("?since=" + at); len(since) != 0 {
			t.Errorf("entries since %s: got %v, want none", at, since)
		}
	}
	for query, want := range map[string]string{
		"before=tomorrow": `before must be an RFC 3339 time such as 2027-01-31T09:30:00Z, not "tomorrow"`,
		"since=yesterday": `since must be an RFC 3339 time such as 2027-01-31T09:30:00Z, not "yesterday"`,
		"limit=0":         "limit must be between 1 and 100, not 0",
		"limit=many":      "limit must be a whole number",
		"cursor=x":        "cursor must be the next_cursor of an earlier response",
		"cursor=0":        "cursor must be the next_cursor of an earlier response",
	} {
		b.assertError("GET", "/audit?"+query, nil, 400, "invalid_request", want)
	}

	report := b.mustCall("GET", "/audit/verify", nil)
	if want := (m{"ok": true, "rows": float64(len(all)), "n": float64(len(all)), "head": newest["hash"]}); !reflect.
		DeepEqual(report, want) {
		t.Errorf("verify: got %v, want %v", report, want)
	}
	replaceAfter := func(text string) {
		t.Helper()
		must(t, b.db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
			return b.db.Exec(ctx, `UPDATE audit SET after = $1 WHERE n = 2`, text)
		}))
	}
	replaceAfter(`{"name":"Mallory"}`)
	report = b.mustCall("GET", "/audit/verify", nil)
	problem := m{"n": 2.0, "defect": "changed", "message": "entry 2 was changed"}
	if diff := cmp.Diff(problem, report["problem"]); report["ok"] != false || report["rows"] != 1.0 || diff != "" {
		t.Errorf("verify a changed entry: got ok %v and %v rows, want false and 1; the problem (-want +got):\n%s",
			report["ok"], report["rows"], diff)
	}
	replaceAfter(`no JSON`)
	b.assertError("GET", "/audit?limit=100", nil, 500, "internal", internalError)
	if one := list("?limit=1"); one[0].(m)["n"] != float64(len(all)) {
		t.Errorf("first page: got %v, want the entry %s", one, strconv.Itoa(len(all)))
	}
}
