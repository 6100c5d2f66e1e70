package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

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

// The command does not offer to cancel the drain of a node that was asked to stop, which the server refuses.
func TestDrain_OfStoppingNode(t *testing.T) {
	t.Parallel()
	by := manage.Time{Time: time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)}
	for next, drainBy := range map[string]*manage.Time{
		"Stop it, or let it host again: parley drain n1 --cancel": &by,
		"The node is stopping, so its drain cannot be canceled.":  nil,
	} {
		want := "Nobody is in a meeting on the node n1 or relayed by it. " + next + "\n"
		node := manage.Node{Node: "n1", State: manage.NodeStateDraining, ThisNode: true, DrainBy: drainBy}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var answer any = manage.NodeList{Nodes: []manage.Node{node}}
			if r.Method == http.MethodPost {
				answer = node
			}
			if err := json.NewEncoder(w).Encode(answer); err != nil {
				t.Error(err)
			}
		}))
		t.Cleanup(server.Close)
		var out, errs testkit.Buffer
		status := Main(t.Context(), []string{"drain", "--url", server.URL, "--token", "x"}, nil, &out, &errs)
		if status != exitOK || out.String() != want {
			t.Errorf("drain until %v: got the exit status %d and %q, want 0 and %q: %s", drainBy, status, out.String(), want,
				errs.String())
		}
	}
}
