// Package post sends webhooks over HTTP: one request without redirects or
// proxies, and only to addresses that its Guard allows. It imports the package
// sender.
package post

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"parley/internal/webhook/sender"
)

const (
	maxResponseBody   = 1 << 10  // bytes of the response body that are read
	maxResponseHeader = 16 << 10 // bytes of the response header
	maxError          = 300      // bytes of an error text
	// idleConnTimeout is how long an idle connection is kept for the next message.
	idleConnTimeout = 30 * time.Second
)

// Client sends webhooks. It is safe for concurrent use.
type Client struct{ http *http.Client }

var _ sender.Poster = (*Client)(nil)

// New returns a Client that connects only to addresses that guard allows.
func New(guard Guard) *Client {
	unguarded := &net.Dialer{Timeout: 10 * time.Second}
	// The address is checked at the connection and not at the name lookup, because
	// a name may resolve to another address in between (DNS rebinding).
	guarded := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if err := guard.check(a.Addr()); err != nil {
			return &blockedAddressError{err.Error()}
		}
		return nil
	}}
	return &Client{http: &http.Client{
		Transport: &http.Transport{
			Proxy: nil, // a proxy would resolve names itself and so bypass the guard
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				host, _, err := net.SplitHostPort(address)
				if err == nil && guard.allowsHost(host) {
					return unguarded.DialContext(ctx, network, address)
				}
				return guarded.DialContext(ctx, network, address)
			},
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			DisableCompression:     true, // so that maxResponseBody bounds the bytes on the wire
			MaxIdleConns:           256,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        idleConnTimeout,
			MaxResponseHeaderBytes: maxResponseHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type blockedAddressError struct{ reason string }

func (e *blockedAddressError) Error() string { return e.reason }

// Post sends a message. Failures are in Error of the Response.
func (c *Client) Post(ctx context.Context, m sender.Message) sender.Response {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return sender.Response{Error: "the URL cannot be called"}
	}
	request.Header = m.Header
	response, err := c.http.Do(request)
	if err != nil {
		return sender.Response{Error: errorText(err)}
	}
	// A longer body is not drained; closing it closes the connection.
	defer func() { _ = response.Body.Close() }()
	// A read error is ignored, because the status alone decides the outcome.
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxResponseBody))
	if len(text) == maxResponseBody {
		// Reading EOF lets the transport reuse the connection.
		_, _ = response.Body.Read(make([]byte, 1))
	}
	return sender.Response{Status: response.StatusCode, Body: sanitize(string(text)),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now())}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// errorText returns a short reason why there was no response.
func errorText(err error) string {
	var (
		blocked *blockedAddressError
		dns     *net.DNSError
		badTLS  *tls.CertificateVerificationError
		wrapper *url.Error // its text repeats the URL
	)
	switch {
	case errors.As(err, &blocked):
		return blocked.reason
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer within 15 seconds"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host name has no address"
	case errors.As(err, &badTLS):
		err = badTLS
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection was closed without an answer"
	case errors.As(err, &wrapper):
		err = wrapper.Err
	}
	text := sanitize(err.Error())
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "")
	}
	return text
}

// sanitize returns text that every database accepts: valid UTF-8 without NUL.
func sanitize(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// retryAfter parses the value of the header Retry-After: seconds or an HTTP
// date. It returns 0 if the value is neither.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
