package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// maxGCPercent is how much garbage may be next to a small heap, in percent of the heap. Requests produce
	// short-lived garbage, so collecting half as often as usual saves time and needs little memory.
	maxGCPercent = 200
	// minGCPercent is the same next to a large heap, as Go has it: people in meetings need much memory.
	minGCPercent = 100
	// gcPercentStep is the smallest change.
	gcPercentStep = 10
	// smallHeapGarbage is the garbage next to a heap between the two, in bytes.
	smallHeapGarbage = 32 << 20
)

// gcPercent returns how much garbage may be next to a heap of live objects of a size in bytes.
func gcPercent(live uint64) int {
	percent := maxGCPercent
	if live > 0 {
		percent = int(min(smallHeapGarbage*100/live, maxGCPercent))
	}
	return max(percent/gcPercentStep*gcPercentStep, minGCPercent)
}

// gcTuner is garbage in every cycle of the collector, so that its finalizer runs after each.
type gcTuner struct {
	live    []metrics.Sample // the size of the live objects
	percent int
}

// tuneGC adapts the garbage collector to the heap from now on.
func tuneGC() {
	t := &gcTuner{live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}, percent: maxGCPercent}
	debug.SetGCPercent(t.percent)
	runtime.SetFinalizer(t, (*gcTuner).adapt)
}

func (t *gcTuner) adapt() {
	metrics.Read(t.live)
	if percent := gcPercent(t.live[0].Value.Uint64()); percent != t.percent {
		t.percent = percent
		debug.SetGCPercent(percent)
	}
	runtime.SetFinalizer(t, (*gcTuner).adapt)
}
