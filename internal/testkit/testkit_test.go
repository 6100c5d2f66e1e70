package testkit_test

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"parley/internal/testkit"
)

func TestFreePorts_CanBeBound(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", testkit.FreeUDPPort(t)))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

func TestBuffer_ConcurrentWrites(t *testing.T) {
	t.Parallel()
	var b testkit.Buffer
	var writers sync.WaitGroup
	for range 10 {
		writers.Go(func() { _, _ = fmt.Fprintln(&b, "kind=test n=1") })
	}
	writers.Wait()
	if got, want := b.Len(), 10*len("kind=test n=1\n"); got != want {
		t.Errorf("got %d bytes, want %d", got, want)
	}
	if got := b.Tail(4); got != "n=1\n" {
		t.Errorf("got tail %q, want %q", got, "n=1\n")
	}
	if !b.HasLine("n=1", "kind=test") || b.HasLine("kind=test", "n=2") {
		t.Error("HasLine must find lines that contain all parts, and no others")
	}
}

func TestEventually_PollsUntilTrue(t *testing.T) {
	t.Parallel()
	calls := 0
	testkit.Eventually(t, "the third call", func() bool { calls++; return calls == 3 })
	if calls != 3 {
		t.Errorf("got %d calls, want 3", calls)
	}
}
