package app

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/internal/api/manage"
	"parley/internal/cluster/clustertest"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// Each of two nodes shows what is wrong with the other one, until that is lost. A single node names no node.
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
