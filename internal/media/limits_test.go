package media_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"
	"github.com/pion/rtp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// Every limit of a media connection holds for a guest, for a guest without permissions, and for a
// connection check. The server does not grow, and counts what it refuses. It disconnects the
// participant after many refusals, and the log has the reason and the identity.
func TestLimits(t *testing.T) {
	attacks := []struct {
		name string // as the reason has it
		kind string
		ends ending
		only string // who can reach the limit; empty for everybody
		// within is the number of steps in which the limit must have an effect, before another
		// one of the same kind has; 0 for any number.
		within int
		// step is called until the limit has an effect.
		step func(eve attacker, n int)
	}{
		{"data channels", "media_sources", disconnected, "", 0, openChannel},
		{"data channels", "media_sources", disconnected, "", 0, openKnownChannel},
		{"sources of packets", "media_sources", disconnected, "", 0, sendSources},
		{"sources of packets", "media_sources", disconnected, "", 0, sendSourcesAcrossRestarts},
		{"sources in reports", "media_sources", disconnected, "", 0, sendReport},
		{"jumps of sequence numbers", "media_packets", disconnected, "", 0, sendJumps},
		{"media packets", "media_packets", stays, "", 0, sendPackets},
		{"bytes of reports", "media_packets", stays, "", 0, repeatReport},
		{"bytes of packets with messages", "media_packets", stays, "", 0, sendRecords},
		{"connectivity checks", "media_packets", stays, "", 0, check},
		// LiveKit drops the messages of the others before it parses them.
		{"messages", "data_rate", disconnected, "guest", 0, sendMessage},
		{"bytes in messages", "data_rate", disconnected, "guest", 0, sendLongMessage},
		{"requests", "signal_rate", rejected, "", 0, ping},
		{"candidates", "signal_rate", rejected, "", 0, trickle},
		{"bytes of signaling", "signal_rate", cut, "", 0, pingAtLength},
		{"tracks", "signal_rate", stays, "", 100, subscribe},
		{"tracks", "signal_rate", stays, "", 100, syncState},
		{"session descriptions", "signal_rate", stays, "", 100, offerAgain},
		{"announcements", "signal_rate", stays, "", 50, announce},
	}
	baseURL, log, signer, assertAudible := startFloodTarget(t)
	newAttackerToken := map[string]func(n int) string{
		"guest":        func(n int) string { return signer.accessToken(t, "sound.1", fmt.Sprint("guest-", n), room.Audio) },
		"locked guest": func(n int) string { return signer.accessToken(t, "sound.1", fmt.Sprint("locked-", n), room.Audio) },
		"connection check": func(n int) string {
			return getText(t, fmt.Sprintf("%s/check-token?network=198.18.%d.%d/32", baseURL, n/256, n%256))
		},
	}
	for name, token := range newAttackerToken {
		attackers := 0
		for _, attack := range attacks {
			if attack.only != "" && attack.only != name {
				continue
			}
			t.Run(name+"/"+attack.name, func(t *testing.T) {
				before, refusedBefore := heapMB(t, baseURL), refusedCount(t, baseURL, attack.kind)
				refused := func() int { return refusedCount(t, baseURL, attack.kind) - refusedBefore }
				most, every := 100_000, 1000
				if attack.within > 0 {
					most, every = attack.within, attack.within
				}
				enough := 1
				if attack.ends == rejected {
					every, enough = 50, maxRefusedRequests
				}
				// Each attempt is of somebody else: nobody may connect too often.
				attempt := func() attacker {
					attackers++
					eve, already := newAttacker(t, baseURL, token(attackers)), refused()
					for step := 0; step < most && !eve.Closed(); step++ {
						attack.step(eve, step)
						if attack.ends != disconnected && step%every == every-1 && refused()-already >= enough {
							break
						}
					}
					return eve
				}
				eve := attempt()
				testkit.Eventually(t, "a refusal of the kind "+attack.kind, func() bool { return refused() > 0 })
				switch attack.ends {
				case disconnected:
					awaitEnd(t, eve.Participant, "USER_REJECTED")
					awaitDisconnection(t, log, eve, "too many "+attack.name+" of one participant")
				case rejected:
					reason := "too many " + attack.name + " on one connection"
					// Requests that the server has not read may keep the reason from arriving. LiveKit closes a
					// connection whose requests are read too slowly, before they are refused.
					var ended time.Time
					testkit.Eventually(t, "the log says why", func() bool {
						if ended.IsZero() && eve.Closed() {
							ended = time.Now()
						}
						if !ended.IsZero() && time.Since(ended) > time.Second && !isDisconnected(log, eve, reason) {
							eve.Abort()
							eve, ended = attempt(), time.Time{}
						}
						return isDisconnected(log, eve, reason)
					})
				case cut:
					testkit.Eventually(t, "the connection ends", eve.Closed)
				}
				grown := heapMB(t, baseURL) - before
				t.Logf("heap growth: %d MB", grown)
				if grown > 150 {
					t.Errorf("heap growth: got %d MB, want at most 150 MB", grown)
				}
				eve.Abort()
				assertAudible()
			})
		}
	}
}

// ending says what a limit does to a participant.
type ending int

const (
	stays        ending = iota // refuses only
	disconnected               // disconnects the participant and says why
	rejected                   // disconnects the participant after maxRefusedRequests requests
	cut                        // closes the connection of the signaling
)

// maxRefusedRequests is the number of refused requests after which the server disconnects a
// participant.
const maxRefusedRequests = 20

// attacker is a participant with all that a step needs.
type attacker struct {
	*mediatest.Raw
	track *mediatest.RawTrack
	side  *mediatest.Side
}

func newAttacker(t *testing.T, baseURL, token string) attacker {
	t.Helper()
	eve := dialRaw(t, baseURL, token, mediatest.RawOptions{})
	if err := eve.AwaitConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := eve.OpenDataChannel(t.Context(), "_reliable", nil); err != nil {
		t.Fatal(err)
	}
	track, err := eve.OpenUnannounced()
	if err != nil {
		t.Fatal(err)
	}
	side, err := eve.OpenSide()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = side.Close() })
	return attacker{eve, track, side}
}

func awaitDisconnection(t *testing.T, log *testkit.Buffer, eve attacker, reason string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("log of the server:\n%s", log.Tail(5000))
		}
	}()
	testkit.Eventually(t, "the log says why", func() bool { return isDisconnected(log, eve, reason) })
}

// isDisconnected reports whether the log says that a participant was disconnected for a reason.
func isDisconnected(log *testkit.Buffer, eve attacker, reason string) bool {
	return log.HasLine("participant disconnected", reason, "identity="+eve.Identity())
}

// refusedCount returns the metric of the refusals of a kind.
func refusedCount(t *testing.T, baseURL, kind string) int {
	t.Helper()
	_, after, found := strings.Cut(getText(t, baseURL+"/metrics"), `parley_refusals_total{kind="`+kind+`"} `)
	text, _, _ := strings.Cut(after, "\n")
	count, err := strconv.Atoi(text)
	if !found || err != nil {
		t.Fatalf("refusals of the kind %s: got %q, want a number", kind, text)
	}
	return count
}

// Nine people who talk, show themselves, share a screen, mute, and connect again meet no limit.
func TestLimits_HonestMeeting(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "video", room.Video)
	for round := range 2 {
		var all []*mediatest.Participant
		for n := range 9 {
			p := f.join(t, "video", fmt.Sprint("person-", n), room.Video) // in the second round it replaces the first
			publish(t, p, "mic", mediatest.Microphone)
			publish(t, p, "cam", mediatest.Camera)
			all = append(all, p)
		}
		publish(t, all[round], "screen", mediatest.ScreenShare)
		for n, p := range all {
			awaitPackets(t, p, fmt.Sprint("person-", (n+1)%len(all)), mediatest.Camera)
			awaitPackets(t, p, fmt.Sprint("person-", (n+1)%len(all)), mediatest.Microphone)
		}
	}
	if f.log.HasLine("refused") || f.log.HasLine("participant disconnected") {
		t.Errorf("got the log\n%s\nwant no refusal", f.log)
	}
}

func openChannel(eve attacker, n int) {
	_ = eve.CreateDataChannel(fmt.Sprint("x", n))
}

func openKnownChannel(eve attacker, _ int) {
	_ = eve.CreateDataChannel("_reliable")
}

func sendSources(eve attacker, n int) {
	header := &rtp.Header{Version: 2, PayloadType: 111, SSRC: uint32(1_000_000 + n), SequenceNumber: 1}
	_ = eve.track.Send(header, make([]byte, 100))
}

func sendPackets(eve attacker, n int) {
	header := &rtp.Header{Version: 2, PayloadType: 111, SSRC: 77, SequenceNumber: uint16(n)}
	_ = eve.track.Send(header, make([]byte, 100))
}

func repeatReport(eve attacker, _ int) { sendReport(eve, 0) }

// sendSourcesAcrossRestarts restarts ICE before the sources of one connection are too many.
func sendSourcesAcrossRestarts(eve attacker, n int) {
	if n%150 == 149 {
		_ = eve.RestartICE(context.Background())
	}
	sendSources(eve, n)
}

// sendReport sends one REMB packet (draft-alvestrand-rmcat-remb) that names 250 sources.
func sendReport(eve attacker, n int) {
	const sources = 250
	packet := make([]byte, 20+4*sources)
	packet[0], packet[1] = 0x80|15, 206
	binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)/4-1))
	binary.BigEndian.PutUint32(packet[4:], 1)
	copy(packet[12:], "REMB")
	packet[16] = sources
	for i := range sources {
		binary.BigEndian.PutUint32(packet[20+4*i:], uint32(n*sources+i+1))
	}
	_ = eve.WriteRTCP(packet)
}

func subscribe(eve attacker, n int) {
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("TR_%d_%d", n, i)
	}
	_ = eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{
		Subscription: &livekit.UpdateSubscription{TrackSids: ids, Subscribe: true}}})
}

func syncState(eve attacker, n int) {
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("TR_%d_%d", n, i)
	}
	_ = eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_SyncState{
		SyncState: &livekit.SyncState{Subscription: &livekit.UpdateSubscription{TrackSids: ids, Subscribe: true}}}})
}

func offerAgain(eve attacker, n int) {
	_ = eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Offer{
		Offer: &livekit.SessionDescription{Type: "offer", Sdp: eve.Description(), Id: uint32(1000 + n)}}})
}

func announce(eve attacker, n int) {
	_ = eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_AddTrack{
		AddTrack: &livekit.AddTrackRequest{Cid: fmt.Sprint("cid-", n), Name: "mic", Type: livekit.TrackType_AUDIO,
			Source: livekit.TrackSource_MICROPHONE}}})
}

func sendJumps(eve attacker, n int) {
	header := &rtp.Header{Version: 2, PayloadType: 111, SSRC: 77, SequenceNumber: uint16(n) * 30_000}
	_ = eve.track.Send(header, make([]byte, 100))
}

func check(eve attacker, _ int) { _ = eve.side.Check() }

// sendRecords sends what looks like an encrypted message (RFC 9147, section 4).
func sendRecords(eve attacker, n int) {
	if n%100 == 0 { // makes the server take packets from there, and waits until it has read the ones before
		_ = eve.side.AwaitCheck(context.Background())
	}
	record := make([]byte, 1200)
	record[0] = 23
	_ = eve.side.Send(record)
}

func sendMessage(eve attacker, _ int) { _ = eve.SendData(context.Background(), "chat", "x") }

func sendLongMessage(eve attacker, _ int) {
	_ = eve.SendData(context.Background(), "chat", strings.Repeat("x", 60_000))
}

func ping(eve attacker, n int) { _ = eve.SendRequest(pingRequest(n)) }

func pingRequest(n int) *livekit.SignalRequest {
	return &livekit.SignalRequest{Message: &livekit.SignalRequest_PingReq{PingReq: &livekit.Ping{Timestamp: int64(n + 1)}}}
}

// pingAtLength sends a request that is long because of a field that nobody knows.
func pingAtLength(eve attacker, n int) {
	data, err := proto.Marshal(pingRequest(n))
	if err != nil {
		panic(err)
	}
	data = protowire.AppendTag(data, 1000, protowire.BytesType)
	_ = eve.Write(protowire.AppendBytes(data, make([]byte, 100_000)))
}

func trickle(eve attacker, n int) {
	candidate := fmt.Sprintf(`{"candidate":"candidate:1 1 udp 1 127.0.0.1 %d typ host","sdpMid":"0","sdpMLineIndex":0}`, 1+n%65_000)
	_ = eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Trickle{
		Trickle: &livekit.TrickleRequest{CandidateInit: candidate, Target: livekit.SignalTarget_PUBLISHER}}})
}
