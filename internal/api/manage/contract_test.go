package manage

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

const unknownID = "01890000-0000-7000-8000-000000000000"

func TestManagementAPI_MatchesDescription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	t.Run("organizations", func(t *testing.T) { testOrganizations(t, b) })
	t.Run("projects", func(t *testing.T) { testProjects(t, b) })
	t.Run("suspension of an organization", func(t *testing.T) { testOrganizationSuspension(t, b) })
	t.Run("audit", func(t *testing.T) { testAudit(t, b) }) // while all entries fit on one page
	t.Run("usage", func(t *testing.T) { testUsage(t, b) })
	t.Run("settings", func(t *testing.T) { testSettings(t, b) })
	t.Run("logo", func(t *testing.T) { testLogo(t, b) })
	t.Run("credentials", func(t *testing.T) { testCredentials(t, b) })
	t.Run("rooms", func(t *testing.T) { testRooms(t, b) })
	t.Run("webhooks", func(t *testing.T) { testWebhooks(t, b) })
	t.Run("people", func(t *testing.T) { testPeople(t, b) })
	t.Run("deletion", func(t *testing.T) { testDeletion(t, b) })
	t.Run("deletion of an organization", func(t *testing.T) { testOrganizationDeletion(t, b) })
	t.Run("tokens", func(t *testing.T) { testTokens(t, b) })
	t.Run("calls", func(t *testing.T) { testCalls(t, b) })
	t.Run("timeline", func(t *testing.T) { testTimeline(t, b) })
	t.Run("retry", func(t *testing.T) { testRetry(t, b) })
	t.Run("console", func(t *testing.T) { testConsole(t, b) })
	t.Run("roles", func(t *testing.T) { testRoles(t, b) })
	t.Run("several projects", func(t *testing.T) { testSeveralProjects(t, b) })
	t.Run("connection checks", func(t *testing.T) { testConnectionChecks(t, b) })
	t.Run("backups", func(t *testing.T) { testBackups(t, b) })
	t.Run("overview", func(t *testing.T) { testOverview(t, b) })
	t.Run("nodes", func(t *testing.T) { testNodes(t, b) })
	t.Run("settings of the server", func(t *testing.T) { testServerSettings(t, b) })
	t.Run("stream", func(t *testing.T) { testStream(t, b) })
	t.Run("signature checks", func(t *testing.T) { testSignatureChecks(t, b) })
	t.Run("errors of every operation", func(t *testing.T) { testEveryOperation(t, b) })
	b.contract.AssertCovered()
}

func testOrganizations(t *testing.T, b *fixture) {
	b.t = t
	if list := b.mustCall("GET", "/organizations", nil)["organizations"].([]any); len(list) != 0 {
		t.Errorf("got organizations %v, want none", list)
	}
	o := b.mustCall("POST", "/organizations", m{"name": "Acme", "billing": "payg"})
	id, _ := o["organization_id"].(string)
	if o["name"] != "Acme" || o["billing"] != "payg" || id == "" {
		t.Errorf("create an organization: got %v, want Acme with billing payg", o)
	}
	if shown := b.mustCall("GET", "/organizations/"+id, nil); shown["name"] != "Acme" {
		t.Errorf("get the organization: got %v, want Acme", shown)
	}
	if changed := b.mustCall("PATCH", "/organizations/"+id, m{"name": "Acme Ltd"}); changed["name"] != "Acme Ltd" {
		t.Errorf("rename the organization: got %v, want Acme Ltd", changed)
	}
	if priced := b.mustCall("PATCH", "/organizations/"+id,
		m{"currency": "EUR", "unit_price": "0.004", "plan": "gold"}); priced["unit_price"] != "0.004" ||
		priced["plan"] != "gold" {
		t.Errorf("set a price: got %v, want 0.004 and the plan gold", priced)
	}
	b.assertError("PATCH", "/organizations/"+id, m{"currency": "euro"}, 400, "invalid_request",
		"currency must be three capital letters of ISO 4217, such as EUR")
	b.assertError("PATCH", "/organizations/"+id, m{"name": "Other", "plan": "silver"}, 400, "invalid_request",
		`plan must be one of the configured plans (default, gold), not "silver"`)
	b.contract.WithHandler(b.handler(b.tokens, fakePlans{}, nil),
		func() {
			b.assertError("PATCH", "/organizations/"+id, m{"plan": "gold"}, 400, "invalid_request",
				"plan must be empty because no plan provider is configured")
			if none := b.mustCall("PATCH", "/organizations/"+id, m{"plan": ""}); none["plan"] != "" {
				t.Errorf("remove the plan: got %v, want none", none)
			}
		})
	if same := b.mustCall("PATCH", "/organizations/"+id, m{}); same["name"] != "Acme Ltd" {
		t.Errorf("change nothing: got %v, want Acme Ltd", same)
	}
	if list := b.mustCall("GET", "/organizations", nil)["organizations"].([]any); len(list) != 1 ||
		list[0].(m)["name"] != "Acme Ltd" {
		t.Errorf("list organizations: got %v, want only Acme Ltd", list)
	}
	b.assertError("POST", "/organizations", m{"name": "A", "billing": "free"}, 400, "invalid_request",
		`billing must be "plan" or "payg"`)
	b.assertError("POST", "/organizations", m{"billing": "plan"}, 400, "invalid_request",
		"name must have 1 to 255 characters and not be blank")
	b.assertError("POST", "/organizations", m{"name": strings.Repeat("é", 256), "billing": "plan"}, 400,
		"invalid_request", "name must have at most 255 characters, not 256")
	b.assertError("POST", "/organizations", m{"name": "a\x1b[2J", "billing": "plan"}, 400, "invalid_request",
		"name must not contain control characters such as U+001B")
	b.assertError("POST", "/organizations", m{"name": 5, "billing": "plan"}, 400, "invalid_request",
		"name must be a string")
	b.assertError("POST", "/organizations", m{"nam": "A"}, 400, "invalid_request",
		`unknown field "nam", the fields are billing, name`)
	b.assertError("POST", "/organizations", `{"name":"A","name":"B"}`, 400, "invalid_request",
		"the body has a field twice: name")
	b.assertError("PATCH", "/organizations/"+id, m{"name": " "}, 400, "invalid_request",
		"name must have 1 to 255 characters and not be blank")
	b.assertError("PATCH", "/organizations/"+unknownID, m{"name": "A"}, 404, "organization_not_found",
		noOrganization)
	b.assertError("GET", "/organizations/"+unknownID, nil, 404, "organization_not_found",
		noOrganization)
}

// createProject creates an organization with one project and returns the
// response.
func (b *fixture) createProject() m {
	b.t.Helper()
	o := b.mustCall("POST", "/organizations", m{"name": "Acme", "billing": "plan"})
	return b.mustCall("POST", "/projects", m{"organization_id": o["organization_id"], "name": "Lessons"})
}

func testProjects(t *testing.T, b *fixture) {
	b.t = t
	p := b.createProject()
	id := p["project_id"].(string)
	for field, prefix := range map[string]string{"project_secret": "whsec_", "api_key": "pk_", "gateway_secret": "gs_",
		"name": "Lessons", "status": "active"} {
		if text, _ := p[field].(string); !strings.HasPrefix(text, prefix) {
			t.Errorf("%s: got %v, want the prefix %s", field, p[field], prefix)
		}
	}
	path := "/projects/" + id
	shown := b.mustCall("GET", path, nil)
	if settings := shown["settings"].(m); shown["suspended"] != false || settings["default_empty_timeout"] != 0.0 ||
		settings["require_secret_signatures"] != false {
		t.Errorf("get the project: got %v, want default settings", shown)
	}
	for _, q := range []string{"", "?organization_id=" + p["organization_id"].(string)} {
		if list := b.mustCall("GET", "/projects"+q, nil)["projects"].([]any); len(list) != 1 {
			t.Errorf("projects%s: got %v, want one", q, list)
		}
	}
	changed := b.mustCall("PATCH", path, m{"name": "Classes", "default_empty_timeout": 60,
		"require_secret_signatures": true})
	if settings := changed["settings"].(m); changed["name"] != "Classes" || settings["default_empty_timeout"] != 60.0 ||
		settings["require_secret_signatures"] != true {
		t.Errorf("change the project: got %v, want Classes with the new settings", changed)
	}
	if r, err := b.keys.Keyring(t.Context(), id); err != nil || !r.Project.Settings.RequireSecretSignatures ||
		r.Project.Name != "Classes" {
		t.Errorf("keyring after the change: got %+v, %v, want Classes, with secret signatures", r, err)
	}
	b.assertError("PATCH", path, m{"name": "Other", "default_empty_timeout": 86401}, 400, "invalid_request",
		"default_empty_timeout must be between 0 and 86400, not 86401")
	b.assertError("PATCH", path, m{"require_secret_signatures": "yes"}, 400, "invalid_request",
		"require_secret_signatures must be true or false")
	b.assertError("PATCH", path, m{"default_empty_timeout": 1.5}, 400, "invalid_request",
		"default_empty_timeout must be an integer")
	if same := b.mustCall("PATCH", path, m{}); same["name"] != "Classes" {
		t.Errorf("after rejected changes: got %v, want the name Classes", same)
	}
	open, active, scheduled := b.createRoom(id), b.createRoom(id), b.createScheduled(id)
	b.setState(active, room.Active)
	if s := b.mustCall("POST", path+"/suspend", nil); s["suspended"] != true || s["rooms_ended"] != 0.0 ||
		s["suspended_at"] == nil {
		t.Errorf("suspend: got %v, want no rooms ended", s)
	}
	if r, err := b.keys.Keyring(t.Context(), id); err != nil || !r.Project.Suspended() {
		t.Errorf("keyring after the suspension: got %+v, %v, want a suspended project", r, err)
	}
	if s := b.mustCall("POST", path+"/suspend", m{"end_rooms": true}); s["rooms_ended"] != 2.0 {
		t.Errorf("suspend and end rooms: got %v, want 2 rooms ended", s)
	}
	for room, want := range map[string]string{open: "ended project_suspended", active: "ended project_suspended",
		scheduled: "scheduled "} {
		r := b.mustCall("GET", "/rooms/"+room, nil)
		if got := r["state"].(string) + " " + r["end_reason"].(string); got != want {
			t.Errorf("room %s after the suspension: got %q, want %q", room, got, want)
		}
	}
	if r := b.mustCall("POST", path+"/resume", nil); r["suspended"] != false || r["status"] != "active" ||
		r["suspended_at"] != nil {
		t.Errorf("resume: got %v, want an active project", r)
	}
	b.assertError("POST", path+"/suspend", m{"end_room": true}, 400, "invalid_request",
		`unknown field "end_room", the fields are end_rooms`)
	b.assertError("POST", "/projects", m{"organization_id": unknownID, "name": "A"}, 404, "organization_not_found",
		noOrganization)
	b.assertError("GET", "/projects?organization_id="+unknownID, nil, 404, "organization_not_found",
		noOrganization)
	b.assertError("GET", "/projects?organization_id=a&organization_id=b", nil, 400, "invalid_request",
		"organization_id must be sent at most once")
}

// A suspended organization has suspended its projects. Those that were suspended alone stay
// suspended when it is resumed.
func testOrganizationSuspension(t *testing.T, b *fixture) {
	b.t = t
	o := b.mustCall("POST", "/organizations", m{"name": "Late Ltd", "billing": "plan"})
	organization := "/organizations/" + o["organization_id"].(string)
	var paths []string
	for range 3 {
		p := b.mustCall("POST", "/projects", m{"organization_id": o["organization_id"], "name": "Lessons"})
		paths = append(paths, "/projects/"+p["project_id"].(string))
	}
	room := b.createRoom(strings.TrimPrefix(paths[0], "/projects/"))
	assertSuspended := func(want ...bool) {
		t.Helper()
		for i, path := range paths {
			if p := b.mustCall("GET", path, nil); p["suspended"] != want[i] {
				t.Errorf("project %d: got suspended %v, want %v", i, p["suspended"], want[i])
			}
			r, err := b.keys.Keyring(t.Context(), strings.TrimPrefix(path, "/projects/"))
			if err != nil || r.Project.Suspended() != want[i] {
				t.Errorf("project %d: got suspended %v, %v in force, want %v", i, r.Project.Suspended(), err, want[i])
			}
		}
	}
	b.mustCall("POST", paths[1]+"/suspend", nil)
	last := b.lastAuditEntry()
	if s := b.mustCall("POST", organization+"/suspend", nil); s["suspended"] != true || s["suspended_at"] == nil ||
		s["rooms_ended"] != 0.0 {
		t.Errorf("suspend: got %v, want a suspended organization and no rooms ended", s)
	}
	assertSuspended(true, true, true)
	var actions []string
	for _, e := range b.auditEntries(last) {
		actions = append(actions, string(e.Action))
	}
	if got, want := strings.Join(actions, " "), "organization.suspended project.suspended project.suspended"; got != want {
		t.Errorf("audit entries: got %s, want %s", got, want)
	}
	if s := b.mustCall("POST", organization+"/suspend", m{"end_rooms": true}); s["rooms_ended"] != 1.0 {
		t.Errorf("suspend and end rooms: got %v, want 1 room ended", s)
	}
	if r := b.mustCall("GET", "/rooms/"+room, nil); r["end_reason"] != "project_suspended" {
		t.Errorf("the room: got %v, want it ended by the suspension", r)
	}
	for _, list := range []string{"/organizations?", "/tokens?", "/projects?organization_id=" +
		o["organization_id"].(string) + "&"} {
		name := strings.TrimPrefix(list[:strings.Index(list, "?")], "/")
		all := b.mustCall("GET", list, nil)[name].([]any)
		var paged []any
		for cursor := ""; ; {
			page := b.mustCall("GET", list+"limit=1"+cursor, nil)
			paged = append(paged, page[name].([]any)...)
			next, more := page["next_cursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		if diff := cmp.Diff(all, paged); len(all) == 0 || diff != "" {
			t.Errorf("%s: got %d, want some; those on pages of one (-want +got):\n%s", name, len(all), diff)
		}
		b.assertError("GET", list+"limit=0", nil, 400, "invalid_request",
			"limit must be a whole number of at least 1, in digits; more than 100 means 100")
		b.assertError("GET", list+"cursor=x", nil, 400, "invalid_request",
			"cursor must be the next_cursor of an earlier response")
	}
	const suspended = "the organization is suspended: an owner or an operator can resume it with parley org resume"
	b.assertError("POST", paths[0]+"/resume", nil, 409, "organization_suspended", suspended)
	b.assertError("POST", "/projects", m{"organization_id": o["organization_id"], "name": "A"}, 409,
		"organization_suspended", suspended)
	b.mustCall("POST", paths[2]+"/suspend", nil)
	for range 2 {
		if r := b.mustCall("POST", organization+"/resume", nil); r["suspended"] != false || r["suspended_at"] != nil {
			t.Errorf("resume: got %v, want an organization that is not suspended", r)
		}
	}
	assertSuspended(false, true, true)
	if got := b.mustCall("PATCH", organization, m{"name": "Late"}); got["suspended"] != false || got["name"] != "Late" {
		t.Errorf("rename: got %v, want Late, not suspended", got)
	}
	b.assertError("POST", organization+"/suspend", m{"end_room": true}, 400, "invalid_request",
		`unknown field "end_room", the fields are end_rooms`)
}

// leavingCaller is a caller that leaves as soon as the handler has removed the read timeout. A server with a read
// timeout ends the context of a longer request in the same way.
type leavingCaller struct {
	*httptest.ResponseRecorder
	leave func()
}

func (c leavingCaller) SetReadDeadline(time.Time) error {
	c.leave()
	return nil
}

// A suspension, a resumption and a deletion are completed although the caller has left, because nobody would know which
// part was done.
func TestSuspension_CompletesWithoutCaller(t *testing.T) {
	t.Parallel()
	b := setup(t)
	o := b.mustCall("POST", "/organizations", m{"name": "Left Ltd", "billing": "plan"})
	project := func() string {
		p := b.mustCall("POST", "/projects", m{"organization_id": o["organization_id"], "name": "Lessons"})
		return p["project_id"].(string)
	}
	first, second := project(), project()
	callAndLeave := func(method, path, body string) {
		t.Helper()
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, method, "/api/manage"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+b.token)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		w := leavingCaller{httptest.NewRecorder(), leave}
		b.handler(b.tokens, fakePlans{}, nil).ServeHTTP(w, r)
		if ctx.Err() == nil || w.Code != http.StatusOK {
			t.Errorf("%s %s: got status %d and left: %t, want 200 for a caller that has left: %s", method, path, w.Code,
				ctx.Err() != nil, w.Body)
		}
	}
	const andEndRooms = `{"end_rooms": true}`
	requireSuspended := func(projectID, roomID string) {
		t.Helper()
		if p := b.mustCall("GET", "/projects/"+projectID, nil); p["suspended"] != true {
			t.Errorf("project %s: got suspended %v, want true", projectID, p["suspended"])
		}
		if r := b.mustCall("GET", "/rooms/"+roomID, nil); r["end_reason"] != "project_suspended" {
			t.Errorf("the room of project %s: got %v, want it ended by the suspension", projectID, r)
		}
	}
	room := b.createRoom(first)
	callAndLeave("POST", "/projects/"+first+"/suspend", andEndRooms)
	requireSuspended(first, room)
	callAndLeave("POST", "/projects/"+first+"/resume", "")

	rooms := []string{b.createRoom(first), b.createRoom(second)}
	organization := "/organizations/" + o["organization_id"].(string)
	callAndLeave("POST", organization+"/suspend", andEndRooms)
	requireSuspended(first, rooms[0])
	requireSuspended(second, rooms[1])
	callAndLeave("POST", organization+"/resume", "")

	room = b.createRoom(first)
	b.mustCall("POST", "/projects/"+first+"/suspend", nil)
	callAndLeave("DELETE", "/projects/"+first, "")
	if p := b.mustCall("GET", "/projects/"+first, nil); p["deleted_at"] == nil {
		t.Errorf("project %s: got %v, want it deleted", first, p)
	}
	if r := b.mustCall("GET", "/rooms/"+room, nil); r["end_reason"] == "" {
		t.Errorf("the room of the deleted project: got %v, want it ended", r)
	}
	empty := b.mustCall("POST", "/organizations", m{"name": "Empty Ltd", "billing": "plan"})
	organization = "/organizations/" + empty["organization_id"].(string)
	callAndLeave("DELETE", organization, "")
	b.assertError("GET", organization, nil, 404, "organization_not_found", noOrganization)
}

func testCredentials(t *testing.T, b *fixture) {
	b.t = t
	p := b.createProject()
	path := "/projects/" + p["project_id"].(string)
	keys := func() []any { return b.mustCall("GET", path+"/keys", nil)["keys"].([]any) }
	first := p["api_key"].(string)
	if k := keys(); len(k) != 1 || k[0].(m)["api_key"] != first[:8]+"…"+first[len(first)-4:] ||
		k[0].(m)["status"] != "active" {
		t.Errorf("keys: got %v, want one active key, abbreviated", k)
	}
	before := time.Now()
	rotated := b.mustCall("POST", path+"/keys/rotate", nil)
	ends, err := time.Parse(time.RFC3339, rotated["overlap_ends_at"].(string))
	if after := ends.Sub(before); err != nil || after < 24*time.Hour-time.Second || after > 24*time.Hour+time.Minute ||
		rotated["api_key"] == first {
		t.Errorf("rotate: got %v, %v, want a new key and an overlap of 24 hours", rotated, err)
	}
	if k := keys(); len(k) != 2 || k[1].(m)["status"] != "retiring" || k[1].(m)["overlap_ends_at"] == nil {
		t.Errorf("keys after the rotation: got %v, want a second one that is retiring", k)
	}
	const overlapping = "the overlap of the last rotation has not ended: wait for its end, which parley key list and " +
		"parley project show print, end it now with parley key revoke-overlap or parley project revoke-secret-overlap, " +
		"or add --force, which ends it"
	b.assertError("POST", path+"/keys/rotate", m{}, 409, "overlap_in_force", overlapping)
	b.mustCall("POST", path+"/keys/rotate", m{"force": true, "overlap": 60})
	if left := b.mustCall("POST", path+"/keys/revoke-overlap", nil)["keys"].([]any); len(left) != 1 {
		t.Errorf("revoke the overlap: got %v, want one key", left)
	}
	b.assertError("POST", path+"/keys/revoke-overlap", nil, 404, "no_overlap", noOverlap)
	b.mustCall("POST", path+"/keys/rotate", m{"overlap": 0})
	if k := keys(); len(k) != 1 {
		t.Errorf("keys after an overlap of 0: got %v, want one", k)
	}

	secret := b.mustCall("POST", path+"/rotate-secret", m{"overlap": 3600})
	if text := secret["project_secret"].(string); !strings.HasPrefix(text, "whsec_") || text == p["project_secret"] {
		t.Errorf("rotate the secret: got %v, want a new one that begins with whsec_", secret)
	}
	if shown := b.mustCall("GET", path, nil); shown["secret_overlap_ends_at"] == nil {
		t.Errorf("after the rotation of the secret: got %v, want an overlap", shown)
	}
	b.assertError("POST", path+"/rotate-secret", nil, 409, "overlap_in_force", overlapping)
	if shown := b.mustCall("POST", path+"/revoke-secret-overlap", nil); shown["secret_overlap_ends_at"] != nil {
		t.Errorf("revoke the overlap of the secret: got %v, want none", shown)
	}
	b.assertError("POST", path+"/revoke-secret-overlap", nil, 404, "no_overlap", noSecretOverlap)
	for _, rotate := range []string{"/keys/rotate", "/rotate-secret"} {
		b.assertError("POST", path+rotate, m{"overlap": -1}, 400, "invalid_request",
			"overlap must be between 0 and 7d, not -1s")
		b.assertError("POST", path+rotate, m{"overlap": 604801}, 400, "invalid_request",
			"overlap must be between 0 and 7d, not 168h0m1s")
		b.assertError("POST", path+rotate, `{"overlap": 18446744074}`, 400, "invalid_request",
			"overlap must be between 0 and 7d, not 2562047h47m16s")
		b.assertError("POST", path+rotate, m{"overlap": "1d"}, 400, "invalid_request", "overlap must be an integer")
	}
}

func testRooms(t *testing.T, b *fixture) {
	b.t = t
	id := b.createProject()["project_id"].(string)
	created := []string{b.createScheduled(id)}
	for range 2 {
		created = append(created, b.createRoom(id))
	}
	list := b.mustCall("GET", "/rooms?limit=2&project_id="+id, nil)
	rooms := list["rooms"].([]any)
	if len(rooms) != 2 || rooms[0].(m)["room_id"] != created[2] || list["next_cursor"] != created[1] {
		t.Fatalf("first page of rooms: got %v, want two, newest first, and a cursor", list)
	}
	list = b.mustCall("GET", "/rooms?limit=2&project_id="+id+"&cursor="+list["next_cursor"].(string), nil)
	if rooms = list["rooms"].([]any); len(rooms) != 1 || rooms[0].(m)["room_id"] != created[0] ||
		list["next_cursor"] != nil {
		t.Errorf("last page of rooms: got %v, want %s without a cursor", list, created[0])
	}
	if s := b.mustCall("GET", "/rooms/"+created[0], nil); s["state"] != "scheduled" || s["start_at"] == nil ||
		s["opened_at"] != nil {
		t.Errorf("get a scheduled room: got %v, want a start and no opening", s)
	}
	for room, want := range map[string]string{created[0]: "cancelled ", created[1]: "ended api"} {
		r := b.mustCall("POST", "/rooms/"+room+"/end", nil)
		if got := r["state"].(string) + " " + r["end_reason"].(string); got != want ||
			r["participants_sent_out"] != 0.0 || r["ended_at"] == nil {
			t.Errorf("end room %s: got %v, want %q and nobody sent out", room, r, want)
		}
		b.assertError("POST", "/rooms/"+room+"/end", nil, 409, "room_over",
			strings.Replace(roomOver, "state is ended", "state is "+strings.Fields(want)[0], 1))
	}
	for state, want := range map[string]string{"open": created[2], "ended": created[1], "cancelled": created[0]} {
		if rooms := b.mustCall("GET", "/rooms?state="+state+"&project_id="+id, nil)["rooms"].([]any); len(rooms) != 1 ||
			rooms[0].(m)["room_id"] != want {
			t.Errorf("%s rooms: got %v, want only %s", state, rooms, want)
		}
	}
	b.join(created[2], "Amina")
	b.join(created[2], "Chen")
	for query, want := range map[string]int{"title=stand": 2, "title=lesson": 1, "room_id=" + created[1]: 1,
		"client_room_id=none": 0, "person=amin": 1, "from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z": 0,
		"from=2026-01-01T00:00:00Z&state=active": 1} {
		if rooms := b.mustCall("GET", "/rooms?"+query+"&project_id="+id, nil)["rooms"].([]any); len(rooms) != want {
			t.Errorf("%s: got %d rooms, want %d", query, len(rooms), want)
		}
	}
	if in := b.mustCall("GET", "/rooms/"+created[2], nil); in["participants"] != 2.0 || in["state"] != "active" ||
		in["started_at"] == nil {
		t.Errorf("room with two people: got %v, want 2 participants, active and started_at", in)
	}
	remove := "/rooms/" + created[2] + "/remove-person"
	people := b.mustCall("GET", "/rooms/"+created[2]+"/people", nil)["people"].([]any)
	dara := b.join(created[2], "Dara")
	for i, want := range []bool{true, false} {
		if out := b.mustCall("POST", remove, m{"seat_id": dara}); out["was_connected"] != want || out["seat_id"] != dara {
			t.Errorf("removal %d: got %v, want was_connected %v", i+1, out, want)
		}
	}
	b.assertError("POST", remove, m{"seat_id": unknownID}, 404, "seat_not_found",
		"no participant of this room has this seat_id: parley room people lists the participants of a room")
	b.assertError("POST", remove, m{}, 400, "invalid_request", "seat_id is required")
	b.assertError("POST", "/rooms/"+created[1]+"/remove-person", m{"seat_id": people[0].(m)["seat_id"]}, 409, "room_over",
		roomOver)
	if out := b.mustCall("POST", "/rooms/"+created[2]+"/end", nil); out["participants_sent_out"] != 2.0 ||
		out["participants"] != 0.0 || out["end_reason"] != "api" {
		t.Errorf("end: got %v, want two participants sent out, none left, and the reason api", out)
	}
	events, err := storetest.Events(t.Context(), b.db, created[2])
	must(t, err)
	var types []string
	for _, e := range events {
		types = append(types, string(e.Type))
	}
	if got, want := strings.Join(types, " "),
		"room.opened room.started participant.joined participant.joined participant.joined participant.left "+
			"participant.left participant.left room.ended"; got != want {
		t.Errorf("events: got\n %s, want\n %s", got, want)
	}
	if _, err := b.rooms.ReserveSeat(t.Context(), created[2],
		room.JoinRequest{Name: "Dara", SeatKey: strings.Repeat("d", 30)}); !fault.Is(err, fault.Gone) {
		t.Errorf("join of an ended room: got error %v, want Gone", err)
	}
	shown := b.mustCall("GET", "/rooms/"+created[2], nil)
	if shown["room_type"] != "audio" || shown["title"] != "Standup" || shown["participants"] != 0.0 ||
		shown["max_participants"] != 5.0 || shown["project_id"] != id {
		t.Errorf("get a room: got %v, want the audio room Standup of %s with 5 seats", shown, id)
	}
	b.assertError("GET", "/rooms?state=closed", nil, 400, "invalid_request",
		`state must be scheduled, open, active, ended, cancelled or expired, not "closed"`)
	for _, limit := range []string{"0", "101", "-1"} {
		b.assertError("GET", "/rooms?limit="+limit, nil, 400, "invalid_request",
			"limit must be between 1 and 100, not "+limit)
	}
	b.assertError("GET", "/rooms?from=yesterday", nil, 400, "invalid_request",
		`from must be an RFC 3339 time such as 2027-01-31T09:30:00Z, not "yesterday"`)
	b.assertError("GET", "/rooms?to=2026-01-01T00:00:00Z&from=2026-01-01T00:00:01Z", nil, 400, "invalid_request",
		"to must not be before from")
	b.assertError("GET", "/rooms?limit=many", nil, 400, "invalid_request", "limit must be a whole number")
	b.assertError("GET", "/rooms?cursor=x", nil, 400, "invalid_request",
		"cursor must be the next_cursor of an earlier response")
	b.assertError("GET", "/rooms/"+unknownID, nil, 404, "room_not_found", noRoom)
	b.assertError("POST", "/rooms/"+unknownID+"/end", nil, 404, "room_not_found", noRoom)
}

func testTokens(t *testing.T, b *fixture) {
	b.t = t
	token := b.token
	defer func() { b.token = token }()
	created := b.mustCall("POST", "/tokens", m{"name": "night shift"})
	if list := b.mustCall("GET", "/tokens", nil)["tokens"].([]any); len(list) != 2 || list[0].(m)["in_use"] != true ||
		list[1].(m)["in_use"] != false || list[1].(m)["token"] != nil {
		t.Errorf("list tokens: got %v, want two, only the first in use, none in clear", list)
	}
	b.token = created["token"].(string)
	path := "/tokens/" + created["token_id"].(string) + "/revoke"
	if r := b.mustCall("POST", path, nil); r["in_use"] != true || r["revoked_at"] == nil {
		t.Errorf("a token revokes itself: got %v, want in_use and revoked_at", r)
	}
	b.assertRevoked()
	b.token = token
	once := b.mustCall("GET", "/tokens", nil)["tokens"].([]any)[1].(m)["revoked_at"]
	if again := b.mustCall("POST", path, nil); again["revoked_at"] != once || again["in_use"] != false {
		t.Errorf("revoke twice: got %v, want not in use, and revoked_at %v", again, once)
	}
	b.assertError("POST", "/tokens", m{"name": ""}, 400, "invalid_request",
		"name must have 1 to 255 characters and not be blank")
	b.assertError("POST", "/tokens", m{"name": "x", "role": "integrator", "project_ids": []string{unknownID}}, 404,
		"project_not_found", noProject)
	b.assertError("POST", "/tokens", m{"name": "x", "expires_at": "tomorrow"}, 400, "invalid_request",
		`expires_at must be an RFC 3339 time such as 2027-01-31T09:30:00Z, not "tomorrow"`)
	b.assertError("POST", "/tokens/"+unknownID+"/revoke", nil, 404, "token_not_found", noToken)
}
