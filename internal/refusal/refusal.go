// Package refusal counts and logs requests that the service refuses to protect
// itself. The kinds are a closed set, so that no client can add a label value to
// the metric, and each kind has a rate limit for its log lines, so that no client
// can fill the log.
package refusal

// Kind names one rule that refuses something. Its zero value is NewSeats; use
// the constants only.
type Kind uint8

// The kinds of refusals.
const (
	NewSeats           Kind = iota // too many new seats or knocks from one address
	Checks                         // the connection check is full, or one address asks for too many
	Connections                    // the limit of open TCP connections
	AddressConnections             // the limit of open TCP connections of one address
	SlowReaders                    // a response that its client did not read in time
	SignalRequest                  // a signal request that the filter rejects
	SignalRate                     // too many signal requests on one connection
	Track                          // an announced track that does not match its room or source
	Codec                          // a codec or header extension that is not negotiated
	DataRate                       // too many data messages or bytes of one participant
	MediaSources                   // too many data channels or sources of packets of one participant
	MediaPackets                   // too many packets of one participant
	Reconnects                     // too many connections of one seat
	NotConnected                   // a participant that did not connect fully in time
	EngineLog                      // a log line of the media engine above its rate
	kindCount
)

var kindNames = [kindCount]string{
	"new_seats", "checks", "connections", "address_connections", "slow_readers", "signal_request", "signal_rate",
	"track", "codec", "data_rate", "media_sources", "media_packets", "reconnects", "not_connected", "engine_log",
}

// String returns the kind as logs and metrics show it.
func (k Kind) String() string { return kindNames[k] }
