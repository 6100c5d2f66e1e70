package hostile

import (
	"context"
	"math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"parley/internal/media/mediatest"
	"parley/internal/room"
)

// TestFuzz attacks an audio and a video room at the same time with random and
// mutated packets and signal requests, while two honest participants are in
// each. SOAK_DURATION is how long, ten seconds if it is not set; SOAK_SEED
// repeats a run.
func TestFuzz(t *testing.T) {
	duration, soak := 10*time.Second, os.Getenv("SOAK_DURATION")
	if soak != "" {
		var err error
		if duration, err = time.ParseDuration(soak); err != nil {
			t.Fatal(err)
		}
	}
	seed := rand.Uint64()
	if text := os.Getenv("SOAK_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	p := startServer(t)
	var fuzzers []*mediatest.Fuzzer
	var witnesses []*witness
	for i, kind := range []room.Type{room.Audio, room.Video} {
		m := p.createRoom(kind, 1000)
		witnesses = append(witnesses, m.startWitness())
		fuzzers = append(fuzzers, &mediatest.Fuzzer{BaseURL: p.url, Type: kind, Seed: seed + uint64(i),
			RequestsPerSecond: 40, PacketsPerSecond: 1500,
			Token: func(context.Context) (string, error) {
				s, err := m.takeSeat("Guest", "")
				return s.Token, err
			}})
	}
	p.warmUp(t, witnesses[0].meeting)
	before := p.heap()

	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var attacks sync.WaitGroup
	for _, f := range fuzzers {
		for _, attack := range []func(context.Context) error{f.Media, f.SCTP, f.Signaling, f.Signaling} {
			attacks.Go(func() {
				if err := attack(ctx); err != nil {
					t.Error(err)
					cancel()
				}
			})
		}
	}
	attacks.Wait()
	var packets, requests int64
	for _, f := range fuzzers {
		t.Log(f)
		packets, requests = packets+f.Packets.Load(), requests+f.Requests.Load()
	}
	p.assertAlive(t)
	for _, w := range witnesses {
		w.assertHeard(t)
	}
	if packets == 0 || requests == 0 {
		t.Errorf("sent %d packets and %d requests", packets, requests)
	}
	if soak == "" {
		return
	}
	if hours := duration.Hours(); float64(packets) < 1e6*hours || float64(requests) < 1e5*hours {
		t.Errorf("sent %d packets and %d requests in %s, want 1,000,000 and 100,000 an hour", packets, requests, duration)
	}
	after := p.awaitHeap(6*time.Minute, before*1.2)
	t.Logf("%d packets, %d requests in %s, no panic; heap %.1f MB before and %.1f MB afterwards",
		packets, requests, duration, before/megabyte, after/megabyte)
	if after > before*1.2 {
		t.Errorf("the heap has grown by %.0f %%", 100*(after/before-1))
	}
}

// warmUp has somebody connect as a browser does: LiveKit then compiles, once,
// what it recognizes browsers by, and keeps some 17 MB of it.
func (p *server) warmUp(t *testing.T, m *meeting) {
	t.Helper()
	browser := m.dial(m.newGuestSeat("Browser"), mediatest.RawOptions{Query: url.Values{"sdk": {"js"}}})
	if err := browser.AwaitConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	browser.Leave()
}

// awaitHeap returns the heap as soon as it is at most as large as wanted, or
// after the patience, because the server keeps participants that vanished for
// a while.
func (p *server) awaitHeap(patience time.Duration, most float64) float64 {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Second) {
		heap := p.heap()
		p.t.Logf("heap %.1f MB, %g goroutines", heap/megabyte, p.metric("go_goroutines"))
		if heap <= most || time.Now().After(deadline) {
			return heap
		}
	}
}

// witness is two honest participants of a room.
type witness struct {
	meeting           *meeting
	speaker, listener *mediatest.Participant
	identity          string
}

func (m *meeting) startWitness() *witness {
	m.t.Helper()
	_, host := m.joinAsHost()
	s := m.newGuestSeat("Witness")
	speaks, err := mediatest.Join(m.t.Context(), m.url, s.Token)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(speaks.Abort)
	if err := speaks.Publish(m.t.Context(), "mic", mediatest.Microphone); err != nil {
		m.t.Fatal(err)
	}
	w := &witness{meeting: m, speaker: speaks, listener: host, identity: s.Identity}
	w.assertHeard(m.t)
	return w
}

func (w *witness) assertHeard(t testing.TB) {
	t.Helper()
	if err := w.listener.AwaitPacketsFrom(t.Context(), w.identity, mediatest.Microphone); err != nil {
		t.Error(err)
	}
}
