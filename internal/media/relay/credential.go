package relay

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// NewSecret derives the secret of Credentials from the one that all nodes share.
func NewSecret(shared string) ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(shared), nil, "parley turn", sha256.Size)
}

// Credentials returns a user name and a password that allow new relays to one media port until the
// given time. Relays that exist then continue. Peers are the addresses of the port as participants know
// them, at most one of each family.
//
// The user name contains the peers, in the form of the TURN REST API (draft-uberti-behave-turn-rest),
// so that any node can serve the participant.
func Credentials(secret []byte, peers []netip.AddrPort, until time.Time) (user, password string) {
	texts := make([]string, len(peers))
	for i, p := range peers {
		texts[i] = p.String()
	}
	user = strconv.FormatInt(until.Unix(), 10) + ":" + rand.Text() + ":" + strings.Join(texts, ",")
	return user, passwordOf(secret, user)
}

func passwordOf(secret []byte, user string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(user))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// check returns the password and the end of a credential. It does not say whether the client knows
// the password. It returns false if the user name is not one of Credentials.
func check(secret []byte, user string) (password string, until time.Time, ok bool) {
	seconds, _, found := strings.Cut(user, ":")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if !found || err != nil {
		return "", time.Time{}, false
	}
	return passwordOf(secret, user), time.Unix(unix, 0), true
}

// peersOf returns the peers of an authenticated user name.
func peersOf(user string) (peers []netip.AddrPort) {
	parts := strings.SplitN(user, ":", 3)
	if len(parts) < 3 {
		return nil
	}
	for text := range strings.SplitSeq(parts[2], ",") {
		peer, err := netip.ParseAddrPort(text)
		if err != nil {
			return nil
		}
		peers = append(peers, peer)
	}
	return peers
}
