package v3

import (
	"testing"
	"time"

	"parley/internal/api/roomapi"
	. "parley/internal/api/roomapi/roomstest"
)

// TestCreateRoutes_OrderOfChecks mends a request fault by fault.
func TestCreateRoutes_OrderOfChecks(t *testing.T) {
	t.Parallel()
	busy := &StubLimiter{}
	b, handler := setup(t, Options{Options: roomapi.Options{Limits: roomapi.Limits{Writes: busy}}})
	fields := `"start_at":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) +
		`","max_participants":2,"empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""}`
	for _, route := range []string{scheduleVideo, scheduleAudio} {
		b.Project, b.Issued = b.CreateProject(t)
		NewFaultyRequest(t, b, handler, busy, route, fields).AssertErrorOrder(t, CreateErrors(t, b, route, fields))
	}
}

// TestOperations_Served is what the compiler cannot check: routes are a table.
func TestOperations_Served(t *testing.T) {
	t.Parallel()
	_, handler := setup(t, Options{})
	AssertOperationsServed(t, Description(t), handler)
}
