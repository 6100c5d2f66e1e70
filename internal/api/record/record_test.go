package record

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"parley/internal/api/httpx"
	"parley/internal/requestlog"
)

// fakeLog keeps the causes that it receives.
type fakeLog struct{ recorded, counted []string }

func (l *fakeLog) Record(c requestlog.Call, _ requestlog.Explain) {
	l.recorded = append(l.recorded, c.Cause)
}

func (l *fakeLog) CountRejected(_, cause string, _ netip.Addr) { l.counted = append(l.counted, cause) }

func (l *fakeLog) AllowAnonymous(string) bool { return false }

// A rejected call without a cause of its own has the text of its status as the cause, with a credential and
// without one.
func TestCall_CauseOfStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{http.StatusNotFound: "not_found",
		http.StatusMethodNotAllowed: "method_not_allowed", http.StatusInternalServerError: "internal_server_error",
		http.StatusGone: "gone"} {
		var log fakeLog
		r := httptest.NewRequest(http.MethodGet, "/api/v3/nowhere", nil)
		Call(&log, "v3", r, &httpx.RequestInfo{Status: status})
		Call(&log, "v3", r, &httpx.RequestInfo{Status: status, Caller: httpx.Caller{ProjectID: "p", KeySlot: "current"}})
		if len(log.counted) != 1 || log.counted[0] != want || len(log.recorded) != 1 || log.recorded[0] != want {
			t.Errorf("status %d: got counted %q and recorded %q, want %q each", status, log.counted, log.recorded, want)
		}
	}
}
