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
		if b := protowire.AppendBytes(protowire.AppendTag(nil, 100, protowire.BytesType), make([]byte, content)); len(b) == size {
			return b
		}
	}
	panic("no message has this size")
}

// syncStateWithTracks returns an encoded request of a participant who says that they
// publish n tracks, each of which is empty: two bytes, and one field.
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
	big, many, tooMany := messageOfSize(maxMessageBytes), syncStateWithTracks(t, signalfilter.MaxFields-1), syncStateWithTracks(t, signalfilter.MaxFields)
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
		"not encoded":          {[][]byte{maskedFrame(binary, true, bytes.Repeat([]byte{0xff}, 20))}, "not encoded"},
	} {
		t.Run(name, func(t *testing.T) {
			sent := bytes.Join(c.frames, nil)
			var told []string
			conn := &filteredConn{r: bufio.NewReader(bytes.NewReader(sent)), bytes: rate.NewLimiter(rate.Inf, 0),
				onRefusal: func(no *signalfilter.Refusal) { told = append(told, no.Reason) }}
			var got []byte
			var err error
			for err == nil {
				var n int
				piece := make([]byte, 1+rand.IntN(5000)) // a head may be cut anywhere
				n, err = conn.Read(piece)
				got = append(got, piece[:n]...)
			}
			var no *signalfilter.Refusal
			switch refused := errors.As(err, &no); {
			case c.refuse != "" && (!refused || len(told) != 1 || !strings.Contains(told[0], c.refuse)):
				t.Errorf("not refused for %q: %v, told %q", c.refuse, err, told)
			case c.refuse == "" && (!errors.Is(err, io.EOF) || !bytes.Equal(got, sent) || told != nil):
				t.Errorf("%d of %d bytes came through: %v, told %q", len(got), len(sent), err, told)
			}
		})
	}
}

// Whoever sends more bytes than the limit of all their connections is refused.
func TestFilteredConn_SharedByteLimit(t *testing.T) {
	limit := rate.NewLimiter(0, 1000)
	read := func(size int) error {
		conn := &filteredConn{r: bufio.NewReader(bytes.NewReader(maskedFrame(websocket.BinaryMessage, true, messageOfSize(size)))), bytes: limit,
			onRefusal: func(*signalfilter.Refusal) {}}
		_, err := io.ReadAll(conn)
		return err
	}
	if err := read(800); err != nil {
		t.Errorf("the first message: %v", err)
	}
	if err := read(800); err == nil {
		t.Error("a second connection has a limit of its own")
	}
}
