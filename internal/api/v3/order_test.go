package v3

import (
	"testing"
	"time"

	"parley/internal/api/legacy"
	. "parley/internal/api/legacy/legacytest"
)

// TestOrderOfChecks mends a request fault by fault.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	busy := &Busy{}
	b, handler := setup(t, Options{Limits: legacy.Limits{Rate: busy}})
	fields := `"start_at":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `","max_participants":2,"empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""}`
	for _, route := range []string{scheduleVideo, scheduleAudio} {
		b.Project, b.Issued = b.Another(t)
		NewFaulty(t, b, handler, busy, route, fields).Mended(t, Creation(t, b, route, fields))
	}
}
