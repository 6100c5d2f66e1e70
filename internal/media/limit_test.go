package media

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/gorilla/websocket"
)

// frame builds a masked frame as a browser sends it.
func frame(opcode byte, final bool, size int) []byte {
	head := []byte{opcode, 0x80}
	if final {
		head[0] |= 0x80
	}
	switch {
	case size < 126:
		head[1] |= byte(size)
	case size < 1<<16:
		head[1] |= 126
		head = append(head, byte(size>>8), byte(size))
	default:
		head[1] |= 127
		head = append(head, 0, 0, 0, 0, byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
	}
	return append(append(head, 1, 2, 3, 4), make([]byte, size)...)
}

func TestFramesPassUntilAMessageIsTooLong(t *testing.T) {
	const text, binary, more, ping = websocket.TextMessage, websocket.BinaryMessage, 0, websocket.PingMessage
	for name, c := range map[string]struct {
		frames [][]byte
		refuse bool
	}{
		"small ones":           {[][]byte{frame(binary, true, 0), frame(text, true, 5), frame(ping, true, 125), frame(binary, true, 126), frame(binary, true, 70_000)}, false},
		"as long as it may be": {[][]byte{frame(binary, true, maxMessage), frame(binary, true, maxMessage)}, false},
		"too long":             {[][]byte{frame(binary, true, 3), frame(binary, true, maxMessage+1)}, true},
		"in pieces":            {[][]byte{frame(binary, false, maxMessage/2), frame(ping, true, 9), frame(more, true, maxMessage/2)}, false},
		"too long in pieces":   {[][]byte{frame(binary, false, maxMessage/2), frame(more, false, maxMessage/2), frame(more, true, 1)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			sent := bytes.Join(c.frames, nil)
			conn := &limitedConn{r: bufio.NewReader(bytes.NewReader(sent))}
			var got []byte
			var err error
			for err == nil {
				var n int
				piece := make([]byte, 1+rand.IntN(5000)) // a head may be cut anywhere
				n, err = conn.Read(piece)
				got = append(got, piece[:n]...)
			}
			switch {
			case c.refuse && !errors.Is(err, errMessageTooLong):
				t.Errorf("not refused: %v", err)
			case !c.refuse && (!errors.Is(err, io.EOF) || !bytes.Equal(got, sent)):
				t.Errorf("%d of %d bytes came through: %v", len(got), len(sent), err)
			}
		})
	}
}
