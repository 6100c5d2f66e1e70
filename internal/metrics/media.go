package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Connection types: how the media of a participant reaches the server.
var connectionTypes = []string{"udp", "tcp", "turn", unknownConnection}

const unknownConnection = "unknown"

// JoinFailure is the cause for which a participant with an access token got no media.
type JoinFailure string

// The causes of failed joins before the signaling connected. The server refuses a request to
// protect itself (package refusal), and rejects one with an error otherwise.
const (
	JoinNotAdmitted JoinFailure = "not_admitted"         // rejected: the token or the seat is not valid now
	JoinRefused     JoinFailure = "refused"              // refused: the signaling filter does not accept the request
	JoinTooOften    JoinFailure = "too_many_connections" // refused: too many connections of one participant
	JoinUnavailable JoinFailure = "unavailable"          // rejected: the service could not check the token
)

// The causes of failed joins after the signaling connected.
const (
	JoinNotConnected  JoinFailure = "not_connected"   // media did not connect in time
	JoinLeft          JoinFailure = "left"            // the participant left before media connected
	JoinLost          JoinFailure = "connection_lost" // the connection broke before media connected
	JoinReplaced      JoinFailure = "replaced"        // the person connected again before media connected
	JoinRemoved       JoinFailure = "removed"         // a host removed the participant before media connected
	JoinRoomEnded     JoinFailure = "room_ended"      // the room ended before media connected
	JoinServerStopped JoinFailure = "server"          // the server stopped before media connected
)

// Media are the participants and rooms that the media engine of this process serves. Joined
// and Left must be called from one goroutine.
type Media struct {
	joins        map[string]prometheus.Counter // by connection type, as participants
	participants map[string]prometheus.Gauge
	rooms        prometheus.Gauge
	failures     counterSet
	timeToMedia  prometheus.Histogram

	live map[string]int // participants by room

	overUDP, overTCP, notConnected atomic.Int64
}

// MediaConnections are the participants since the start of the process by how their media connected.
type MediaConnections struct {
	UDP          int
	TCP          int // ICE over TCP, or TURN
	NotConnected int // media did not connect in time
}

// Connections returns the participants since the start. It may be called from any goroutine.
func (m *Media) Connections() MediaConnections {
	return MediaConnections{
		UDP:          int(m.overUDP.Load()),
		TCP:          int(m.overTCP.Load()),
		NotConnected: int(m.notConnected.Load()),
	}
}

// NewMedia returns the metrics, registered with registry. Nil registers them nowhere.
func NewMedia(registry prometheus.Registerer) *Media {
	auto := promauto.With(registry)
	participants := auto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "parley_live_participants", Help: "Participants whose media is connected, by the type of their connection.",
	}, []string{"connection"})
	joins := auto.NewCounterVec(prometheus.CounterOpts{
		Name: "parley_joins_total", Help: "Participants whose media has connected, by the type of their connection.",
	}, []string{"connection"})
	m := &Media{
		joins:        map[string]prometheus.Counter{},
		participants: map[string]prometheus.Gauge{},
		rooms: auto.NewGauge(prometheus.GaugeOpts{
			Name: "parley_live_rooms", Help: "Rooms with at least one participant whose media is connected.",
		}),
		failures: newCounterSet(registry, prometheus.CounterOpts{
			Name: "parley_join_failures_total", Help: "Connections with an access token that got no media, by cause.",
		}, "cause", string(JoinNotAdmitted), string(JoinRefused), string(JoinTooOften), string(JoinUnavailable),
			string(JoinNotConnected), string(JoinLeft), string(JoinLost), string(JoinReplaced), string(JoinRemoved),
			string(JoinRoomEnded), string(JoinServerStopped)),
		timeToMedia: auto.NewHistogram(prometheus.HistogramOpts{
			Name:    "parley_time_to_media_seconds",
			Help:    "Time from the start of a participant's signaling until media was connected.",
			Buckets: secondsBuckets(0.05, 25),
		}),
		live: map[string]int{},
	}
	for _, t := range connectionTypes {
		m.joins[t], m.participants[t] = joins.WithLabelValues(t), participants.WithLabelValues(t)
	}
	return m
}

// Joined records a participant in a room whose media has connected after a time. It returns
// the type of the connection for Left.
func (m *Media) Joined(room, connection string, after time.Duration) string {
	if m.joins[connection] == nil {
		connection = unknownConnection
	}
	switch connection {
	case "udp":
		m.overUDP.Add(1)
	case "tcp", "turn":
		m.overTCP.Add(1)
	}
	m.joins[connection].Inc()
	m.participants[connection].Inc()
	m.timeToMedia.Observe(after.Seconds())
	if m.live[room]++; m.live[room] == 1 {
		m.rooms.Inc()
	}
	return connection
}

// Left records the end of a connection of the type that Joined returned.
func (m *Media) Left(room, connection string) {
	m.participants[connection].Dec()
	if m.live[room]--; m.live[room] == 0 {
		delete(m.live, room)
		m.rooms.Dec()
	}
}

// JoinFailed counts a connection that got no media.
func (m *Media) JoinFailed(cause JoinFailure) {
	if cause == JoinNotConnected {
		m.notConnected.Add(1)
	}
	m.failures.inc(string(cause))
}
