package hostile

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// TestLimits_StalledReceivers sends 25 MB of messages to five receivers that do not read.
func TestLimits_StalledReceivers(t *testing.T) {
	p := startServer(t)
	m := p.createRoom(room.Audio, 20)
	for range 5 {
		stalled := m.dial(m.newGuestSeat("Stalled"), mediatest.RawOptions{Stalled: true})
		if err := stalled.AwaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	before := p.memory()
	highest := before
	const size = 15_000
	for sent := 0; sent < 25*megabyte; {
		// The server may disconnect a participant that sends too much. Then the next one
		// continues.
		eve := m.dial(m.newGuestSeat("Eve"), mediatest.RawOptions{})
		if err := eve.AwaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		channel, err := eve.OpenDataChannel(t.Context(), "_reliable", nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := proto.Marshal(&livekit.DataPacket{Value: &livekit.DataPacket_User{
			User: &livekit.UserPacket{Payload: make([]byte, size)}}})
		if err != nil {
			t.Fatal(err)
		}
		for sent < 25*megabyte && !eve.Closed() {
			if channel.BufferedAmount() > megabyte {
				time.Sleep(time.Millisecond) // paces the load
				continue
			}
			if channel.Send(data) != nil {
				break
			}
			sent += size
		}
		highest = max(highest, p.memory())
		eve.Abort()
	}
	time.Sleep(time.Second) // the memory must not grow in this time
	highest = max(highest, p.memory())
	t.Logf("memory %.0f MB before, at most %.0f MB", before/megabyte, highest/megabyte)
	if grown := highest - before; grown > 100*megabyte {
		t.Errorf("memory has grown by %.0f MB, want at most 100 MB", grown/megabyte)
	}
	p.assertAlive(t)
}

// TestLimits_InvalidSignaling sends invalid session descriptions as one guest for ten
// seconds, and connects again after each disconnection.
func TestLimits_InvalidSignaling(t *testing.T) {
	p := startServer(t)
	m := p.createRoom(room.Audio, 20)
	witness := m.startWitness()
	s := m.newGuestSeat("Eve")
	log, before := p.Log.Len(), p.metric("go_memstats_heap_alloc_bytes")
	highest, requests := before, 0
	invalid := &livekit.SignalRequest{Message: &livekit.SignalRequest_Offer{
		Offer: &livekit.SessionDescription{Type: "offer", Sdp: strings.Repeat("x", 500_000)}}}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		eve, err := mediatest.Dial(t.Context(), p.URL, s.Token, mediatest.RawOptions{HalfConnected: true})
		if err != nil {
			time.Sleep(100 * time.Millisecond) // paces the connections that are refused
			continue
		}
		for time.Now().Before(end) && !eve.Closed() && eve.SendRequest(invalid) == nil {
			requests++
		}
		highest = max(highest, p.metric("go_memstats_heap_alloc_bytes"))
		eve.Abort()
	}
	time.Sleep(200 * time.Millisecond) // the heap and the log must not grow in this time
	grown, written := max(highest, p.metric("go_memstats_heap_alloc_bytes"))-before, p.Log.Len()-log
	t.Logf("%d requests: heap +%.1f MB, log +%d bytes", requests, grown/megabyte, written)
	if written > megabyte {
		t.Errorf("log: got %d bytes, want at most 1 MB", written)
	}
	if grown > 100*megabyte {
		t.Errorf("heap: grown by %.0f MB, want at most 100 MB", grown/megabyte)
	}
	if requests == 0 {
		t.Error("sent requests: got none, want at least one")
	}
	witness.assertHeard(t)
}

// TestLimits_Subscriptions subscribes to 300,000 tracks that do not exist.
func TestLimits_Subscriptions(t *testing.T) {
	p := startServer(t)
	m := p.createRoom(room.Audio, 20)
	before := p.heap()
	eve := m.dial(m.newGuestSeat("Eve"), mediatest.RawOptions{})
	sent := 0
	for batch := range 300 {
		update := &livekit.UpdateSubscription{Subscribe: true}
		for i := range 1000 {
			update.TrackSids = append(update.TrackSids, fmt.Sprintf("TR_%d", batch*1000+i))
		}
		req := &livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{Subscription: update}}
		if eve.SendRequest(req) != nil {
			break
		}
		sent++
	}
	if sent == 0 {
		t.Error("the server got no subscription")
	}
	time.Sleep(500 * time.Millisecond) // the heap must not grow in this time
	grown := p.heap() - before
	t.Logf("heap +%.1f MB", grown/megabyte)
	if grown > 100*megabyte {
		t.Errorf("300,000 track ids: heap grown by %.0f MB, want at most 100 MB", grown/megabyte)
	}
	p.assertAlive(t)
}

// TestLimits_Tracks publishes 60 microphones as one guest.
func TestLimits_Tracks(t *testing.T) {
	p := startServer(t)
	m := p.createRoom(room.Audio, 20)
	_, host := m.joinAsHost()
	s := m.newGuestSeat("Eve")
	eve := m.dial(s, mediatest.RawOptions{})
	if err := eve.AwaitConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	highest := 0
	watch := func() {
		if seen, found := host.RemoteParticipant(s.Identity); found {
			highest = max(highest, len(seen.Tracks))
		}
	}
	for n := range 60 {
		add := &livekit.AddTrackRequest{
			Cid: fmt.Sprintf("mic%d", n), Type: livekit.TrackType_AUDIO, Source: livekit.TrackSource_MICROPHONE}
		err := eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_AddTrack{AddTrack: add}})
		if err != nil {
			break
		}
		_ = eve.StartTrack(t.Context(), fmt.Sprintf("mic%d", n), mediatest.Audio)
		watch()
		if eve.Closed() {
			break
		}
	}
	// No more tracks may appear in the next second.
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		watch()
	}
	// A new track replaces the old one, and for a moment both exist.
	testkit.Eventually(t, "at most one track is left", func() bool {
		watch()
		seen, found := host.RemoteParticipant(s.Identity)
		return !found || len(seen.Tracks) <= 1
	})
	if highest < 1 || highest > 2 {
		t.Errorf("microphones of one guest: got at most %d at once, want 1 or 2", highest)
	}
}

// TestLimits_MetricLabels connects with 150 unknown protocol numbers.
func TestLimits_MetricLabels(t *testing.T) {
	p := startServer(t)
	m := p.createRoom(room.Audio, 300)
	connect := func(protocol int) {
		s, err := m.reserveSeat("Eve", "")
		if err != nil {
			t.Fatal(err)
		}
		eve, err := mediatest.Dial(t.Context(), p.URL, s.Token, mediatest.RawOptions{
			HalfConnected: true, Query: url.Values{"protocol": {fmt.Sprint(protocol)}}})
		if err == nil {
			eve.Abort()
		}
	}
	names := func() map[string]bool {
		all := map[string]bool{}
		for _, line := range p.metrics() {
			all[line[:strings.LastIndexByte(line, ' ')]] = true
		}
		return all
	}
	connect(16)
	connect(15)
	connect(1_000_000) // creates the label of unknown protocols
	before := names()
	for n := range 150 {
		connect(1000 + n)
	}
	var fresh []string
	for name := range names() {
		if !before[name] && strings.Contains(name, "protocol") {
			fresh = append(fresh, name)
		}
	}
	if len(fresh) > 0 {
		t.Errorf("got %d new metric lines, such as %s, want 0", len(fresh), fresh[0])
	}
}

// TestLimits_Reconnections connects one seat as often as possible for five seconds.
func TestLimits_Reconnections(t *testing.T) {
	p := startServer(t)
	m := p.createRoom(room.Audio, 20)
	s := m.newGuestSeat("Eve")
	connected, refused := 0, 0
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end) && refused == 0 && connected < 100; {
		eve, err := mediatest.Dial(t.Context(), p.URL, s.Token, mediatest.RawOptions{HalfConnected: true})
		var refusal *mediatest.RefusedError
		switch {
		case errors.As(err, &refusal):
			refused++
		case err != nil:
			t.Fatal(err)
		default:
			connected++
			eve.Abort()
		}
	}
	t.Logf("%d connections, then refused: %v", connected, refused > 0)
	if refused == 0 && connected > 40 {
		t.Errorf("one seat connected %d times in five seconds, want at most 40", connected)
	}
	honest := m.dial(m.newGuestSeat("Ada"), mediatest.RawOptions{})
	if err := honest.AwaitConnected(t.Context()); err != nil {
		t.Errorf("connect another guest after the reconnections: got error %v, want none", err)
	}
}
