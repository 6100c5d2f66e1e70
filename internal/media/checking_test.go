package media_test

import (
	"net/http"
	"testing"
	"time"

	"parley/internal/media/mediatest"
	"parley/internal/room"
)

// Who checks their connection reaches the engine, and is nobody: not to others
// who check, and not to those who hear of everybody.
func TestACheckReachesTheEngineAndNobodyElse(t *testing.T) {
	h := newHouse(t)
	check := func() *mediatest.Participant {
		t.Helper()
		token, err := h.engine.CheckPass(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return connect(t, h.url, token)
	}
	one, other := check(), check()
	if one.Identity() == other.Identity() {
		t.Fatal("both are the same")
	}
	if len(one.Others())+len(other.Others()) > 0 {
		t.Errorf("they see %v and %v", one.Others(), other.Others())
	}
	one.Leave()
	other.Leave()

	// After them somebody real, so that all before has been told.
	h.open(t, "r.1", "audio")
	ada := h.enter(t, "r.1", "ada", "audio")
	ada.Leave()
	h.expect(t, seen{"r.1", "ada", ada.SID(), ""}, seen{"r.1", "ada", ada.SID(), room.LeftByChoice})
}

// No more than so many at once.
func TestChecksAreBounded(t *testing.T) {
	h := newHouse(t)
	for n := range 17 {
		token, err := h.engine.CheckPass(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := mediatest.Join(t.Context(), h.url, token)
		if (err == nil) != (n < 16) {
			t.Fatalf("number %d: %v", n+1, err)
		}
		if err == nil {
			t.Cleanup(p.Vanish)
		}
	}
	if status := h.get(t, "/rtc/validate", h.pass(t, "check", "ada.1", "video")); status != http.StatusUnauthorized {
		t.Errorf("a check that is over: %d", status)
	}
}

// Who stays is taken out, and does not come back with the same token.
func TestChecksEnd(t *testing.T) {
	h := newHouse(t)
	h.engine.CheckFor(2 * time.Second)
	token, err := h.engine.CheckPass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := connect(t, h.url, token)
	awaitEnd(t, p, "PARTICIPANT_REMOVED")
	if list := h.present(t, "check"); len(list) > 0 {
		t.Errorf("still in: %v", list)
	}
	if fresh := p.Token(); fresh != "" {
		token = fresh
	}
	if status := refused(t, h.url, token); status != http.StatusUnauthorized {
		t.Errorf("again: %d", status)
	}
}
