package media

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/livekit/protocol/livekit"
	"golang.org/x/time/rate"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"parley/internal/media/signalfilter"
	"parley/internal/refusal"
)

// maskedFrame builds a masked frame as a browser sends it.
func maskedFrame(opcode byte, final bool, payload []byte) []byte {
	head := []byte{opcode, 0x80}
	if final {
		head[0] |= 0x80
	}
	switch size := len(payload); {
	case size < 126:
		head[1] |= byte(size)
	case size < 1<<16:
		head[1] |= 126
		head = append(head, byte(size>>8), byte(size))
	default:
		head[1] |= 127
		head = append(head, 0, 0, 0, 0, byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
	}
	mask := []byte{1, 2, 3, 4}
	masked := slices.Clone(payload)
	for i := range masked {
		masked[i] ^= mask[i%4]
	}
	return append(append(head, mask...), masked...)
}

// messageOfSize returns an encoded message of a size with one field.
func messageOfSize(size int) []byte {
	if size == 0 {
		return nil
	}
	for content := size - 2; content >= 0; content-- {
		if b := protowire.AppendBytes(protowire.AppendTag(nil, 100, protowire.BytesType),
			make([]byte, content)); len(b) == size {
			return b
		}
	}
	panic("no message has this size")
}

// syncStateWithTracks returns an encoded request with the state of a participant that
// publishes n empty tracks, each of which has two bytes and one field.
func syncStateWithTracks(t *testing.T, n int) []byte {
	t.Helper()
	state := &livekit.SyncState{PublishTracks: make([]*livekit.TrackPublishedResponse, n)}
	for i := range state.PublishTracks {
		state.PublishTracks[i] = &livekit.TrackPublishedResponse{}
	}
	b, err := proto.Marshal(&livekit.SignalRequest{Message: &livekit.SignalRequest_SyncState{SyncState: state}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFilteredConn_Messages(t *testing.T) {
	const text, binary, more, ping = websocket.TextMessage, websocket.BinaryMessage, 0, websocket.PingMessage
	big := messageOfSize(maxMessageBytes)
	many, tooMany := syncStateWithTracks(t, signalfilter.MaxFields-1), syncStateWithTracks(t, signalfilter.MaxFields)
	half := len(big) / 2
	for name, c := range map[string]struct {
		frames [][]byte
		refuse string // part of the reason; empty: all pass
	}{
		"small ones": {[][]byte{maskedFrame(binary, true, nil), maskedFrame(ping, true, make([]byte, 125)),
			maskedFrame(binary, true, messageOfSize(126)), maskedFrame(binary, true, messageOfSize(70_000))}, ""},
		"as long as it may be": {[][]byte{maskedFrame(binary, true, big), maskedFrame(binary, true, big)}, ""},
		"too long":             {[][]byte{maskedFrame(binary, true, messageOfSize(5)), maskedFrame(binary, true, messageOfSize(maxMessageBytes+1))}, "bytes"},
		"in pieces":            {[][]byte{maskedFrame(binary, false, big[:half]), maskedFrame(ping, true, []byte("ping")), maskedFrame(more, true, big[half:])}, ""},
		"too long in pieces":   {[][]byte{maskedFrame(binary, false, big[:half]), maskedFrame(more, false, big[half:]), maskedFrame(more, true, []byte{0})}, "bytes"},
		"not binary":           {[][]byte{maskedFrame(binary, true, messageOfSize(5)), maskedFrame(text, true, []byte("{}"))}, "not binary"},
		"of an unknown kind":   {[][]byte{maskedFrame(3, true, messageOfSize(5))}, "not binary"},
		"many fields":          {[][]byte{maskedFrame(binary, true, many), maskedFrame(binary, true, many)}, ""},
		"too many fields":      {[][]byte{maskedFrame(binary, true, many), maskedFrame(binary, true, tooMany)}, "fields"},
		"too many in pieces":   {[][]byte{maskedFrame(binary, false, tooMany[:9001]), maskedFrame(ping, true, []byte("ping")), maskedFrame(more, true, tooMany[9001:])}, "fields"},
		"not encoded":          {[][]byte{maskedFrame(binary, true, bytes.Repeat([]byte{0xff}, 20))}, "not valid protobuf"},
	} {
		t.Run(name, func(t *testing.T) {
			sent := bytes.Join(c.frames, nil)
			var reasons []string
			conn := &filteredConn{r: bufio.NewReader(bytes.NewReader(sent)), bytes: rate.NewLimiter(rate.Inf, 0),
				onRefusal: func(refused *signalfilter.Refusal) { reasons = append(reasons, refused.Reason) }}
			var got []byte
			var err error
			for err == nil {
				var n int
				piece := make([]byte, 1+rand.IntN(5000)) // splits frame heads at any position
				n, err = conn.Read(piece)
				got = append(got, piece[:n]...)
			}
			var refused *signalfilter.Refusal
			switch isRefusal := errors.As(err, &refused); {
			case c.refuse != "" && (!isRefusal || len(reasons) != 1 || !strings.Contains(reasons[0], c.refuse)):
				t.Errorf("got error %v and reasons %q, want one reason with %q", err, reasons, c.refuse)
			case c.refuse == "" && (!errors.Is(err, io.EOF) || !bytes.Equal(got, sent) || reasons != nil):
				t.Errorf("read %d of %d bytes, error %v, reasons %q, want all bytes", len(got), len(sent), err, reasons)
			}
		})
	}
}

// All connections of a participant share one limit of bytes.
func TestFilteredConn_SharedByteLimit(t *testing.T) {
	limit := rate.NewLimiter(0, 1000+2*frameBytes)
	read := func(size int) error {
		frame := maskedFrame(websocket.BinaryMessage, true, messageOfSize(size))
		conn := &filteredConn{r: bufio.NewReader(bytes.NewReader(frame)), bytes: limit,
			onRefusal: func(*signalfilter.Refusal) {}}
		_, err := io.ReadAll(conn)
		return err
	}
	if err := read(800); err != nil {
		t.Errorf("first message of 800 bytes: got error %v, want none", err)
	}
	if err := read(800); err == nil {
		t.Error("a second connection is not limited, want a shared limit")
	}
}

// Empty frames carry no bytes, but each takes time.
func TestFilteredConn_EmptyFrames(t *testing.T) {
	for _, opcode := range []byte{websocket.PingMessage, websocket.BinaryMessage} {
		var refused *signalfilter.Refusal
		frames := bytes.Repeat(maskedFrame(opcode, opcode == websocket.PingMessage, nil), 20_000)
		conn := &filteredConn{r: bufio.NewReader(bytes.NewReader(frames)),
			bytes:     signalByteLimit.newBucket(),
			onRefusal: func(r *signalfilter.Refusal) { refused = r }}
		if _, err := io.ReadAll(conn); err == nil || refused == nil || refused.Kind != refusal.SignalRate {
			t.Errorf("20,000 empty frames of type %d: got error %v, refusal %+v, want a refusal by rate", opcode, err, refused)
		}
	}
}
