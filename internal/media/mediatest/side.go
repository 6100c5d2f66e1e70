package mediatest

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/pion/stun/v3" // the STUN library of pion, which also builds LiveKit's messages
)

// Side is a UDP address of a participant beside the one of its media connection. The server
// takes what comes from there as packets of the participant, after a connectivity check.
type Side struct {
	conn     net.Conn
	userName string // of the server's side and of the participant's (RFC 8445, section 7.2.2)
	password string // of the server's side
}

// OpenSide opens another address for the publisher connection, which must be connected over
// UDP. OpenDataChannel opens that connection.
func (r *Raw) OpenSide() (*Side, error) {
	r.mu.Lock()
	pub := r.pub
	r.mu.Unlock()
	pair, err := pub.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
	if err != nil || pair == nil {
		return nil, fmt.Errorf("mediatest: open a side: the connection has no addresses: %w", err)
	}
	conn, err := net.Dial("udp", net.JoinHostPort(pair.Remote.Address, strconv.Itoa(int(pair.Remote.Port))))
	if err != nil {
		return nil, fmt.Errorf("mediatest: open a side: %w", err)
	}
	server, own := r.LastAnswer(), r.Description()
	return &Side{
		conn:     conn,
		userName: sdpValue(server, "a=ice-ufrag:") + ":" + sdpValue(own, "a=ice-ufrag:"),
		password: sdpValue(server, "a=ice-pwd:"),
	}, nil
}

// sdpValue returns what follows the prefix in its first line.
func sdpValue(sdp, prefix string) string {
	_, after, _ := strings.Cut(sdp, prefix)
	value, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(value)
}

// Check sends a connectivity check, a STUN binding request (RFC 8445, section 7.2.2).
func (s *Side) Check() error {
	check, err := s.newCheck()
	if err != nil {
		return err
	}
	return s.Send(check.Raw)
}

func (s *Side) newCheck() (*stun.Message, error) {
	return stun.Build(stun.BindingRequest, stun.TransactionID, stun.NewUsername(s.userName),
		stun.NewShortTermIntegrity(s.password), stun.Fingerprint)
}

// AwaitCheck sends connectivity checks until the server has responded to one, for WaitTimeout at
// most.
func (s *Side) AwaitCheck(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, WaitTimeout)
	defer cancel()
	sent := map[[stun.TransactionIDSize]byte]bool{}
	for ctx.Err() == nil {
		check, err := s.newCheck()
		if err == nil {
			sent[check.TransactionID] = true
			err = s.Send(check.Raw)
		}
		if err == nil {
			err = s.conn.SetReadDeadline(time.Now().Add(checkInterval))
		}
		if err != nil {
			return err
		}
		for packet := make([]byte, 1500); ; {
			n, err := s.conn.Read(packet)
			if err != nil {
				break // no response yet
			}
			response := &stun.Message{Raw: packet[:n]}
			if response.Decode() == nil && sent[response.TransactionID] {
				return nil
			}
		}
	}
	return ctx.Err()
}

// checkInterval is the time between two checks that AwaitCheck sends.
const checkInterval = 100 * time.Millisecond

// Send sends a packet of any content.
func (s *Side) Send(packet []byte) error {
	_, err := s.conn.Write(packet)
	return err
}

// Close closes the address.
func (s *Side) Close() error { return s.conn.Close() }
