package media_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/livekit/protocol/livekit"
	"github.com/pion/rtp"

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
		ends bool // the participant is disconnected
		// within is the number of steps in which the limit must have an effect, before another
		// one of the same kind has; 0 for any number.
		within int
		// step is called until the limit has an effect.
		step func(eve *mediatest.Raw, track *mediatest.RawTrack, n int)
	}{
		{"data channels", "media_sources", true, 0, openChannel},
		{"data channels", "media_sources", true, 0, openKnownChannel},
		{"sources of packets", "media_sources", true, 0, sendSources},
		{"sources of packets", "media_sources", true, 0, sendSourcesAcrossRestarts},
		{"sources in reports", "media_sources", true, 0, sendReport},
		{"jumps of sequence numbers", "media_packets", true, 0, sendJumps},
		{"media packets", "media_packets", false, 0, sendPackets},
		{"bytes of reports", "media_packets", false, 0, repeatReport},
		{"tracks", "signal_rate", false, 100, subscribe},
		{"session descriptions", "signal_rate", false, 100, offerAgain},
		{"announcements", "signal_rate", false, 50, announce},
	}
	baseURL, log, signer, assertAudible := startFloodTarget(t)
	who := map[string]func(n int) (token string){
		"guest":        func(n int) string { return signer.accessToken(t, "sound.1", fmt.Sprint("guest-", n), room.Audio) },
		"locked guest": func(n int) string { return signer.accessToken(t, "sound.1", fmt.Sprint("locked-", n), room.Audio) },
		"connection check": func(n int) string {
			return getText(t, fmt.Sprintf("%s/check-token?network=192.0.2.%d/32", baseURL, n))
		},
	}
	for name, token := range who {
		for n, attack := range attacks {
			t.Run(name+"/"+attack.name, func(t *testing.T) {
				before, refusedBefore := heapMB(t, baseURL), refusedCount(t, baseURL, attack.kind)
				eve := dialRaw(t, baseURL, token(n), mediatest.RawOptions{})
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
				most, every := 20_000, 1000
				if attack.within > 0 {
					most, every = attack.within, attack.within
				}
				for step := 0; step < most && !eve.Closed(); step++ {
					attack.step(eve, track, step)
					if !attack.ends && step%every == every-1 && refusedCount(t, baseURL, attack.kind) > refusedBefore {
						break
					}
				}
				if attack.ends {
					awaitEnd(t, eve.Participant, "USER_REJECTED")
					testkit.Eventually(t, "the log says why", func() bool {
						return log.HasLine("participant disconnected", "too many "+attack.name+" of", "identity="+eve.Identity())
					})
				}
				testkit.Eventually(t, "a refusal of the kind "+attack.kind, func() bool {
					return refusedCount(t, baseURL, attack.kind) > refusedBefore
				})
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
	h := newFixture(t)
	h.openSession(t, "video", room.Video)
	for round := range 2 {
		var all []*mediatest.Participant
		for n := range 9 {
			p := h.join(t, "video", fmt.Sprint("person-", n), room.Video) // in the second round it replaces the first
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
	if h.log.HasLine("refused") || h.log.HasLine("participant disconnected") {
		t.Errorf("got the log\n%s\nwant no refusal", h.log)
	}
}

func openChannel(eve *mediatest.Raw, _ *mediatest.RawTrack, n int) {
	_ = eve.CreateDataChannel(fmt.Sprint("x", n))
}

func openKnownChannel(eve *mediatest.Raw, _ *mediatest.RawTrack, _ int) {
	_ = eve.CreateDataChannel("_reliable")
}

func sendSources(_ *mediatest.Raw, track *mediatest.RawTrack, n int) {
	header := &rtp.Header{Version: 2, PayloadType: 111, SSRC: uint32(1_000_000 + n), SequenceNumber: 1}
	_ = track.Send(header, make([]byte, 100))
}

func sendPackets(_ *mediatest.Raw, track *mediatest.RawTrack, n int) {
	header := &rtp.Header{Version: 2, PayloadType: 111, SSRC: 77, SequenceNumber: uint16(n)}
	_ = track.Send(header, make([]byte, 100))
}

func repeatReport(eve *mediatest.Raw, track *mediatest.RawTrack, _ int) { sendReport(eve, track, 0) }

// sendSourcesAcrossRestarts restarts ICE before the sources of one connection are too many.
func sendSourcesAcrossRestarts(eve *mediatest.Raw, track *mediatest.RawTrack, n int) {
	if n%150 == 149 {
		_ = eve.RestartICE(context.Background())
	}
	sendSources(eve, track, n)
}

// sendReport sends one REMB packet (draft-alvestrand-rmcat-remb) that names 250 sources.
func sendReport(eve *mediatest.Raw, _ *mediatest.RawTrack, n int) {
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

func subscribe(eve *mediatest.Raw, _ *mediatest.RawTrack, n int) {
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("TR_%d_%d", n, i)
	}
	_ = eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{
		Subscription: &livekit.UpdateSubscription{TrackSids: ids, Subscribe: true}}})
}

func offerAgain(eve *mediatest.Raw, _ *mediatest.RawTrack, n int) {
	_ = eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Offer{
		Offer: &livekit.SessionDescription{Type: "offer", Sdp: eve.Description(), Id: uint32(1000 + n)}}})
}

func announce(eve *mediatest.Raw, _ *mediatest.RawTrack, n int) {
	_ = eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_AddTrack{
		AddTrack: &livekit.AddTrackRequest{Cid: fmt.Sprint("cid-", n), Name: "mic", Type: livekit.TrackType_AUDIO,
			Source: livekit.TrackSource_MICROPHONE}}})
}

func sendJumps(_ *mediatest.Raw, track *mediatest.RawTrack, n int) {
	header := &rtp.Header{Version: 2, PayloadType: 111, SSRC: 77, SequenceNumber: uint16(n) * 30_000}
	_ = track.Send(header, make([]byte, 100))
}
