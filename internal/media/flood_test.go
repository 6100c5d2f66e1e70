package media_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"

	"parley/internal/media/mediatest"
	"parley/internal/room"
)

// heap returns how much memory the heap of a process takes, in MB.
func heap(t *testing.T, at string) int {
	t.Helper()
	res, err := http.Get(at + "/heap")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	mb, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return mb
}

// flooded starts a process for a flood, with somebody in it who is heard before
// and afterwards.
func flooded(t *testing.T) (at string, log *logBuffer, here *house, unharmed func()) {
	t.Helper()
	log = &logBuffer{}
	at, _ = launch(t, processConfig{Media: processMedia(t),
		Open: []room.MediaSession{{Name: "sound.1", Type: room.Audio, MaxParticipants: 50}}}, log)
	here = newHouse(t) // signs with the same secret
	ada := connect(t, at, here.pass(t, "sound.1", "ada", room.Audio))
	ben := connect(t, at, here.pass(t, "sound.1", "ben", room.Audio))
	publish(t, ada, "mic", mediatest.Microphone)
	await(t, ben, "ada", mediatest.Microphone)
	return at, log, here, func() {
		t.Helper()
		await(t, ben, "ada", mediatest.Microphone)
	}
}

// 25 MB of messages to five receivers that do not read: what waits for them is
// bounded, and whoever sends that much is disconnected.
func TestMessagesToReceiversThatDoNotRead(t *testing.T) {
	at, _, here, unharmed := flooded(t)
	for n := range 5 {
		slow := dial(t, at, here.pass(t, "sound.1", fmt.Sprint("slow-", n), room.Audio), mediatest.RawOptions{Stalled: true})
		if err := slow.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	before := heap(t, at)
	text := strings.Repeat("x", 14_000)
	sent := 0
	for round := 0; sent < 25<<20 && round < 50; round++ {
		eve := dial(t, at, here.pass(t, "sound.1", fmt.Sprint("eve-", round), room.Audio), mediatest.RawOptions{})
		if err := eve.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		for eve.Say(t.Context(), "chat", text) == nil && !eve.Closed() && sent < 25<<20 {
			sent += len(text)
		}
		if sent < 25<<20 {
			awaitEnd(t, eve.Participant, "USER_REJECTED")
		}
		eve.Vanish()
	}
	if sent < 25<<20 {
		t.Errorf("sent %d MB only", sent>>20)
	}
	if grown := heap(t, at) - before; grown > 100 {
		t.Errorf("%d MB of messages took %d MB of the heap", sent>>20, grown)
	}
	unharmed()
}

// Ten seconds of signaling that is not valid: the log and the memory stay small.
func TestInvalidSignaling(t *testing.T) {
	at, log, here, unharmed := flooded(t)
	before, logged := heap(t, at), len(log.String())
	offers := []*livekit.SignalRequest{
		{Message: &livekit.SignalRequest_Offer{Offer: &livekit.SessionDescription{Type: "offer", Sdp: strings.Repeat("A", 500_000)}}},
		{Message: &livekit.SignalRequest_Subscription{Subscription: &livekit.UpdateSubscription{
			TrackSids: strings.Fields(strings.Repeat("TR_x ", 100_000)), Subscribe: true}}},
		{},
	}
	sent, end := 0, time.Now().Add(10*time.Second)
	for round := 0; time.Now().Before(end); round++ {
		eve := dial(t, at, here.pass(t, "sound.1", fmt.Sprint("eve-", round), room.Audio), mediatest.RawOptions{})
		for eve.Request(offers[sent%len(offers)]) == nil && !eve.Closed() && time.Now().Before(end) {
			sent++
		}
		eve.Vanish()
	}
	t.Logf("%d requests", sent)
	if grown := heap(t, at) - before; grown > 100 {
		t.Errorf("the heap grew by %d MB", grown)
	}
	if grown := len(log.String()) - logged; grown > 1<<20 {
		t.Errorf("the log grew by %d kB", grown>>10)
	}
	if !log.has("refused", "kind=signal_request") {
		t.Error("the log does not tell what was refused")
	}
	unharmed()
}

// A participant that connects again and again has to wait.
func TestReconnectingWithoutEnd(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Video)
	token := h.pass(t, "r.1", "eve", room.Video)
	got := map[int]int{}
	for range 60 {
		got[h.get(t, "/rtc/validate", token)]++
	}
	if got[200] < 20 || got[200] > 35 || got[200]+got[429] != 60 {
		t.Errorf("answers: %v", got)
	}
	if status := h.get(t, "/rtc/validate", h.pass(t, "r.1", "ada", room.Video)); status != 200 {
		t.Errorf("somebody else is answered %d", status)
	}
}

// A line that repeats is logged so often only, and long values are cut.
func TestEngineLogIsBounded(t *testing.T) {
	h := newHouse(t)
	for range 1000 {
		h.engine.Log("could not parse what a guest sent", bytes.Repeat([]byte("x"), 100_000))
	}
	lines := strings.Count(h.log.String(), "could not parse what a guest sent")
	if lines == 0 || lines > 30 || len(h.log.String()) > 100_000 {
		t.Errorf("%d lines, %d bytes", lines, len(h.log.String()))
	}
}
