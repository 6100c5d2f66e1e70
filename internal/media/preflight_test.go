package media_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/media/mediatest"
	"parley/internal/room"
)

// Who checks their connection reaches the engine, and is nobody: not to others
// who check, and not to those who hear of everybody.
func TestPreflight_IsolatedFromOthers(t *testing.T) {
	h := newFixture(t)
	check := func() *mediatest.Participant {
		t.Helper()
		token, err := h.engine.PreflightToken(t.Context(), "192.0.2.1/32")
		if err != nil {
			t.Fatal(err)
		}
		return connect(t, h.url, token)
	}
	one, other := check(), check()
	if one.Identity() == other.Identity() {
		t.Fatal("both are the same")
	}
	if len(one.RemoteParticipants())+len(other.RemoteParticipants()) > 0 {
		t.Errorf("they see %v and %v", one.RemoteParticipants(), other.RemoteParticipants())
	}
	one.Leave()
	other.Leave()

	// After them somebody real, so that all before has been told.
	h.openSession(t, "r.1", "audio")
	ada := h.join(t, "r.1", "ada", "audio")
	ada.Leave()
	h.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "ada", ada.SID(), room.LeftByChoice})
}

// One network has a share of the places, and all together have a bound.
func TestPreflight_Bounds(t *testing.T) {
	h := newFixture(t)
	refused := func(network string, kind fault.Kind, message string) {
		t.Helper()
		_, err := h.engine.PreflightToken(t.Context(), network)
		if f := fault.From(err); err == nil || f.Kind != kind || f.Code != "check_busy" || f.Message != message || f.RetryAfter <= 0 || f.RetryAfter > 21*time.Second {
			t.Errorf("%s: got %v (%+v), want %q", network, err, f, message)
		}
	}
	for n := range 64 {
		network := fmt.Sprintf("192.0.2.%d/32", n/8)
		token, err := h.engine.PreflightToken(t.Context(), network)
		if err != nil {
			t.Fatalf("number %d: %v", n+1, err)
		}
		if n%8 == 7 {
			refused(network, fault.Exhausted, "too many connections are being checked from your network, try again in a moment")
			p, err := mediatest.Join(t.Context(), h.url, token)
			if err != nil {
				t.Fatalf("number %d: %v", n+1, err)
			}
			t.Cleanup(p.Abort)
		}
	}
	refused("198.51.100.7/32", fault.Unavailable, "too many connections are being checked, try again in a moment")
	if status := h.getStatus(t, "/rtc/validate", h.accessToken(t, "check", "ada.1", "video")); status != http.StatusUnauthorized {
		t.Errorf("a check that is over: %d", status)
	}
}

// A place is free again when its token has ended.
func TestPreflight_ReleasedAtExpiry(t *testing.T) {
	h := newFixture(t)
	h.engine.SetPreflightDuration(50 * time.Millisecond)
	for n := range 8 {
		if _, err := h.engine.PreflightToken(t.Context(), "192.0.2.1/32"); err != nil {
			t.Fatalf("number %d: %v", n+1, err)
		}
	}
	_, err := h.engine.PreflightToken(t.Context(), "192.0.2.1/32")
	time.Sleep(fault.From(err).RetryAfter)
	if _, err := h.engine.PreflightToken(t.Context(), "192.0.2.1/32"); err != nil {
		t.Errorf("after the time that was named: %v", err)
	}
}

// Who stays is taken out, and does not come back with the same token.
func TestPreflight_RemovedAtExpiry(t *testing.T) {
	h := newFixture(t)
	h.engine.SetPreflightDuration(2 * time.Second)
	token, err := h.engine.PreflightToken(t.Context(), "192.0.2.1/32")
	if err != nil {
		t.Fatal(err)
	}
	p := connect(t, h.url, token)
	awaitEnd(t, p, "PARTICIPANT_REMOVED")
	if list := h.participants(t, "check"); len(list) > 0 {
		t.Errorf("still in: %v", list)
	}
	if fresh := p.Token(); fresh != "" {
		token = fresh
	}
	if status := refusedStatus(t, h.url, token); status != http.StatusUnauthorized {
		t.Errorf("again: %d", status)
	}
}
