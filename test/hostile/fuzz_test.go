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

// TestFuzz attacks an audio and a video room concurrently with random and mutated packets
// and signal requests, while two honest participants are in each room. SOAK_DURATION sets
// the duration, which is ten seconds by default. SOAK_SEED repeats a run.
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
		fuzzers = append(fuzzers, &mediatest.Fuzzer{
			BaseURL:           p.URL,
			Type:              kind,
			Seed:              seed + uint64(i),
			RequestsPerSecond: 40,
			PacketsPerSecond:  1500,
			Token: func(context.Context) (string, error) {
				s, err := m.reserveSeat("Guest", "")
				return s.Token, err
			},
		})
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
					t.Errorf("attack: got error %v, want none", err)
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
		t.Errorf("sent %d packets and %d requests, want more than 0 of each", packets, requests)
	}
	if soak == "" {
		return
	}
	if hours := duration.Hours(); float64(packets) < 1e6*hours || float64(requests) < 1e5*hours {
		t.Errorf("sent %d packets and %d requests in %s, want 1,000,000 and 100,000 per hour",
			packets, requests, duration)
	}
	after := p.awaitHeap(6*time.Minute, before*1.2)
	t.Logf("%d packets, %d requests in %s, no panic; heap %.1f MB before and %.1f MB afterwards",
		packets, requests, duration, before/megabyte, after/megabyte)
	if after > before*1.2 {
		t.Errorf("the heap has grown by %.0f %%, want at most 20 %%", 100*(after/before-1))
	}
}

// warmUp connects a participant as a browser does, because at the first browser LiveKit
// compiles the patterns that recognize browsers and keeps about 17 MB of them.
func (p *server) warmUp(t *testing.T, m *meeting) {
	t.Helper()
	browser := m.dial(m.newGuestSeat("Browser"), mediatest.RawOptions{Query: url.Values{"sdk": {"js"}}})
	if err := browser.AwaitConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	browser.Leave()
}

// awaitHeap returns the size of the heap as soon as it is at most limit, or after the
// timeout. It waits because the server keeps lost participants for a while, and polls rarely
// because each reading of the heap waits for two garbage collections.
func (p *server) awaitHeap(timeout time.Duration, limit float64) float64 {
	for deadline := time.Now().Add(timeout); ; time.Sleep(5 * time.Second) {
		heap := p.heap()
		p.t.Logf("heap %.1f MB, %g goroutines", heap/megabyte, p.metric("go_goroutines"))
		if heap <= limit || time.Now().After(deadline) {
			return heap
		}
	}
}

// witness consists of two honest participants of a room.
type witness struct {
	meeting           *meeting
	speaker, listener *mediatest.Participant
	identity          string
}

func (m *meeting) startWitness() *witness {
	m.t.Helper()
	_, host := m.joinAsHost()
	s := m.newGuestSeat("Witness")
	speaker, err := mediatest.Join(m.t.Context(), m.URL, s.Token)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(speaker.Abort)
	if err := speaker.Publish(m.t.Context(), "mic", mediatest.Microphone); err != nil {
		m.t.Fatal(err)
	}
	w := &witness{meeting: m, speaker: speaker, listener: host, identity: s.Identity}
	w.assertHeard(m.t)
	return w
}

// assertHeard checks that packets of the speaker arrive at the listener.
func (w *witness) assertHeard(t testing.TB) {
	t.Helper()
	if err := w.listener.AwaitPacketsFrom(t.Context(), w.identity, mediatest.Microphone); err != nil {
		t.Errorf("packets of the honest participant %s: got error %v, want packets", w.identity, err)
	}
}
