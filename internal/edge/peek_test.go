package edge

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"

	"github.com/pion/stun/v3"

	"parley/internal/testkit"
)

// parsers accept what begins with a complete message of a protocol. They are those of other programs, and know
// nothing of first bytes.
var parsers = map[protocol]func([]byte) bool{
	protocolTLS:  isClientHello,
	protocolHTTP: isRequest,
	protocolTURN: isSTUN,
	protocolICE: func(b []byte) bool { // RFC 4571: a length, and a packet of that length
		const maxPacket = 1500
		if len(b) < 2 {
			return false
		}
		n, rest := int(binary.BigEndian.Uint16(b)), b[2:]
		return n <= min(maxPacket, len(rest)) && isSTUN(rest[:n])
	},
}

func isClientHello(b []byte) bool {
	errHello := errors.New("hello")
	conn := &writeless{Reader: bytes.NewReader(b)}
	err := tls.Server(conn, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return nil, errHello
	}}).HandshakeContext(context.Background())
	return errors.Is(err, errHello)
}

// writeless is a connection that discards what is written.
type writeless struct {
	net.Conn
	io.Reader
}

func (w *writeless) Read(b []byte) (int, error)  { return w.Reader.Read(b) }
func (w *writeless) Write(b []byte) (int, error) { return len(b), nil }
func (w *writeless) Close() error                { return nil }

func isRequest(b []byte) bool {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(b)))
	return err == nil && slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS",
		"TRACE", "PRI"}, r.Method)
}

func isSTUN(b []byte) bool {
	const maxMethod = stun.MethodConnectionAttempt // the largest that is registered for TURN
	m := &stun.Message{Raw: b}
	return m.Decode() == nil && m.Type.Method <= maxMethod
}

// A complete message of a protocol is recognized as that protocol. What is recognized has the mark of its protocol,
// and no byte of any connection is lost.
func FuzzPeek(f *testing.F) {
	allocate := stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodAllocate, stun.ClassRequest)).Raw
	for want, message := range map[protocol][]byte{
		protocolTLS:  clientHello(f),
		protocolHTTP: []byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
		protocolTURN: allocate,
		protocolICE:  append([]byte{0, byte(len(stunMessage))}, stunMessage...),
	} {
		if !parsers[want](message) {
			f.Fatalf("protocol %d: got %q refused by its parser, want it accepted", want, message)
		}
		f.Add(message)
	}
	for _, seed := range [][]byte{stunMessage, []byte("GET /"), {tlsHandshake}, {0, 0, 0, 0, 0, 0, 0, 0, 0}} {
		f.Add(seed)
	}
	cookie := []byte{0x21, 0x12, 0xa4, 0x42}
	f.Fuzz(func(t *testing.T, b []byte) {
		server, client := net.Pipe()
		go func() {
			_, _ = client.Write(b)
			_ = client.Close()
		}()
		c := &peekedConn{Conn: server}
		got, err := c.peek()
		rest, _ := io.ReadAll(c)
		_ = server.Close()
		if err == nil && !bytes.Equal(rest, b) {
			t.Errorf("protocol %d of %q: got the bytes %q after it, want all", got, b, rest)
		}
		for want, parses := range parsers {
			if parses(b) && (err != nil || got != want) {
				t.Errorf("got protocol %d, %v of %q, want %d", got, err, b, want)
			}
		}
		if err != nil {
			return
		}
		hasMark := map[protocol]bool{
			protocolTLS:  bytes.HasPrefix(b, []byte{22}), // a record of the type handshake
			protocolHTTP: bytes.ContainsAny(b[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
			protocolTURN: len(b) >= 8 && bytes.HasPrefix(b[4:], cookie),
			protocolICE:  len(b) >= 10 && bytes.HasPrefix(b[6:], cookie),
		}
		if !hasMark[got] {
			t.Errorf("got protocol %d of %q, want it only with its mark", got, b)
		}
	})
}

// clientHello returns the first message of a TLS client.
func clientHello(t testing.TB) []byte {
	t.Helper()
	var sent testkit.Buffer
	client := tls.Client(&recording{sent: &sent}, &tls.Config{ServerName: "localhost"})
	if err := client.HandshakeContext(context.Background()); err == nil {
		t.Fatal("handshake without a server: got no error, want one")
	}
	return []byte(sent.String())
}

// recording is a connection that records what is written, and ends before an answer.
type recording struct {
	net.Conn
	sent *testkit.Buffer
}

func (r *recording) Read([]byte) (int, error)    { return 0, io.EOF }
func (r *recording) Write(b []byte) (int, error) { return r.sent.Write(b) }
func (r *recording) Close() error                { return nil }
