package cluster

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/internal/cluster/clustertest"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// balancerInterval is the time between two health checks of the balancer, as of Kubernetes with deploy/kubernetes.
const balancerInterval = 2 * time.Second

// watch removes a node as soon as a health check finds it unhealthy. It returns then, or when ctx ends.
func (b *balancer) watch(ctx context.Context, n *node) {
	tick := time.NewTicker(balancerInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if n.health()["status"] != "ok" {
				b.remove(n)
				return
			}
		}
	}
}

// A node with many meetings gets SIGTERM and nothing else. It goes on to serve while it hands over its meetings, and
// stops then. Everybody stays in their meeting, with one interruption.
func TestNode_StoppedWithMeetings(t *testing.T) { // alone, because it needs both processors
	const rooms, people = 10, 2
	s := &service{database: storetest.Postgres(t), redis: clustertest.NewRedis(t).URL(), master: seal.NewKey()}
	stopped := s.startNode(t)
	b := &balancer{nodes: []*node{stopped}}
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	defer working.Wait()
	defer cancel()
	meetings := startMeetings(ctx, t, &working, b, rooms, people) // all on the first node, as it is the only one
	moves := map[string]int{}
	for _, meeting := range meetings {
		moves[meeting[0].roomID] = 1
	}
	other := s.startNode(t)
	b.add(other)
	working.Go(func() { b.watch(ctx, stopped) })
	assertAllHeard(t, meetings)
	raw := storetest.Database{URL: s.database}.Raw(t)
	stoppedID, otherID := stopped.logField("node"), other.logField("node")
	for id, host := range hostsOf(t, raw, meetings) {
		if host != stoppedID {
			t.Fatalf("the room %s: got the host %s, want the node that stops", id, host)
		}
	}
	for _, meeting := range meetings {
		for i, p := range meeting {
			others := slices.Concat(meeting[:i], meeting[i+1:])
			working.Go(func() { p.listen(ctx, others) })
		}
	}
	stopWatching := watchHosts(t, s.redis)

	stopped.Signal(syscall.SIGTERM)
	began := time.Now()
	testkit.Eventually(t, "/healthz says that the node stops", func() bool {
		return stopped.health()["status"] == "stopping"
	})
	if _, _, err := stopped.createRoom(people, 3600); err != nil {
		t.Errorf("create a room through the node that stops: got %v, want no error", err)
	}
	if err := stopped.Wait(); err != nil {
		t.Errorf("stop the node: got %v, want no error\n%s", err, stopped.Log)
	}
	t.Logf("the node stopped after %s", time.Since(began).Round(time.Millisecond))
	stopWatching()
	assertAllHeard(t, meetings)
	for id, host := range hostsOf(t, raw, meetings) {
		if host != otherID {
			t.Errorf("the room %s: got the host %s, want the other node", id, host)
		}
	}
	assertInterruptions(t, s.openDatabase(t, t.TempDir()), meetings, moves)
	measureGaps(t, meetings)
	if handedOver := strings.Count(stopped.Log.String(), "handing over a session"); handedOver != rooms ||
		stopped.Log.HasLine("level=ERROR") || stopped.Log.HasLine("meetings are left") {
		t.Errorf("got %d sessions that were handed over, and the log\n%s\nwant %d and no error", handedOver, stopped.Log,
			rooms)
	}
}

// A second signal ends a server that is stopping, with its service process.
func TestServer_SecondSignal(t *testing.T) {
	t.Parallel()
	for _, second := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(second.String(), func(t *testing.T) {
			t.Parallel()
			n := (&service{master: seal.NewKey()}).startNode(t)
			child := n.child()
			n.delayStop()
			n.Signal(syscall.SIGTERM)
			testkit.Eventually(t, "the server stops", func() bool { return n.Log.HasLine("msg=\"stopping") })
			n.Signal(second)
			var ended *exec.ExitError
			if err := n.Wait(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != second ||
				n.Log.HasLine("msg=stopped") {
				t.Errorf("got %v, and the log\n%s\nwant that %s ended the server", err, n.Log, second)
			}
			testkit.Eventually(t, "the service process ends", func() bool { return !isRunning(child) })
		})
	}
}
