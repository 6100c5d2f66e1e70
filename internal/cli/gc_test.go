package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"parley/internal/testkit"
)

// The collector allows 32 MB of garbage, but never less than the live objects take, nor more than twice as much.
func TestGCPercent(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for live, want := range map[uint64]int{0: 200, 4 * mb: 200, 16 * mb: 200, 20 * mb: 160, 32 * mb: 100, 500 * mb: 100} {
		if got := gcPercent(live); got != want {
			t.Errorf("%d MB: got %d %%, want %d", live/mb, got, want)
		}
	}
}

// The collector follows the heap as it grows and shrinks.
func TestTuneGC(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	tuneGC()
	percent := func() uint64 {
		runtime.GC()
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	large := make([]byte, 200<<20)
	testkit.Eventually(t, "a large heap gets 100 %", func() bool { return percent() == minGCPercent })
	runtime.KeepAlive(large)
	large = nil
	testkit.Eventually(t, "a small heap gets more", func() bool { return percent() > minGCPercent })
}
