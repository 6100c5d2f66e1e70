package v4

import (
	"net/http"
	"strings"
	"testing"

	"parley/internal/api/contract"
	. "parley/internal/api/legacy/legacytest"
	"parley/internal/project"
)

func statusRefusals() []Refusal {
	return append(append(Unsigned(), WrongBodies()...),
		Refusal{Name: "bad fields after a bad signature stay unsaid", Body: Raw(`{`), Status: 401, Sentence: "invalid signature",
			Header: func(_ *Bundle, h http.Header, _ []byte) { h.Set("hash-signature", "AAAA") }},
		Whole("empty body", ``, "the body ends before its JSON does"),
		Whole("an array", `[]`, "the body must be a JSON object"),
		Whole("a field twice", `{"status":"active","status":"inactive"}`, "the body has a field twice: status"),
		Field("status missing", Drop("status"), "status is required"),
		Field("status null", Set("status", nil), "status is required"),
		Field("status a number", Set("status", 1), "status must be a string"),
		Field("status empty", Set("status", ""), `status must be "active" or "inactive"`),
		Field("status unknown", Set("status", "suspended"), `status must be "active" or "inactive"`),
		Field("status in capitals", Set("status", "ACTIVE"), `status must be "active" or "inactive"`),
	)
}

func TestUpdateProjectStatus(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, Options{})
	c := contract.New(t, Description(t), handler)
	put := func(query, body string) *http.Response {
		return c.Do(t, http.MethodPut, status+query, Signed(b.Issued.APIKey, []byte(body)), []byte(body))
	}
	own := "?project_id=" + b.Project.ID
	for _, tc := range []struct{ query, status string }{{own, "inactive"}, {own, "inactive"}, {"?project_id=" + strings.ToUpper(b.Project.ID), "active"}} {
		answer := put(tc.query, `{"status":"`+tc.status+`"}`)
		out := Fields(t, answer)
		if answer.StatusCode != 200 || len(out) != 2 || out["status"] != tc.status || out["message"] != "the project is now "+tc.status {
			t.Errorf("%d %v", answer.StatusCode, out)
		}
		p, err := b.Projects.Get(t.Context(), b.Project.ID)
		Must(t, err)
		if p.Status != project.Status(tc.status) {
			t.Errorf("stored: %s", p.Status)
		}
	}
}

// queriesOfNobody are status updates of no project at all.
func queriesOfNobody(t *testing.T, c *contract.Checker, b *Bundle) {
	body := []byte(`{"status":"active"}`)
	put := func(query string) *http.Response {
		return c.Do(t, http.MethodPut, status+query, Signed(b.Issued.APIKey, body), body)
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
		Says(t, put(query), 400, want)
	}
	Says(t, put("?project_id=01890000-0000-7000-8000-000000000000"), 401, "invalid signature")
	// What is wrong with the body as a whole comes before the query.
	Says(t, c.Do(t, http.MethodPut, status, http.Header{"Content-Type": {"text/plain"}}, nil), 415, "the header Content-Type must be application/json (UTF-8)")
}
