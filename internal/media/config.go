package media

import (
	"fmt"
	"log/slog"
	"net"

	"parley/internal/metrics"
	"parley/internal/refusal"
)

// minSecretLength is the minimum that LiveKit recommends, but only in a log line.
const minSecretLength = 32

// Config is the configuration of an Engine. The key and the secret come from the
// caller's database, so that a participant's token, and with it a call in progress,
// survives a restart of the process.
type Config struct {
	SigningKey    string // name of the key in the tokens; not secret
	SigningSecret string // at least 32 characters; outlives the process

	// NodeIP is the address that is announced to browsers: an IPv4 address, an IPv6
	// address, or both separated by a comma. If it is empty, the engine uses the address
	// from which this machine reaches the network. It need not be an address of this
	// machine, because a router or a cloud may translate it.
	NodeIP string
	// Local says that only this machine has to reach the engine, so that it may detect loopback as
	// NodeIP while this machine has no network. Otherwise New then fails with an AddressError.
	Local bool
	// BindIPs are the addresses of this machine on which media is received. If it is
	// empty, the engine binds NodeIP if that is an address of this machine, and the
	// machine's main address otherwise. A loopback NodeIP binds loopback only, and another one never
	// does: one without an address of this machine is not used, and if that is all, New fails with an AddressError.
	BindIPs []string
	// UDPPort carries the media of all participants. If it cannot be opened, another one does.
	UDPPort int
	// TCPPort is the fallback for networks that block UDP; 0 turns it off. It listens on
	// every address, so it stays off when only loopback is bound.
	TCPPort int
	// TCPListener accepts connections of this fallback on a port that is shared with others. It
	// excludes TCPPort; nil turns it off. Its address has the port that browsers get.
	TCPListener net.Listener
	// LimitTCP returns the listener of the TCP port with limits of its connections; nil is no
	// limit.
	LimitTCP func(net.Listener) net.Listener

	// TURN relays media of participants whose networks block UDP; nil turns it off.
	TURN *TURN

	// RedisURL joins this process to a cluster of all processes with the same Redis and
	// the same signing key. It starts with "redis://" or "rediss://". Empty means a
	// single machine.
	RedisURL string

	Log      *slog.Logger
	Refusals *refusal.Recorder
	Metrics  *metrics.Media
}

// TURN is a TURN server on a port that is shared with others.
type TURN struct {
	Listener net.Listener
	// URLs are those of the server for browsers (RFC 7065), in the order of preference.
	URLs []string
}

func (c Config) validate() error {
	switch {
	case c.SigningKey == "":
		return fmt.Errorf("media: the signing key must not be empty")
	case len(c.SigningSecret) < minSecretLength:
		return fmt.Errorf("media: the signing secret must have at least %d characters", minSecretLength)
	case c.UDPPort < 1 || c.UDPPort > 65535:
		return fmt.Errorf("media: UDP port %d must be between 1 and 65535", c.UDPPort)
	case c.TCPPort < 0 || c.TCPPort > 65535:
		return fmt.Errorf("media: TCP port %d must be between 0 and 65535", c.TCPPort)
	case c.TCPPort != 0 && c.TCPListener != nil:
		return fmt.Errorf("media: TCP port %d and a listener exclude each other", c.TCPPort)
	}
	return nil
}
