package media

import (
	"net/netip"
	"time"

	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/protocol/livekit"
	"github.com/pion/webrtc/v4"

	"parley/internal/media/relay"
)

// turnCredentialTTL is the time in which a page can get relays with the credential that came with its
// signaling connection. A participant may listen for hours before they send media for the first time,
// over another peer connection, which needs its own relay.
const turnCredentialTTL = 24 * time.Hour

// iceServers returns new ICE servers for one connection of a participant.
type iceServers func() []*livekit.ICEServer

func (e *Engine) wireTURN() (err error) {
	if e.cfg.TURN != nil {
		e.turnSecret, err = relay.NewSecret(e.cfg.SigningSecret)
	}
	return err
}

func (e *Engine) startTURN() (err error) {
	if e.cfg.TURN == nil {
		return nil
	}
	own := make(map[netip.AddrPort]netip.AddrPort)
	for _, announced := range e.mediaPorts(e.addresses.node) {
		for _, bound := range e.mediaPorts(e.addresses.bind) {
			if _, found := own[announced]; !found && announced.Addr().Is4() == bound.Addr().Is4() {
				own[announced] = bound
			}
		}
	}
	e.turn, err = relay.Serve(relay.Config{
		Listener: e.cfg.TURN.Listener,
		Secret:   e.turnSecret,
		Own:      own,
	})
	return err
}

// mediaPorts returns the UDP port at each of the addresses.
func (e *Engine) mediaPorts(ips []netip.Addr) []netip.AddrPort {
	ports := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		ports[i] = netip.AddrPortFrom(ip, uint16(e.cfg.UDPPort))
	}
	return ports
}

func (e *Engine) iceServers() []*livekit.ICEServer {
	if e.cfg.TURN == nil {
		return nil
	}
	user, password := relay.Credentials(e.turnSecret, e.mediaPorts(e.addresses.node), time.Now().Add(turnCredentialTTL))
	return []*livekit.ICEServer{{Urls: e.cfg.TURN.URLs, Username: user, Credential: password}}
}

// RelayedPeople returns how many people in sessions of other nodes have their media relayed by the TURN server of this
// process, and had it before a time.
func (e *Engine) RelayedPeople(before time.Time) int {
	if e.checkRunning() != nil || e.turn == nil {
		return 0
	}
	return e.turn.UsersOfOthers(before)
}

// EndRelays ends the relays of n of these people at most, those first who have had theirs longest.
func (e *Engine) EndRelays(n int, before time.Time) {
	if e.checkRunning() == nil && e.turn != nil {
		e.turn.EndUsersOfOthers(n, before)
	}
}

// selectedRemote returns the candidate of a participant that a connection uses, or nil.
func selectedRemote(info *types.ICEConnectionInfo) *webrtc.ICECandidate {
	var last *types.ICECandidateExtended
	for _, remote := range info.Remote {
		if remote.SelectedOrder > 0 && (last == nil || remote.SelectedOrder > last.SelectedOrder) {
			last = remote
		}
	}
	if last == nil {
		return nil
	}
	return last.Candidate
}

// isRelayed reports whether a candidate of a participant is a relay of this process. LiveKit
// recognises a relay by the address that the browser knows, which differs behind a NAT.
func (e *Engine) isRelayed(candidate *webrtc.ICECandidate) bool {
	if e.turn == nil {
		return false
	}
	ip, err := netip.ParseAddr(candidate.Address)
	return err == nil && e.turn.IsRelay(netip.AddrPortFrom(ip.Unmap(), candidate.Port))
}
