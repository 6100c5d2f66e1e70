package refusal_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/refusal"
)

// gatherCounters gathers the counters as a scrape sees them.
func gatherCounters(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			all[f.GetName()+"/"+m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
		}
	}
	return all
}

func TestCount_RaisesTheCounterOfItsKind(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := refusal.NewRecorder(registry, slog.New(slog.DiscardHandler), time.Now)
	if n := len(gatherCounters(t, registry)); n < 13 {
		t.Fatalf("%d kinds are exported before their first refusal, want all 13 or more", n)
	}
	r.Count(refusal.NewSeats)
	for kind, n := range gatherCounters(t, registry) {
		want := 0.
		if kind == "parley_refusals_total/new_seats" {
			want = 1
		}
		if n != want {
			t.Errorf("%s = %v, want %v", kind, n, want)
		}
	}
}

func TestRecorder_LogsTenLinesOfAKindInTenSeconds(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1_800_000_000, 0)
	registry := prometheus.NewRegistry()
	r := refusal.NewRecorder(registry, slog.New(slog.NewTextHandler(&out, nil)), func() time.Time { return now })
	for range 1000 {
		r.Record(refusal.Checks, "the check is full", "client", "192.0.2.1")
	}
	if n := strings.Count(out.String(), "\n"); n != 10 {
		t.Errorf("1000 refusals wrote %d lines, want 10", n)
	}
	want := `msg=refused kind=checks reason="the check is full" client=192.0.2.1`
	if !strings.Contains(out.String(), want) {
		t.Errorf("got %q, want it to contain %q", out.String(), want)
	}
	r.Record(refusal.Track, "one track for each source")
	if n := strings.Count(out.String(), "\n"); n != 11 {
		t.Errorf("after a refusal of another kind: got %d lines, want 11", n)
	}
	out.Reset()
	now = now.Add(10 * time.Second)
	r.Record(refusal.Checks, "the check is full")
	if !strings.Contains(out.String(), "suppressed=990") {
		t.Errorf("got %q, want suppressed=990", out.String())
	}
	if n := gatherCounters(t, registry)["parley_refusals_total/checks"]; n != 1001 {
		t.Errorf("%v refusals were counted, want 1001", n)
	}
}
