package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Connections are the TCP connections of the port for HTTPS, by what they carry.
type Connections struct{ accepted counterSet }

func newConnections(registry prometheus.Registerer) *Connections {
	return &Connections{newCounterSet(registry, prometheus.CounterOpts{
		Name: "parley_connections_total",
		Help: "TCP connections of the port for HTTPS, by what they carry. Other ones were closed.",
	}, "kind", "https", "http", "ice_tcp", "turn_tcp", "turn_tls")}
}

// Accepted counts a connection.
func (c *Connections) Accepted(kind string) { c.accepted.inc(kind) }
