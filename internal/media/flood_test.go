package media_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// heapMB returns how much memory the heap of a process takes, in MB.
func heapMB(t *testing.T, baseURL string) int {
	t.Helper()
	text := getText(t, baseURL+"/heap")
	mb, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("GET /heap: got %q, want a number", text)
	}
	return mb
}

// getText requests a URL of a test process.
func getText(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: got status %d, %q, %v, want 200", url, res.StatusCode, text, err)
	}
	return string(text)
}

// startFloodTarget starts a process for a flood. The fixture signs with the same secret, and
// assertAudible checks that two participants of the process still hear each other.
func startFloodTarget(t *testing.T) (baseURL string, log *testkit.Buffer, signer *fixture, assertAudible func()) {
	t.Helper()
	log = &testkit.Buffer{}
	var locked []string
	for n := range 200 {
		locked = append(locked, fmt.Sprint("locked-", n))
	}
	baseURL, _ = startLoggedProcess(t, processConfig{UDPPort: testkit.FreeUDPPort(t), Locked: locked,
		Sessions: []room.MediaSession{{Name: "sound.1", Type: room.Audio, MaxParticipants: 100}}}, log)
	signer = newFixture(t) // signs with the same secret
	ada := joinWithToken(t, baseURL, signer.accessToken(t, "sound.1", "ada", room.Audio))
	ben := joinWithToken(t, baseURL, signer.accessToken(t, "sound.1", "ben", room.Audio))
	publish(t, ada, "mic", mediatest.Microphone)
	awaitPackets(t, ben, "ada", mediatest.Microphone)
	return baseURL, log, signer, func() {
		t.Helper()
		awaitPackets(t, ben, "ada", mediatest.Microphone)
	}
}

// 25 MB of messages go to five receivers that do not read. The buffers of the receivers are
// bounded, and the sender is disconnected.
func TestDataMessages_StalledReceivers(t *testing.T) {
	baseURL, _, signer, assertAudible := startFloodTarget(t)
	for n := range 5 {
		slow := dialRaw(t, baseURL, signer.accessToken(t, "sound.1", fmt.Sprint("slow-", n), room.Audio),
			mediatest.RawOptions{Stalled: true})
		if err := slow.AwaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	before := heapMB(t, baseURL)
	text := strings.Repeat("x", 14_000)
	sent := 0
	for round := 0; sent < 25<<20 && round < 50; round++ {
		eve := dialRaw(t, baseURL, signer.accessToken(t, "sound.1", fmt.Sprint("eve-", round), room.Audio),
			mediatest.RawOptions{})
		if err := eve.AwaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		for eve.SendData(t.Context(), "chat", text) == nil && !eve.Closed() && sent < 25<<20 {
			sent += len(text)
		}
		if sent < 25<<20 {
			awaitEnd(t, eve.Participant, "USER_REJECTED")
		}
		eve.Abort()
	}
	if sent < 25<<20 {
		t.Errorf("sent only %d MB, want 25", sent>>20)
	}
	if grown := heapMB(t, baseURL) - before; grown > 100 {
		t.Errorf("heap growth after %d MB of messages: got %d MB, want at most 100 MB", sent>>20, grown)
	}
	assertAudible()
}

// Metrics are never forwarded, but parsing them takes time, so who sends many is disconnected.
func TestDataMessages_Metrics(t *testing.T) {
	baseURL, _, signer, assertAudible := startFloodTarget(t)
	eve := dialRaw(t, baseURL, signer.accessToken(t, "sound.1", "eve", room.Audio), mediatest.RawOptions{})
	if err := eve.AwaitConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	channel, err := eve.OpenDataChannel(t.Context(), "_reliable", nil)
	if err != nil {
		t.Fatal(err)
	}
	batch := &livekit.MetricsBatch{StrData: slices.Repeat([]string{"metric"}, 500)}
	data, err := proto.Marshal(&livekit.DataPacket{Value: &livekit.DataPacket_Metrics{Metrics: batch}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		if channel.Send(data) != nil || eve.Closed() {
			break
		}
	}
	awaitEnd(t, eve.Participant, "USER_REJECTED")
	assertAudible()
}

// After ten seconds of invalid signaling from five seats, the log and the memory are still
// small.
func TestSignaling_Invalid(t *testing.T) {
	testkit.Slow(t)
	baseURL, log, signer, assertAudible := startFloodTarget(t)
	before, logged := heapMB(t, baseURL), len(log.String())
	offers := []*livekit.SignalRequest{
		{Message: &livekit.SignalRequest_Offer{Offer: &livekit.SessionDescription{
			Type: "offer", Sdp: strings.Repeat("A", 500_000)}}},
		{Message: &livekit.SignalRequest_Subscription{Subscription: &livekit.UpdateSubscription{
			TrackSids: strings.Fields(strings.Repeat("TR_x ", 100_000)), Subscribe: true}}},
		{},
	}
	sent, end := 0, time.Now().Add(10*time.Second)
	for round := 0; time.Now().Before(end); round++ {
		eve, err := mediatest.Dial(t.Context(), baseURL, signer.accessToken(t, "sound.1", fmt.Sprint("eve-", round%5),
			room.Audio), mediatest.RawOptions{})
		if err != nil { // too many connections of this seat
			time.Sleep(50 * time.Millisecond) // paces the connections that are refused
			continue
		}
		for eve.SendRequest(offers[sent%len(offers)]) == nil && !eve.Closed() && time.Now().Before(end) {
			sent++
		}
		eve.Abort()
	}
	t.Logf("%d requests", sent)
	if grown := heapMB(t, baseURL) - before; grown > 100 {
		t.Errorf("heap growth after %d requests: got %d MB, want at most 100 MB", sent, grown)
	}
	if grown := len(log.String()) - logged; grown > 1<<20 {
		t.Errorf("log growth after %d requests: got %d kB, want at most 1024 kB", sent, grown>>10)
	}
	if !log.HasLine("refused", "kind=signal_request") {
		t.Errorf("log of %d bytes: got no line with refused and kind=signal_request, want one", len(log.String()))
	}
	assertAudible()
}

// Messages with many empty fields, which become three hundred times as large when they are
// parsed, are refused before they are parsed.
func TestSignaling_ManyEmptyFields(t *testing.T) {
	baseURL, log, signer, assertAudible := startFloodTarget(t)
	watcher := joinWithToken(t, baseURL, signer.accessToken(t, "sound.1", "watcher", room.Audio))
	before, highest := heapMB(t, baseURL), 0
	state := &livekit.SyncState{PublishTracks: make([]*livekit.TrackPublishedResponse, 250_000)}
	for i := range state.PublishTracks {
		state.PublishTracks[i] = &livekit.TrackPublishedResponse{Track: &livekit.TrackInfo{}}
	}
	for round := range 5 {
		eve := dialRaw(t, baseURL, signer.accessToken(t, "sound.1", fmt.Sprint("eve-", round), room.Audio),
			mediatest.RawOptions{})
		_ = eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_SyncState{SyncState: state}})
		testkit.Eventually(t, "the connection ends", eve.Closed)
		highest = max(highest, heapMB(t, baseURL))
	}
	testkit.Eventually(t, "eve is disconnected", func() bool {
		return !slices.ContainsFunc(watcher.RemoteParticipants(), func(o mediatest.RemoteParticipant) bool {
			return strings.HasPrefix(o.Identity, "eve")
		})
	})
	if grown := highest - before; grown > 50 {
		t.Errorf("heap growth: got %d MB, want at most 50 MB", grown)
	}
	if !log.HasLine("refused", "kind=signal_request", "fields") {
		t.Errorf("log of %d bytes: got no line with refused, kind=signal_request and fields, want one", len(log.String()))
	}
	assertAudible()
}

// LiveKit keeps no records of tracks that do not exist, even if a participant names them
// on many connections.
func TestSubscription_UnknownTracks(t *testing.T) {
	baseURL, _, signer, assertAudible := startFloodTarget(t)
	token := signer.accessToken(t, "sound.1", "eve", room.Audio)
	eve := dialRaw(t, baseURL, token, mediatest.RawOptions{})
	if err := eve.AwaitConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := heapMB(t, baseURL)
	resumed := eve
	for round := range 20 {
		sids := func(n int) (all []string) {
			for i := range 2400 {
				all = append(all, fmt.Sprintf("TR_%d_%d_%d", round, n, i))
			}
			return all
		}
		if resumed.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{
			Subscription: &livekit.UpdateSubscription{TrackSids: sids(0), Subscribe: true}}}) != nil ||
			resumed.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_TrackSetting{
				TrackSetting: &livekit.UpdateTrackSettings{TrackSids: sids(1)}}}) != nil {
			t.Fatalf("subscription requests in round %d: got an error, want both sent", round)
		}
		// The offer stays unanswered, because the answer could arrive on the next connection.
		resumed = dialRaw(t, baseURL, token, mediatest.RawOptions{HalfConnected: true,
			Query: url.Values{"reconnect": {"1"}, "sid": {eve.SID()}}})
	}
	if grown := heapMB(t, baseURL) - before; grown > 30 {
		t.Errorf("heap growth: got %d MB, want at most 30 MB", grown)
	}
	assertAudible()
}

// A participant may name the tracks that others publish.
func TestSubscription_ExistingTracks(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "sound", room.Audio)
	ada, ben := f.join(t, "sound", "ada", room.Audio), f.join(t, "sound", "ben", room.Audio)
	publish(t, ada, "mic", mediatest.Microphone)
	awaitPackets(t, ben, "ada", mediatest.Microphone)
	seen, _ := ben.RemoteParticipant("ada")
	setSubscribed := func(subscribe bool) {
		t.Helper()
		if err := ben.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{
			Subscription: &livekit.UpdateSubscription{TrackSids: append([]string{"TR_none"}, seen.TrackSIDs...),
				Subscribe: subscribe}}}); err != nil {
			t.Fatal(err)
		}
	}
	setSubscribed(false)
	heard := func() int { return ben.ReceivedFrom("ada", mediatest.Microphone) }
	awaitNoPackets(t, "ben hears nothing", ada, mediatest.Audio, heard)
	setSubscribed(true)
	awaitPackets(t, ben, "ada", mediatest.Microphone)
}

// A participant that connects too often gets the status 429.
func TestConnections_RateLimited(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	token := f.accessToken(t, "r.1", "eve", room.Video)
	got := map[int]int{}
	for range 60 {
		got[f.getStatus(t, "/rtc/validate", token)]++
	}
	if got[200] < 20 || got[200] > 35 || got[200]+got[429] != 60 {
		t.Errorf("got statuses %v, want 20 to 35 of 200 and the rest 429", got)
	}
	if status := f.getStatus(t, "/rtc/validate", f.accessToken(t, "r.1", "ada", room.Video)); status != 200 {
		t.Errorf("got status %d for another participant, want 200", status)
	}
}

// The engine limits how often it logs the same text, and truncates long values.
func TestEngineLog_RateLimited(t *testing.T) {
	f := newFixture(t)
	for n := range 1000 {
		f.engine.LogWarning(fmt.Sprintf("could not parse what a guest sent as %d", n), bytes.Repeat([]byte("x"), 100_000))
	}
	lines := strings.Count(f.log.String(), "could not parse what a guest sent")
	if lines == 0 || lines > 30 || len(f.log.String()) > 100_000 {
		t.Errorf("got %d lines, %d bytes, want 1 to 30 lines and at most 100,000 bytes", lines, len(f.log.String()))
	}
}
