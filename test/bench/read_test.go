package main

import (
	"testing"

	"parley/internal/requestlog"
	"parley/test/bench/measure"
)

// The records of the last calls of a slice are stored within its pause, so that the slice has their cost.
func TestPauseAfterSlice_LongerThanFlushInterval(t *testing.T) {
	if measure.PauseAfterSlice <= requestlog.FlushInterval {
		t.Errorf("got a pause of %s after a slice, want more than the %s after which calls are stored",
			measure.PauseAfterSlice, requestlog.FlushInterval)
	}
}
