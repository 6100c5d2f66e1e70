package media

import (
	"fmt"
	"log/slog"
)

// minSecretLength is what LiveKit itself asks for, but only in a log line.
const minSecretLength = 32

// Config is what an Engine needs to know. The key and the secret come from
// the caller's database: a participant's token, and with it a call that is
// going on, must survive a restart of the process.
type Config struct {
	SigningKey    string // name of the key in the tokens; not secret
	SigningSecret string // at least 32 characters; outlives the process

	// NodeIP is the address told to browsers: an IPv4 address, an IPv6
	// address, or both with a comma between. Empty means: find the address
	// this machine uses towards the network. It need not be an address of
	// this machine (a router or a cloud may translate it).
	NodeIP string
	// BindIPs are the addresses of this machine on which media is received.
	// Empty means NodeIP where that is an address of this machine, and the
	// machine's main address otherwise. A loopback NodeIP binds loopback only.
	BindIPs []string
	// UDPPort carries all media of all participants.
	UDPPort int
	// TCPPort is the way out for networks that let no UDP through; 0 is off.
	// It listens on every address, so it stays off when only loopback is bound.
	TCPPort int

	// RedisURL joins this process into a cluster with every other process
	// that names the same Redis and the same signing key. Empty is one
	// machine. "redis://" and "rediss://" are understood.
	RedisURL string

	Log *slog.Logger // nil means slog.Default()
}

func (c Config) validate() error {
	switch {
	case c.SigningKey == "":
		return fmt.Errorf("media: the signing key has no name")
	case len(c.SigningSecret) < minSecretLength:
		return fmt.Errorf("media: the signing secret must have at least %d characters", minSecretLength)
	case c.UDPPort < 1 || c.UDPPort > 65535:
		return fmt.Errorf("media: UDP port %d is not between 1 and 65535", c.UDPPort)
	case c.TCPPort < 0 || c.TCPPort > 65535:
		return fmt.Errorf("media: TCP port %d is not between 0 and 65535", c.TCPPort)
	}
	return nil
}
