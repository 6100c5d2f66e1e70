package media_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
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

	f.engine.SetConnectTimeout(shortConnectTimeout)
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

// Each cause of a failed join is provoked once, and must be counted as this cause and no other.
func TestMetrics_CausesOfFailedJoins(t *testing.T) {
	registry := prometheus.NewRegistry()
	f := newFixture(t, func(c *media.Config) { c.Metrics = metrics.NewMedia(registry) })
	f.engine.SetConnectTimeout(time.Hour)
	f.openSession(t, "r.1", room.Video)
	connect := func(session, identity string) *mediatest.Raw {
		t.Helper()
		return dialRaw(t, f.url, f.accessToken(t, session, identity, room.Video), mediatest.RawOptions{HalfConnected: true})
	}
	signal := func(token string, want int) {
		t.Helper()
		if got := f.getStatus(t, "/rtc", token); got != want {
			t.Fatalf("GET /rtc: got status %d, want %d", got, want)
		}
	}
	want := map[string]float64{}
	for _, cause := range []struct {
		cause   metrics.JoinFailure
		provoke func()
	}{
		{metrics.JoinNotAdmitted, func() { signal("not a token", http.StatusUnauthorized) }},
		{metrics.JoinRefused, func() {
			var refused *mediatest.RefusedError
			_, err := mediatest.Dial(t.Context(), f.url, f.accessToken(t, "r.1", "ada", room.Video),
				mediatest.RawOptions{Query: url.Values{"join_request": {"no request"}}})
			if !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
				t.Fatalf("connect with a wrong join request: got error %v, want the status 400", err)
			}
		}},
		{metrics.JoinTooOften, func() {
			f.engine.UseUpConnections("r.1", "ben")
			signal(f.accessToken(t, "r.1", "ben", room.Video), http.StatusTooManyRequests)
		}},
		{metrics.JoinUnavailable, func() {
			token := f.accessToken(t, "r.1", "chen", room.Video)
			f.authorizer.setDenied(nil, errors.New("the database is lost"))
			signal(token, http.StatusServiceUnavailable)
			f.authorizer.setDenied(nil, nil)
		}},
		{metrics.JoinLeft, func() { connect("r.1", "dora").Leave() }},
		{metrics.JoinReplaced, func() {
			connect("r.1", "eve")
			f.join(t, "r.1", "eve", room.Video)
		}},
		{metrics.JoinRemoved, func() {
			connect("r.1", "fay")
			if err := f.engine.Remove(t.Context(), "r.1", "fay"); err != nil {
				t.Fatal(err)
			}
		}},
		{metrics.JoinRoomEnded, func() {
			f.openSession(t, "r.2", room.Video)
			connect("r.2", "gil")
			if err := f.engine.Close(t.Context(), "r.2"); err != nil {
				t.Fatal(err)
			}
		}},
		{metrics.JoinLost, func() { connect("r.1", "hal").Abort() }},
		{metrics.JoinNotConnected, func() {
			f.engine.SetConnectTimeout(shortConnectTimeout)
			connect("r.1", "ida")
			f.engine.SetConnectTimeout(time.Hour)
		}},
		{metrics.JoinServerStopped, func() {
			connect("r.1", "jo")
			f.engine.Stop(context.Background())
		}},
	} {
		cause.provoke()
		want["parley_join_failures_total "+string(cause.cause)] = 1
		var got map[string]float64
		testkit.Eventually(t, "a failed join is counted as "+string(cause.cause), func() bool {
			got = gatherMetrics(t, registry)
			maps.DeleteFunc(got, func(name string, _ float64) bool {
				return !strings.HasPrefix(name, "parley_join_failures_total ")
			})
			return got["parley_join_failures_total "+string(cause.cause)] > 0
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the failed joins after %s differ (-want +got):\n%s", cause.cause, diff)
		}
	}
}
