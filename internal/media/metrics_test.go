package media_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/media"
	"parley/internal/media/mediatest"
	"parley/internal/metrics"
	"parley/internal/room"
	"parley/internal/testkit"
)

// gatherMetrics returns the values of the metrics other than 0, by name and label value. A
// histogram has its number of observations.
func gatherMetrics(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			name := f.GetName()
			for _, l := range m.Label {
				name += " " + l.GetValue()
			}
			v := m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			if v != 0 {
				values[name] = v
			}
		}
	}
	return values
}

func TestMetrics_JoinsAndFailures(t *testing.T) {
	registry := prometheus.NewRegistry()
	f := newFixture(t, func(c *media.Config) { c.Metrics = metrics.NewMedia(registry) })
	expect := func(what string, want map[string]float64) {
		t.Helper()
		var got map[string]float64
		defer func() {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the metrics when %s differ (-want +got):\n%s", what, diff)
			}
		}()
		testkit.Eventually(t, what, func() bool {
			got = gatherMetrics(t, registry)
			return cmp.Equal(want, got)
		})
	}
	f.openSession(t, "r.1", room.Video)
	f.openSession(t, "r.2", room.Video) // a breakout room of the same room
	f.openSession(t, "s.1", room.Audio)
	ada, ben := f.join(t, "r.1", "ada", room.Video), f.join(t, "r.2", "ben", room.Video)
	eve := f.join(t, "s.1", "eve", room.Audio)
	expect("three participants are in two rooms", map[string]float64{"parley_joins_total udp": 3,
		"parley_live_participants udp": 3, "parley_live_rooms": 2, "parley_time_to_media_seconds": 3})

	f.engine.SetConnectTimeout(300 * time.Millisecond)
	dialRaw(t, f.url, f.accessToken(t, "r.1", "dora", room.Video), mediatest.RawOptions{HalfConnected: true})
	refusedStatus(t, f.url, "not a token")
	f.getStatus(t, "/rtc/validate", "not a token")
	ada.Leave()
	eve.Leave()
	expect("one participant is left and two failed", map[string]float64{"parley_joins_total udp": 3,
		"parley_live_participants udp": 1, "parley_live_rooms": 1, "parley_time_to_media_seconds": 3,
		"parley_join_failures_total not_connected": 1, "parley_join_failures_total not_admitted": 1})
	ben.Leave()
	expect("no participant is left", map[string]float64{"parley_joins_total udp": 3,
		"parley_time_to_media_seconds": 3, "parley_join_failures_total not_connected": 1,
		"parley_join_failures_total not_admitted": 1})
}
