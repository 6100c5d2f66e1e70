// Package edge sorts the connections of the port for HTTPS by their first bytes, so that this port
// also serves HTTP and the media of participants whose network blocks UDP.
package edge

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"time"

	"parley/internal/network"
)

// Kind is what a connection carries.
type Kind string

// The kinds of connections. The edge closes a connection of the kind Other: it sent an unknown
// protocol or too few bytes in time, its TLS handshake failed, or it was a check of an ACME authority.
const (
	HTTPS Kind = "https"
	HTTP  Kind = "http"
	ICE   Kind = "ice_tcp" // media: ICE over TCP, with the framing of RFC 4571
	// TURN is media through the TURN server, and TURNS the same over TLS.
	TURN  Kind = "turn_tcp"
	TURNS Kind = "turn_tls"
	Other Kind = "other"
)

// firstBytesTimeout is the time that a connection has for its first bytes. With TLS it then has the
// same time for the handshake and the first decrypted bytes.
const firstBytesTimeout = 10 * time.Second

// The protocols of ALPN (RFC 7301).
const (
	http2 = "h2"
	http1 = "http/1.1"
	// stunTURN is TURN over TLS (RFC 7443). Browsers send no protocol with it.
	stunTURN = "stun.turn"
)

// Edge sorts the connections of one listener.
type Edge struct {
	listener               net.Listener
	tls                    *tls.Config
	count                  func(Kind)
	log                    *slog.Logger
	firstBytesTimeout      time.Duration
	ctx                    context.Context // ends with Close
	cancel                 context.CancelFunc
	https, http, ice, turn *queue
}

// New returns an Edge for the connections of a TCP listener, which browsers reach at publicPort. By
// ALPN it offers the protocols of HTTP and TURN, and then those of conf. It calls count once for
// each connection, also for those that it closes.
func New(l net.Listener, publicPort int, conf *tls.Config, count func(Kind), log *slog.Logger) *Edge {
	conf = conf.Clone()
	conf.NextProtos = append([]string{http2, http1, stunTURN}, conf.NextProtos...)
	announced := *l.Addr().(*net.TCPAddr)
	announced.Port = publicPort
	e := &Edge{
		listener:          l,
		tls:               conf,
		count:             count,
		log:               log,
		firstBytesTimeout: firstBytesTimeout,
		https:             newQueue(l.Addr()),
		http:              newQueue(l.Addr()),
		ice:               newQueue(&announced),
		turn:              newQueue(l.Addr()),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// HTTPS returns the connections with HTTP over TLS. Those of HTTP/2 are *tls.Conn, as net/http
// requires it.
func (e *Edge) HTTPS() net.Listener { return e.https }

// HTTP returns the connections with HTTP that is not encrypted.
func (e *Edge) HTTP() net.Listener { return e.http }

// ICE returns the connections with media. The address of the listener has the public port.
func (e *Edge) ICE() net.Listener { return e.ice }

// TURN returns the connections for the TURN server.
func (e *Edge) TURN() net.Listener { return e.turn }

// Serve accepts connections until Close. It returns the error of the listener if it fails before. As
// net/http, it waits after an error that passes, such as too many open files.
func (e *Edge) Serve() error {
	failed := func(err error) { e.log.Warn("accept a connection failed, trying again", "error", err) }
	for {
		conn, err := network.Accept(e.ctx, e.listener, failed)
		switch {
		case err == nil:
			go e.sort(conn)
		case e.ctx.Err() != nil:
			return nil
		default:
			return err
		}
	}
}

// Close closes the listener, and the connections that are not sorted yet.
func (e *Edge) Close() error {
	e.cancel()
	return e.listener.Close()
}

// sort hands a connection over to the listener of its kind, or closes it.
func (e *Edge) sort(conn net.Conn) {
	keepOpen := context.AfterFunc(e.ctx, func() { _ = conn.Close() })
	defer keepOpen()
	sorted, kind := e.identify(conn)
	e.count(kind)
	var q *queue
	switch kind {
	case HTTPS:
		q = e.https
	case HTTP:
		q = e.http
	case ICE:
		q = e.ice
	case TURN, TURNS:
		q = e.turn
	case Other:
		_ = conn.Close()
		return
	}
	if conn.SetDeadline(time.Time{}) != nil || !keepOpen() {
		_ = conn.Close()
		return
	}
	q.put(e.ctx, sorted)
}

// identify reads the first bytes of a connection, and accepts the handshake of TLS. It returns the
// connection with these bytes, or decrypted.
func (e *Edge) identify(conn net.Conn) (net.Conn, Kind) {
	if err := conn.SetReadDeadline(time.Now().Add(e.firstBytesTimeout)); err != nil {
		return nil, Other
	}
	plain := &peekedConn{Conn: conn}
	protocol, err := plain.peek()
	switch {
	case err != nil:
		return nil, Other
	case protocol == protocolHTTP:
		return plain, HTTP
	case protocol == protocolICE:
		return plain, ICE
	case protocol == protocolTURN:
		return plain, TURN
	}
	if err := conn.SetDeadline(time.Now().Add(e.firstBytesTimeout)); err != nil {
		return nil, Other
	}
	secure := tls.Server(plain, e.tls)
	if err := secure.HandshakeContext(e.ctx); err != nil {
		return nil, Other
	}
	switch secure.ConnectionState().NegotiatedProtocol {
	case http2, http1:
		return secure, HTTPS
	case "", stunTURN:
		inner := &peekedConn{Conn: secure}
		switch protocol, err := inner.peek(); {
		case err != nil:
		case protocol == protocolHTTP:
			return inner, HTTPS
		case protocol == protocolTURN:
			return inner, TURNS
		}
	}
	return nil, Other // also after the challenge of ACME, which is over with the handshake
}

// queue is a listener for the connections of one kind.
type queue struct {
	address net.Addr
	conns   chan net.Conn
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
}

func newQueue(address net.Addr) *queue {
	ctx, cancel := context.WithCancel(context.Background())
	return &queue{address: address, conns: make(chan net.Conn), ctx: ctx, cancel: cancel}
}

// put hands a connection to Accept, or closes it if the queue is closed or ctx ends before.
func (q *queue) put(ctx context.Context, conn net.Conn) {
	select {
	case q.conns <- conn:
	case <-ctx.Done():
		_ = conn.Close()
	case <-q.ctx.Done():
		_ = conn.Close()
	}
}

// Accept returns the next connection.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case conn := <-q.conns:
		return conn, nil
	case <-q.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close ends Accept. The other queues of the edge stay open.
func (q *queue) Close() error {
	q.cancel()
	return nil
}

// Addr returns the address at which the connections arrive.
func (q *queue) Addr() net.Addr { return q.address }

var errUnknownProtocol = errors.New("edge: the first bytes are those of no known protocol")
