package v4

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/internal/api/roomapi"
	. "parley/internal/api/roomapi/roomstest"
	"parley/internal/project"
)

// FuzzOperations sends rightly signed bodies of any content to each route:
// none may be a 500, and each refusal must say something.
func FuzzOperations(f *testing.F) {
	b, handler := setup(f, roomapi.Options{})
	routes := signedRoutes(f, b)
	for i, op := range routes {
		f.Add(byte(i), EncodeJSON(f, op.fields()))
		for _, tc := range op.errorCases {
			f.Add(byte(i), tc.BuildBody(f, b, op.fields()))
		}
	}
	f.Fuzz(func(t *testing.T, route byte, body []byte) {
		op := routes[int(route)%len(routes)]
		CheckFuzzedBody(t, handler, b, op.method, op.target, b.Issued.ProjectSecret, body)
		Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Active)) // the body may have switched it off
	})
}

// FuzzEventsQuery reads a room's events with any query: what is not refused in
// a sentence is answered.
func FuzzEventsQuery(f *testing.F) {
	b, handler := setup(f, roomapi.Options{})
	path := "/api/v4/rooms/" + scheduleRoom(f, b) + "/events"
	for _, seed := range []string{"", "after=0", "after=1&limit=1", "after=-1", "after=%31", "after=9007199254740992",
		"limit=0", "limit=101&after=007", "after=1&after=2", "%61fter=1;limit=2", "after=%zz", "&=&"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if strings.ContainsFunc(query, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
			return // stands in no request line
		}
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.URL.RawQuery, r.RequestURI = query, path+"?"+query
		r.Header = V5SignedHeaders(b.Issued, http.MethodGet, r.RequestURI, "", nil)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		switch w.Code {
		case http.StatusOK:
			if out := DecodeFields(t, w.Result()); len(out) != 3 || out["events"] == nil {
				t.Fatalf("query %q: got %v, want three fields with events", query, out)
			}
		case http.StatusBadRequest:
			if len(ErrorMessage(t, w.Result())) < 10 {
				t.Fatalf("query %q: got body %s, want an error message of at least 10 bytes", query, w.Body)
			}
		default:
			t.Fatalf("query %q: got status %d, body %s, want 200 or 400", query, w.Code, w.Body)
		}
	})
}
