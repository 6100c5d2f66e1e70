package mediatest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/livekit/protocol/livekit"
	// webrtc hides its DTLS connection, and raw SCTP needs one.
	"github.com/pion/dtls/v3"
	"github.com/pion/dtls/v3/pkg/crypto/selfsign"
	dtlsnet "github.com/pion/dtls/v3/pkg/net"
	"github.com/pion/ice/v4"
)

const sctpPerRound = 1500

// SCTP sends random and mutated SCTP packets inside DTLS, and bytes that are neither DTLS
// nor SRTP, until ctx ends. Each round uses a new guest.
func (f *Fuzzer) SCTP(ctx context.Context) error { return f.runRounds(ctx, f.sctpRound) }

func (f *Fuzzer) sctpRound(ctx context.Context, n int) error {
	rnd := f.newRand(sctpStream, n)
	r, err := f.dialNewGuest(ctx, RawOptions{HalfConnected: true})
	if err != nil {
		return err
	}
	defer r.Abort()
	a, err := openSCTP(ctx, r, rnd)
	if err != nil {
		return err
	}
	defer a.close()
	pace := newPacer(f.PacketsPerSecond / 2)
	for i := range sctpPerRound {
		if ctx.Err() != nil {
			return nil
		}
		if r.Closed() {
			return ErrClosed
		}
		if i == 0 || oneChanceIn(rnd, 400) {
			a.handshake()
		}
		if oneChanceIn(rnd, 100) {
			// The first byte selects the protocol: STUN, DTLS or SRTP.
			data := append([]byte{pick(rnd, []byte{0, 1, 20, 21, 22, 23, 25, 63, 64, 128, 144, 200, 255})},
				randomBytes(rnd, rnd.IntN(100))...)
			_, err = a.iceConn.Write(data)
		} else {
			_, err = a.dtlsConn.Write(a.packet())
		}
		if err != nil {
			return err
		}
		f.Packets.Add(1)
		pace.wait(ctx)
	}
	return nil
}

// sctpAttack is a publisher connection without anything above DTLS.
type sctpAttack struct {
	rnd      *rand.Rand
	agent    *ice.Agent
	iceConn  *ice.Conn
	dtlsConn *dtls.Conn
	tsn      uint32
	// interleaved reports whether messages are sent as I-DATA (RFC 8260).
	interleaved bool

	reading         sync.WaitGroup
	answered        chan struct{} // closed when the server has sent its verification tag
	mu              sync.Mutex
	verificationTag uint32 // of the server; 0 until the server has sent it
	peerTSN         uint32
}

func openSCTP(ctx context.Context, r *Raw, rnd *rand.Rand) (_ *sctpAttack, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	certificate, err := selfsign.GenerateSelfSigned()
	if err != nil {
		return nil, err
	}
	a := &sctpAttack{rnd: rnd, tsn: 1, interleaved: oneChanceIn(rnd, 2), answered: make(chan struct{})}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	a.agent, err = ice.NewAgentWithOptions(
		ice.WithNetworkTypes([]ice.NetworkType{ice.NetworkTypeUDP4}),
		ice.WithIncludeLoopback(),
		ice.WithIPFilter(func(ip net.IP) bool { return ip.IsLoopback() }),
		ice.WithMulticastDNSMode(ice.MulticastDNSModeDisabled))
	if err != nil {
		return nil, err
	}
	var candidates []string
	gathered := make(chan struct{})
	err = a.agent.OnCandidate(func(c ice.Candidate) {
		if c == nil {
			close(gathered)
			return
		}
		candidates = append(candidates, c.Marshal())
	})
	if err != nil {
		return nil, err
	}
	if err := a.agent.GatherCandidates(); err != nil {
		return nil, err
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ufrag, pwd, err := a.agent.GetLocalUserCredentials()
	if err != nil {
		return nil, err
	}
	digest := strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(certificate.Certificate[0])), " ", ":")
	offer := []string{"v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
		"a=fingerprint:sha-256 " + digest, "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0",
		"a=setup:active", "a=mid:0", "a=sctp-port:5000", "a=ice-ufrag:" + ufrag, "a=ice-pwd:" + pwd}
	for _, c := range candidates {
		offer = append(offer, "a=candidate:"+c)
	}
	err = r.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Offer{Offer: &livekit.SessionDescription{
		Type: "offer", Sdp: strings.Join(offer, "\r\n") + "\r\na=end-of-candidates\r\n"}}})
	if err != nil {
		return nil, err
	}
	if err := r.Wait(ctx, "an answer", func() bool { return r.LastAnswer() != "" }); err != nil {
		return nil, err
	}
	var remoteUfrag, remotePwd string
	for line := range strings.Lines(r.LastAnswer()) {
		if text, found := strings.CutPrefix(line, "a=ice-ufrag:"); found {
			remoteUfrag = strings.TrimSpace(text)
		}
		if text, found := strings.CutPrefix(line, "a=ice-pwd:"); found {
			remotePwd = strings.TrimSpace(text)
		}
		if text, found := strings.CutPrefix(line, "a=candidate:"); found {
			a.addRemoteCandidate(strings.TrimSpace(text))
		}
	}
	r.mu.Lock()
	early := r.pendingCandidates[livekit.SignalTarget_PUBLISHER]
	r.mu.Unlock()
	for _, c := range early {
		a.addRemoteCandidate(strings.TrimPrefix(c.Candidate, "candidate:"))
	}
	if a.iceConn, err = a.agent.Dial(ctx, remoteUfrag, remotePwd); err != nil {
		return nil, err
	}
	a.dtlsConn, err = dtls.ClientWithOptions(dtlsnet.PacketConnFromConn(a.iceConn), a.iceConn.RemoteAddr(),
		dtls.WithCertificates(certificate), dtls.WithInsecureSkipVerify(true),
		dtls.WithSRTPProtectionProfiles(dtls.SRTP_AES128_CM_HMAC_SHA1_80))
	if err != nil {
		return nil, err
	}
	if err := a.dtlsConn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	a.reading.Go(a.read)
	return a, nil
}

func (a *sctpAttack) addRemoteCandidate(text string) {
	if c, err := ice.UnmarshalCandidate(text); err == nil {
		_ = a.agent.AddRemoteCandidate(c)
	}
}

func (a *sctpAttack) close() {
	if a.dtlsConn != nil {
		_ = a.dtlsConn.Close()
	}
	if a.agent != nil {
		_ = a.agent.Close()
	}
	a.reading.Wait()
}

// The chunk types of SCTP that pion knows.
const (
	chunkData       = 0
	chunkInit       = 1
	chunkInitAck    = 2
	chunkCookieEcho = 10
	chunkIData      = 64
	chunkReconfig   = 130
	chunkForwardTSN = 192
	// chunkIForwardTSN is the FORWARD-TSN chunk of interleaved messages.
	chunkIForwardTSN = 194
)

var chunkTypes = []byte{chunkData, chunkData, chunkData, chunkData, chunkInit, chunkInitAck, 3, 3, 3, 4, 5, 6, 7, 8, 9,
	chunkCookieEcho, 11, 12, 14, chunkReconfig, chunkReconfig, 0x81, 0x84, chunkForwardTSN, chunkForwardTSN, 0xc1, 255}

// read records the verification tag of the server and completes the handshake.
func (a *sctpAttack) read() {
	var once sync.Once
	buffer := make([]byte, 1<<16)
	for {
		n, err := a.dtlsConn.Read(buffer)
		if err != nil {
			return
		}
		packet := buffer[:n]
		if n < 32 || packet[12] != chunkInit && packet[12] != chunkInitAck {
			continue
		}
		tag := binary.BigEndian.Uint32(packet[16:])
		a.mu.Lock()
		if tag != 0 {
			once.Do(func() { close(a.answered) })
		}
		a.verificationTag, a.peerTSN = tag, binary.BigEndian.Uint32(packet[28:])
		a.mu.Unlock()
		if packet[12] == chunkInit {
			continue
		}
		for params := packet[32:]; len(params) >= 4; {
			length := int(binary.BigEndian.Uint16(params[2:]))
			if length < 4 || length > len(params) {
				break
			}
			if binary.BigEndian.Uint16(params) == 7 { // the state cookie
				_, _ = a.dtlsConn.Write(sctpPacket(tag, chunk(chunkCookieEcho, 0, params[4:length])))
			}
			params = params[min((length+3)&^3, len(params)):]
		}
	}
}

// handshake begins an association.
func (a *sctpAttack) handshake() {
	body := binary.BigEndian.AppendUint32(nil, 1+a.rnd.Uint32())
	body = binary.BigEndian.AppendUint32(body, 1<<20)
	body = binary.BigEndian.AppendUint32(body, 0xffff_ffff) // streams
	body = binary.BigEndian.AppendUint32(body, a.tsn)
	extensions := []byte{chunkReconfig, chunkForwardTSN}
	if a.interleaved {
		extensions = append(extensions, chunkIData, chunkIForwardTSN)
	}
	body = append(body, 0x80, 0x08, 0, byte(4+len(extensions)))
	body = append(body, extensions...)
	body = append(body, make([]byte, -len(body)&3)...)
	_, _ = a.dtlsConn.Write(sctpPacket(0, chunk(chunkInit, 0, body)))
	select {
	case <-a.answered:
	case <-time.After(100 * time.Millisecond): // a server that does not answer is attacked without its tag
	}
}

// packet returns a packet of one to four chunks.
func (a *sctpAttack) packet() []byte {
	rnd := a.rnd
	a.mu.Lock()
	tag := a.verificationTag
	a.mu.Unlock()
	if oneChanceIn(rnd, 100) {
		tag = rnd.Uint32()
	}
	var chunks []byte
	for range 1 + rnd.IntN(4) {
		chunks = append(chunks, a.randomChunk()...)
	}
	if oneChanceIn(rnd, 12) {
		chunks = mutate(rnd, chunks)
	}
	packet := sctpPacket(tag, chunks)
	if oneChanceIn(rnd, 100) {
		return mutate(rnd, packet)
	}
	return packet
}

func (a *sctpAttack) randomChunk() []byte {
	rnd := a.rnd
	kind := pick(rnd, chunkTypes)
	// These types are rare because they end the association, so that the server ignores
	// the rest of the round.
	if (kind == 6 || kind == 7 || kind == 8 || kind == 14) && !oneChanceIn(rnd, 100) {
		kind = chunkData
	}
	// Chunks of the other kind of message also end the association.
	if a.interleaved != oneChanceIn(rnd, 1000) {
		switch kind {
		case chunkData:
			kind = chunkIData
		case chunkForwardTSN:
			kind = chunkIForwardTSN
		}
	}
	switch kind {
	case chunkData, chunkIData:
		return a.data(kind)
	case 3: // an acknowledgment
		a.mu.Lock()
		acknowledged := a.peerTSN + uint32(rnd.IntN(6)) - 2
		a.mu.Unlock()
		gaps := rnd.IntN(4)
		body := binary.BigEndian.AppendUint32(nil, acknowledged)
		body = binary.BigEndian.AppendUint32(body, pick(rnd, []uint32{0, 1, 1500, 1 << 20, 1<<32 - 1}))
		body = binary.BigEndian.AppendUint16(body, uint16(gaps))
		body = binary.BigEndian.AppendUint16(body, uint16(rnd.IntN(3)))
		return chunk(kind, 0, append(body, randomBytes(rnd, 4*rnd.IntN(5))...))
	case chunkForwardTSN, chunkIForwardTSN:
		body := binary.BigEndian.AppendUint32(nil, a.tsn+uint32(rnd.IntN(10))-3)
		return chunk(kind, 0, append(body, randomBytes(rnd, 4*rnd.IntN(4))...))
	case chunkReconfig:
		body := []byte{0, byte(13 + rnd.IntN(6)), 0, byte(12 + rnd.IntN(12))}
		return chunk(kind, 0, append(body, randomBytes(rnd, 8+2*rnd.IntN(8))...))
	}
	return chunk(kind, byte(rnd.Uint32()), randomBytes(rnd, rnd.IntN(40)))
}

// data returns a chunk with a part of a message on one of a few streams. Half of the
// messages open a data channel.
func (a *sctpAttack) data(kind byte) []byte {
	rnd := a.rnd
	tsn := a.tsn
	switch rnd.IntN(10) {
	case 0:
		tsn += rnd.Uint32N(2000)
	case 1:
		tsn -= rnd.Uint32N(10)
	case 2:
		tsn = rnd.Uint32()
	default:
		a.tsn++
	}
	body := binary.BigEndian.AppendUint32(nil, tsn)
	body = binary.BigEndian.AppendUint16(body, pick(rnd, []uint16{0, 1, 2, 3, 1023, 65535}))
	body = binary.BigEndian.AppendUint16(body, uint16(rnd.IntN(4)))
	if kind == chunkIData {
		body = binary.BigEndian.AppendUint32(body, uint32(rnd.IntN(4)))
	}
	body = binary.BigEndian.AppendUint32(body, pick(rnd, []uint32{50, 50, 51, 53, 56, 57, 0, rnd.Uint32()}))
	payload := randomBytes(rnd, 1+rnd.IntN(60))
	if oneChanceIn(rnd, 2) { // DATA_CHANNEL_OPEN (RFC 8832)
		label := pick(rnd, []string{"_reliable", "_lossy", "_data_track", "", "x", strings.Repeat("l", 900)})
		payload = append([]byte{3, pick(rnd, []byte{0, 1, 2, 0x80, 0x81, 0x82, 0xff}), 0, 1, 0, 0, 0, 0,
			byte(len(label) >> 8), byte(len(label)), 0, 0}, label...)
	}
	flags := byte(3)
	if oneChanceIn(rnd, 3) {
		flags = byte(rnd.Uint32())
	}
	return chunk(kind, flags, append(body, payload...))
}

// chunk returns a chunk with its header and its padding.
func chunk(kind, flags byte, body []byte) []byte {
	length := 4 + len(body)
	out := append([]byte{kind, flags, byte(length >> 8), byte(length)}, body...)
	return append(out, make([]byte, -length&3)...)
}

// sctpPacket returns a packet that contains the chunks and their checksum.
func sctpPacket(tag uint32, chunks []byte) []byte {
	packet := []byte{0x13, 0x88, 0x13, 0x88}
	packet = binary.BigEndian.AppendUint32(packet, tag)
	packet = append(append(packet, 0, 0, 0, 0), chunks...)
	binary.LittleEndian.PutUint32(packet[8:], crc32.Checksum(packet, crc32.MakeTable(crc32.Castagnoli)))
	return packet
}
