package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/api/manage"
	"parley/internal/cluster/clustertest"
	"parley/internal/config"
	"parley/internal/overview"
	"parley/internal/quickstart"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// Each of two nodes shows the findings of the other node, until the other node is lost. The findings of a single node
// name no node.
func TestOverview_FindingsOfOtherNodes(t *testing.T) {
	redis := clustertest.NewRedis(t)
	p := processConfig{DatabaseURL: storetest.Postgres(t), RedisURL: redis.URL(), MasterKey: seal.NewKey().Reveal()}
	var token string
	start := func() (node *process, address string) {
		t.Helper()
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = taken.Close() })
		p.DataDir, p.UDPPort, p.MetricsListen = t.TempDir(), testkit.FreeUDPPort(t), taken.Addr().String()
		node = startProcess(t, p)
		if token == "" {
			file, err := quickstart.Read(p.DataDir)
			if err != nil {
				t.Fatal(err)
			}
			token = file.AdminToken
		}
		return node, p.MetricsListen
	}
	read := func(at *process, path string, out any) {
		t.Helper()
		answer, raw := at.do(http.MethodGet, "/api/manage"+path, http.Header{"Authorization": {"Bearer " + token}}, nil)
		if err := json.Unmarshal(raw, out); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("read %s: got status %d %s, want 200", path, answer.StatusCode, raw)
		}
	}
	idOf := func(node *process) string {
		t.Helper()
		var list manage.NodeList
		read(node, "/nodes", &list)
		i := slices.IndexFunc(list.Nodes, func(n manage.Node) bool { return n.ThisNode })
		if i < 0 {
			t.Fatalf("got the nodes %+v, want one that responds", list.Nodes)
		}
		return list.Nodes[i].Node
	}
	// portFinding returns the finding about an address that a node cannot open.
	portFinding := func(at *process, address string) *manage.Finding {
		t.Helper()
		var o manage.Overview
		read(at, "/overview", &o)
		for _, f := range o.Findings {
			if f.Id == "port" && strings.Contains(f.Text, address) {
				return &f
			}
		}
		return nil
	}

	a, addressOfA := start()
	if found := portFinding(a, addressOfA); found == nil || found.Nodes != nil || found.ThisNode != nil {
		t.Errorf("the only node: got the finding %+v, want one that names no node", found)
	}
	b, addressOfB := start()
	ids := map[*process]string{a: idOf(a), b: idOf(b)}
	for _, c := range []struct {
		of, at  *process
		address string
	}{{a, a, addressOfA}, {a, b, addressOfA}, {b, a, addressOfB}, {b, b, addressOfB}} {
		testkit.Eventually(t, "a node shows the finding with the node that it concerns", func() bool {
			found := portFinding(c.at, c.address)
			return found != nil && found.Nodes != nil && slices.Equal(*found.Nodes, []string{ids[c.of]}) &&
				found.ThisNode != nil && *found.ThisNode == (c.at == c.of)
		})
	}

	b.kill()
	testkit.Eventually(t, "the findings of the lost node are gone, and the last node names none", func() bool {
		found := portFinding(a, addressOfA)
		return portFinding(a, addressOfB) == nil && found != nil && found.Nodes == nil
	})
}

// finding returns a finding of the overview of the service, or nil.
func (s *server) finding(id string) *overview.Finding {
	s.t.Helper()
	o, err := s.app.newOverview(time.Now).All(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if i := slices.IndexFunc(o.Findings, func(f overview.Finding) bool { return f.ID == id }); i >= 0 {
		return &o.Findings[i]
	}
	return nil
}

// awaitFinding waits for a finding with a level and a text, which it returns.
func (s *server) awaitFinding(id string, level overview.Level, text string) (found *overview.Finding) {
	s.t.Helper()
	testkit.Eventually(s.t, fmt.Sprintf("the finding %s, %s, with %q", id, level, text), func() bool {
		found = s.finding(id)
		return found != nil && found.Level == level && strings.Contains(found.Text, text) && found.Action != ""
	})
	return found
}

// awaitGone waits until findings are gone.
func (s *server) awaitGone(ids ...string) {
	s.t.Helper()
	testkit.Eventually(s.t, fmt.Sprintf("the findings %v are gone", ids), func() bool {
		return !slices.ContainsFunc(ids, func(id string) bool { return s.finding(id) != nil })
	})
}

// A problem of another node or of Redis is a finding until the problem is solved. The test plays the other node: it
// only writes heartbeats, with another version and a wrong clock.
func TestOverview_NodeFindings(t *testing.T) {
	testkit.Slow(t)
	redis := clustertest.NewRedis(t)
	s := startServer(t, func(c *config.Config) {
		c.DatabaseURL, c.RedisURL = seal.Secret(storetest.Postgres(t)), seal.Secret(redis.URL())
	})
	nodes, err := s.app.rooms.NodeStatuses(t.Context())
	if err != nil || len(nodes) != 1 {
		t.Fatalf("got the nodes %+v, %v, want this one", nodes, err)
	}
	version := nodes[0].Version
	// writeHeartbeats writes heartbeats of the other node until the function that it returns is called.
	writeHeartbeats := func(version string, ahead time.Duration) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var work sync.WaitGroup
		work.Go(func() {
			for ctx.Err() == nil {
				now := time.Now().Truncate(time.Millisecond)
				n := room.Node{
					ID:        "other",
					Version:   version,
					StartedAt: now,
					LastAlive: now.Add(ahead),
					Redis:     room.RedisOK,
				}
				err := s.app.db.Write(ctx, func(ctx context.Context) error { return s.app.db.RecordHeartbeat(ctx, n) })
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				select {
				case <-ctx.Done():
				case <-time.After(500 * time.Millisecond):
				}
			}
		})
		return func() {
			cancel()
			work.Wait()
		}
	}

	stop := writeHeartbeats("0.0.0-older", -10*time.Second)
	s.awaitFinding("versions_differ", overview.Note, "0.0.0-older")
	s.awaitFinding("clock_offset", overview.Warning, "The clock of the node other differs by about 1")
	stop()
	stop = writeHeartbeats(version, 0)
	s.awaitGone("versions_differ", "clock_offset")
	stop()
	s.awaitFinding("node_lost", overview.Warning, "The node other was last seen at ")
	stop = writeHeartbeats(version, 0)
	s.awaitGone("node_lost")
	stop()

	redis.Kill()
	s.awaitFinding("redis_unavailable", overview.Error, "does not reach Redis")
	redis.Start()
	s.awaitGone("redis_unavailable")
}

// A media engine that does not run is a finding until the node was restarted.
func TestOverview_MediaUnavailable(t *testing.T) {
	s := startServer(t, nil)
	s.awaitGone("media_unavailable")
	s.app.engine.Stop(t.Context())
	found := s.awaitFinding("media_unavailable", overview.Error, "does not work: media: the engine is not running.")
	if !strings.HasPrefix(found.Action, "Restart the node") {
		t.Errorf("got the action %q, want a restart", found.Action)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	startServer(t, func(c *config.Config) { c.DataDir = s.cfg.DataDir }).awaitGone("media_unavailable")
}
