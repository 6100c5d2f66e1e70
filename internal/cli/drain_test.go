package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"parley/internal/api/manage"
	"parley/internal/testkit"
)

// TestDrain_NowAsJSON drains a node of a fake server, because a single real one refuses a drain.
func TestDrain_NowAsJSON(t *testing.T) {
	t.Parallel()
	node := manage.Node{Node: "n1", State: manage.NodeStateDraining, ThisNode: true}
	var within atomic.Pointer[int]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = manage.NodeList{Nodes: []manage.Node{node}}
		if r.Method == http.MethodPost {
			var body manage.DrainNode
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/api/manage/nodes/n1/drain" {
				t.Errorf("%s: got the body error %v, want a drain of n1", r.URL.Path, err)
			}
			within.Store(body.Within)
			answer = node
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	var out, errs testkit.Buffer
	status := Main(context.Background(), []string{"drain", "--now", "--json", "--url", server.URL, "--token", "x"}, nil,
		&out, &errs)
	if got := within.Load(); status != exitOK || got == nil || *got != 0 {
		t.Fatalf("got the exit status %d and within %v, want 0 and 0: %s", status, got, errs.String())
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got["node"] != "n1" || got["phase"] != "drained" || got["sessions_left"] != 0.0 || got["state"] != "draining" {
		t.Errorf("got %s, want node n1, phase drained, sessions_left 0 and state draining", out.String())
	}
}
