package manage

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/retention"
	"parley/internal/room"
)

// testPeople exports and erases the creator of a room.
func testPeople(t *testing.T, b *fixture) {
	b.t = t
	o := b.mustCall("POST", "/organizations", m{"name": "People", "billing": "plan"})
	p := b.mustCall("POST", "/projects", m{"organization_id": o["organization_id"], "name": "People"})
	id := p["project_id"].(string)
	domain, err := b.projects.Get(t.Context(), id)
	must(t, err)
	created, err := b.rooms.CreateQuick(t.Context(), domain, room.Spec{
		Type:            room.Video,
		CreatorName:     "Zebulon",
		ExternalUserID:  "user-7",
		MaxParticipants: 5,
		Title:           "Standup",
	}, nil)
	must(t, err)
	b.join(created.ID, "Amina")
	path := "/projects/" + id + "/person-"
	rooms := b.mustCall("POST", path+"export", m{"user_id": "user-7"})["rooms"].([]any)
	if len(rooms) != 1 || rooms[0].(m)["creator_name"] != "Zebulon" || rooms[0].(m)["room_id"] != created.ID {
		t.Errorf("export: got %v, want the room that Zebulon created", rooms)
	}
	done := b.mustCall("POST", path+"erase", m{"user_id": "user-7"})
	if counts := done["erased"].(m); counts["rooms"] != 1.0 || done["compacted"] != true ||
		done["compaction"] != "done" || done["erased_at"] == nil {
		t.Errorf("erase: got %v, want one room", done)
	}
	if rooms := b.mustCall("POST", path+"export", m{"user_id": "user-7"})["rooms"].([]any); len(rooms) != 0 {
		t.Errorf("export after the erasure: got %v, want nothing", rooms)
	}
	seat := b.seatOf(created.ID)
	rooms = b.mustCall("POST", path+"export", m{"seat_id": seat})["rooms"].([]any)
	if len(rooms) != 1 || len(rooms[0].(m)["seats"].([]any)) != 1 || len(rooms[0].(m)["connections"].([]any)) != 1 ||
		len(rooms[0].(m)["events"].([]any)) != 1 {
		t.Errorf("export of a seat: got %v, want the seat, its connection and the event", rooms)
	}
	b.assertError("POST", path+"erase", m{"seat_id": seat}, 409, "person_connected",
		"the person is in the room "+created.ID+", or their page is reconnecting to it: end the room, remove the person, or "+
			"wait a minute")
	for _, call := range []string{"export", "erase"} {
		b.assertError("POST", path+call, m{}, 400, "invalid_request", "send either user_id or seat_id")
		b.assertError("POST", path+call, m{"seat_id": unknownID}, 404, "seat_not_found",
			noSeat)
	}
	b.assertError("POST", path+"export", m{"user_id": "user-7", "cursor": "x"}, 400, "invalid_request",
		"cursor must be the next_cursor of an earlier response")
}

// seatOf returns the only taken seat of a room.
func (b *fixture) seatOf(roomID string) string {
	b.t.Helper()
	seats, err := b.db.Seats(b.t.Context(), roomID)
	must(b.t, err)
	if len(seats) != 1 {
		b.t.Fatalf("got %d seats, want 1", len(seats))
	}
	return seats[0].ID
}

// testDeletion deletes a project and its organization.
func testDeletion(t *testing.T, b *fixture) {
	b.t = t
	o := b.mustCall("POST", "/organizations", m{"name": "Leaving", "billing": "plan"})
	organizationPath := "/organizations/" + o["organization_id"].(string)
	p := b.mustCall("POST", "/projects", m{"organization_id": o["organization_id"], "name": "Leaving"})
	id := p["project_id"].(string)
	path := "/projects/" + id
	quick, scheduled := b.createRoom(id), b.createScheduled(id)
	b.assertError("DELETE", organizationPath, nil, 409, "organization_has_projects",
		"the organization has projects (1): delete them first")
	b.assertError("DELETE", path, nil, 409, "project_not_suspended",
		"the project is not suspended: suspend it first, so that nobody uses it any more")
	b.mustCall("POST", path+"/suspend", nil)
	for range 2 {
		if deleted := b.mustCall("DELETE", path, nil); deleted["deleted_at"] == nil {
			t.Errorf("delete the project: got %v, want deleted_at", deleted)
		}
	}
	b.assertError("POST", path+"/resume", nil, 409, "project_deleted",
		"the project is being deleted: nobody can stop that, but an owner or an operator can create another project")
	for id, want := range map[string]string{quick: "ended", scheduled: "cancelled"} {
		if r := b.mustCall("GET", "/rooms/"+id, nil); r["state"] != want {
			t.Errorf("room %s of the deleted project: got %v, want %s", id, r["state"], want)
		}
	}
}

// testOrganizationDeletion deletes an organization without projects.
func testOrganizationDeletion(t *testing.T, b *fixture) {
	b.t = t
	o := b.mustCall("POST", "/organizations", m{"name": "Empty", "billing": "plan"})
	path := "/organizations/" + o["organization_id"].(string)
	if deleted := b.mustCall("DELETE", path, nil); deleted["name"] != "Empty" {
		t.Errorf("delete the organization: got %v, want it", deleted)
	}
	b.assertError("GET", path, nil, 404, "organization_not_found", noOrganization)
}

const testReadTimeout = time.Second // enough for a busy machine to send the request

// slowServices takes longer than the read timeout.
type slowServices struct {
	Retention
	Audit
}

func (slowServices) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2 * testReadTimeout):
		return nil
	}
}

func (s slowServices) Erase(ctx context.Context, _ retention.Person) (retention.Erased, error) {
	return retention.Erased{Compaction: retention.CompactionDone}, s.wait(ctx)
}

func (s slowServices) Verify(ctx context.Context) (audit.Report, error) {
	return audit.Report{}, s.wait(ctx)
}

// An erasure and the verification of the audit log may take longer than the read timeout of
// the server, which would otherwise cancel the request.
func TestLongRequests_LongerThanReadTimeout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	slow := slowServices{}
	server := httptest.NewUnstartedServer(withMiddleware(NewHandler(Services{Tokens: b.tokens, Rooms: b.rooms,
		Retention: slow, Audit: slow})))
	server.Config.ReadTimeout = testReadTimeout
	server.Start()
	defer server.Close()
	for path, body := range map[string]string{
		"POST /projects/" + unknownID + "/person-erase": `{"user_id":"user-7"}`,
		"GET /audit/verify":                             "",
	} {
		method, path, _ := strings.Cut(path, " ")
		r, err := http.NewRequest(method, server.URL+"/api/manage"+path, strings.NewReader(body))
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+b.token)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		response, err := http.DefaultClient.Do(r)
		must(t, err)
		raw, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s: got %d, %s, %v, want 200", path, response.StatusCode, raw, err)
		}
	}
}
