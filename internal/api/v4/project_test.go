package v4

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/internal/api/apitest"
	"parley/internal/api/roomapi"
	. "parley/internal/api/roomapi/roomstest"
	"parley/internal/project"
)

func statusCases() []ErrorCase {
	return append(slices.Concat(SignatureCases(), TransportCases(), BodyCases()),
		BodyCase("a field twice", `{"status":"active","status":"inactive"}`, "the body has a field twice: status"),
		FieldCase("status missing", RemoveField("status"), "status is required"),
		FieldCase("status null", SetField("status", nil), "status is required"),
		FieldCase("status a number", SetField("status", 1), "status must be a string"),
		FieldCase("status empty", SetField("status", ""), `status must be "active" or "inactive"`),
		FieldCase("status unknown", SetField("status", "suspended"), `status must be "active" or "inactive"`),
		FieldCase("status in capitals", SetField("status", "ACTIVE"), `status must be "active" or "inactive"`),
	)
}

func TestUpdateProjectStatus_StoresStatus(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, roomapi.Options{})
	c := apitest.New(t, Description(t), handler)
	put := func(query, body string) *http.Response {
		return c.Do(t, http.MethodPut, updateStatusPath+query, SignedHeaders(b.Issued.APIKey, []byte(body)), []byte(body))
	}
	own := "?project_id=" + b.Project.ID
	for _, tc := range []struct{ query, status string }{{own, "inactive"}, {own, "inactive"},
		{"?project_id=" + strings.ToUpper(b.Project.ID), "active"}} {
		answer := put(tc.query, `{"status":"`+tc.status+`"}`)
		out := DecodeFields(t, answer)
		if answer.StatusCode != 200 || len(out) != 2 || out["status"] != tc.status ||
			out["message"] != "the project is now "+tc.status {
			t.Errorf("got %d %v, want 200 and the status %s", answer.StatusCode, out, tc.status)
		}
		p, err := b.Projects.Get(t.Context(), b.Project.ID)
		Must(t, err)
		if p.Status != project.Status(tc.status) {
			t.Errorf("stored status: got %s, want %s", p.Status, tc.status)
		}
	}
}

// checkInvalidProjectIDs are status updates of no project at all.
func checkInvalidProjectIDs(t *testing.T, c *apitest.Checker, b *Fixture) {
	body := []byte(`{"status":"active"}`)
	put := func(query string) *http.Response {
		return c.Do(t, http.MethodPut, updateStatusPath+query, SignedHeaders(b.Issued.APIKey, body), body)
	}
	for query, want := range map[string]string{
		"":                 "project_id is required in the query",
		"?project_id=":     "project_id in the query must be one UUID",
		"?project_id=mine": "project_id in the query must be one UUID",
		"?project_id=" + b.Project.ID + "&project_id=" + b.Project.ID: "project_id in the query must be one UUID",
		"?project_id={" + b.Project.ID + "}":                          "project_id in the query must be one UUID",
		"?project_id=urn:uuid:" + b.Project.ID:                        "project_id in the query must be one UUID",
		"?project_id=" + strings.ReplaceAll(b.Project.ID, "-", ""):    "project_id in the query must be one UUID",
		"?project_id=" + b.Project.ID + "&project_id=mine":            "project_id in the query must be one UUID",
	} {
		AssertError(t, put(query), 400, want)
	}
	AssertError(t, put("?project_id=01890000-0000-7000-8000-000000000000"), 401, "invalid signature")
	// What is wrong with the body as a whole comes before the query.
	AssertError(t, c.Do(t, http.MethodPut, updateStatusPath, http.Header{"Content-Type": {"text/plain"}}, nil), 415,
		"the header Content-Type must be application/json (UTF-8)")
}
