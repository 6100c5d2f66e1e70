package media_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// longPreflight is a duration of connection tests in which a busy machine has finished a test of this package.
const longPreflight = 10 * time.Minute

// A participant of the preflight session reaches the engine, but neither the other
// participants of that session nor the observer learn of it.
func TestPreflight_IsolatedFromOthers(t *testing.T) {
	f := newFixture(t)
	f.engine.SetPreflightDuration(longPreflight)
	check := func() *mediatest.Participant {
		t.Helper()
		token, err := f.engine.PreflightToken(t.Context(), "192.0.2.1/32")
		if err != nil {
			t.Fatal(err)
		}
		return joinWithToken(t, f.url, token)
	}
	one, other := check(), check()
	if one.Identity() == other.Identity() {
		t.Fatalf("identities of two participants: got %q twice, want different ones", one.Identity())
	}
	if len(one.RemoteParticipants())+len(other.RemoteParticipants()) > 0 {
		t.Errorf("got other participants %v and %v, want none", one.RemoteParticipants(), other.RemoteParticipants())
	}
	one.Leave()
	other.Leave()

	// The observer is called in order, so that earlier events would be recorded first.
	f.openSession(t, "r.1", "audio")
	ada := f.join(t, "r.1", "ada", "audio")
	joined := observerCall{"r.1", "ada", ada.SID(), ""}
	f.expectCalls(t, joined) // LiveKit reports nobody who leaves before it has seen the connection
	ada.Leave()
	f.expectCalls(t, joined, observerCall{"r.1", "ada", ada.SID(), room.LeftByChoice})
}

// The reservations of one network and of all networks together are limited.
func TestPreflight_Bounds(t *testing.T) {
	f := newFixture(t)
	f.engine.SetPreflightDuration(longPreflight)
	refused := func(network string, kind fault.Kind, message string) {
		t.Helper()
		_, err := f.engine.PreflightToken(t.Context(), network)
		if e := fault.From(err); err == nil || e.Kind != kind || e.Code != "check_busy" || e.Message != message ||
			e.RetryAfter <= 0 || e.RetryAfter > longPreflight+time.Second {
			t.Errorf("%s: got %v (%+v), want %q", network, err, e, message)
		}
	}
	for n := range 64 {
		network := fmt.Sprintf("192.0.2.%d/32", n/8)
		token, err := f.engine.PreflightToken(t.Context(), network)
		if err != nil {
			t.Fatalf("token number %d: got error %v, want none", n+1, err)
		}
		if n%8 == 7 {
			refused(network, fault.Exhausted,
				"too many connections are being checked from your network, try again in a moment")
			p, err := mediatest.Join(t.Context(), f.url, token)
			if err != nil {
				t.Fatalf("join with token number %d: got error %v, want none", n+1, err)
			}
			t.Cleanup(p.Abort)
		}
	}
	refused("198.51.100.7/32", fault.Unavailable, "too many connections are being checked, try again in a moment")
	if status := f.getStatus(t, "/rtc/validate", f.accessToken(t, "check", "ada.1",
		"video")); status != http.StatusUnauthorized {
		t.Errorf("got status %d after the expiry, want 401", status)
	}
}

// A reservation is released when its token expires, and not before.
func TestPreflight_ReleasedAtExpiry(t *testing.T) {
	f := newFixture(t)
	now := time.Now()
	f.engine.SetPreflightClock(func() time.Time { return now })
	const network = "192.0.2.1/32"
	for n := range 8 {
		if _, err := f.engine.PreflightToken(t.Context(), network); err != nil {
			t.Fatalf("token number %d: got error %v, want none", n+1, err)
		}
		now = now.Add(time.Second)
	}
	_, err := f.engine.PreflightToken(t.Context(), network)
	if !fault.Is(err, fault.Exhausted) {
		t.Fatalf("token number 9: got error %v, want Exhausted", err)
	}
	now = now.Add(fault.From(err).RetryAfter - time.Millisecond)
	if _, err := f.engine.PreflightToken(t.Context(), network); !fault.Is(err, fault.Exhausted) {
		t.Errorf("token before RetryAfter: got error %v, want Exhausted", err)
	}
	now = now.Add(time.Millisecond)
	if _, err := f.engine.PreflightToken(t.Context(), network); err != nil {
		t.Errorf("token after RetryAfter: got error %v, want none", err)
	}
}

// A participant is removed when its token expires, and cannot join again with the token.
func TestPreflight_RemovedAtExpiry(t *testing.T) {
	testkit.Slow(t) // it waits for the expiry
	f := newFixture(t)
	token, p := joinBeforeExpiry(t, f)
	awaitEnd(t, p, "PARTICIPANT_REMOVED")
	if list := f.participants(t, "check"); len(list) > 0 {
		t.Errorf("got participants %v, want none", list)
	}
	if fresh := p.Token(); fresh != "" {
		token = fresh
	}
	if status := refusedStatus(t, f.url, token); status != http.StatusUnauthorized {
		t.Errorf("got status %d after the expiry, want 401", status)
	}
}

// joinBeforeExpiry joins the preflight session with a token that expires soon. If a busy machine has not joined by
// then, it tries again with more time.
func joinBeforeExpiry(t *testing.T, f *fixture) (string, *mediatest.Participant) {
	t.Helper()
	for duration := 5 * time.Second; ; duration *= 2 {
		f.engine.SetPreflightDuration(duration)
		token, err := f.engine.PreflightToken(t.Context(), "192.0.2.1/32")
		if err != nil {
			t.Fatal(err)
		}
		p, err := mediatest.Join(t.Context(), f.url, token)
		if err == nil {
			t.Cleanup(p.Abort)
			return token, p
		}
		if duration > time.Minute {
			t.Fatalf("join within %s: %v", duration, err)
		}
	}
}
