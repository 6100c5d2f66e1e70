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

// frame builds a masked frame as a browser sends it.
func frame(opcode byte, final bool, payload []byte) []byte {
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

// sized returns an encoded message of a size with one field.
func sized(size int) []byte {
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

// crowded returns an encoded request of a participant who says that they
// publish n tracks, each of which is empty: two bytes, and one field.
func crowded(t *testing.T, n int) []byte {
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

func TestFramesPassUntilAMessageIsRefused(t *testing.T) {
	const text, binary, more, ping = websocket.TextMessage, websocket.BinaryMessage, 0, websocket.PingMessage
	big, many, tooMany := sized(maxMessage), crowded(t, signalfilter.MaxParts-1), crowded(t, signalfilter.MaxParts)
	half := len(big) / 2
	for name, c := range map[string]struct {
		frames [][]byte
		refuse string // part of the reason; empty: all pass
	}{
		"small ones": {[][]byte{frame(binary, true, nil), frame(ping, true, make([]byte, 125)),
			frame(binary, true, sized(126)), frame(binary, true, sized(70_000))}, ""},
		"as long as it may be": {[][]byte{frame(binary, true, big), frame(binary, true, big)}, ""},
		"too long":             {[][]byte{frame(binary, true, sized(5)), frame(binary, true, sized(maxMessage+1))}, "bytes"},
		"in pieces":            {[][]byte{frame(binary, false, big[:half]), frame(ping, true, []byte("ping")), frame(more, true, big[half:])}, ""},
		"too long in pieces":   {[][]byte{frame(binary, false, big[:half]), frame(more, false, big[half:]), frame(more, true, []byte{0})}, "bytes"},
		"not binary":           {[][]byte{frame(binary, true, sized(5)), frame(text, true, []byte("{}"))}, "not binary"},
		"of an unknown kind":   {[][]byte{frame(3, true, sized(5))}, "not binary"},
		"many fields":          {[][]byte{frame(binary, true, many), frame(binary, true, many)}, ""},
		"too many fields":      {[][]byte{frame(binary, true, many), frame(binary, true, tooMany)}, "fields"},
		"too many in pieces":   {[][]byte{frame(binary, false, tooMany[:9001]), frame(ping, true, []byte("ping")), frame(more, true, tooMany[9001:])}, "fields"},
		"not encoded":          {[][]byte{frame(binary, true, bytes.Repeat([]byte{0xff}, 20))}, "not encoded"},
	} {
		t.Run(name, func(t *testing.T) {
			sent := bytes.Join(c.frames, nil)
			var told []string
			conn := &limitedConn{r: bufio.NewReader(bytes.NewReader(sent)), bytes: rate.NewLimiter(rate.Inf, 0),
				refused: func(no *signalfilter.Refusal) { told = append(told, no.Reason) }}
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
func TestBytesOfAllConnections(t *testing.T) {
	limit := rate.NewLimiter(0, 1000)
	read := func(size int) error {
		conn := &limitedConn{r: bufio.NewReader(bytes.NewReader(frame(websocket.BinaryMessage, true, sized(size)))), bytes: limit,
			refused: func(*signalfilter.Refusal) {}}
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
