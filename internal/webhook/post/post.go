// Package post sends webhooks over HTTP: one request, no redirect, no proxy,
// and never to an address that only this machine can reach. It imports the
// package webhook.
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

	"parley/internal/webhook"
)

const (
	maxResponseBody   = 1 << 10  // how much of an answer is read
	maxResponseHeader = 16 << 10 // and of its header
	maxError          = 300      // bytes of a sentence that is kept
	// idleConnTimeout is how long a connection waits for the next message.
	idleConnTimeout = 30 * time.Second
)

// Client implements webhook.Poster.
type Client struct{ http *http.Client }

// New returns a Client that connects to what guard lets it.
func New(guard Guard) *Client {
	open := &net.Dialer{Timeout: 10 * time.Second}
	// The address is judged when it is connected to, and not when the name is
	// looked up: a name may lead elsewhere by then.
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
			Proxy: nil, // not that of the environment either: it would look names up past the guard
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				host, _, err := net.SplitHostPort(address)
				if err == nil && guard.allowsHost(host) {
					return open.DialContext(ctx, network, address)
				}
				return guarded.DialContext(ctx, network, address)
			},
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			DisableCompression:     true, // a kilobyte is a kilobyte
			MaxIdleConns:           256,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        idleConnTimeout,
			MaxResponseHeaderBytes: maxResponseHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type blockedAddressError struct{ sentence string }

func (e *blockedAddressError) Error() string { return e.sentence }

// Post implements webhook.Poster.
func (c *Client) Post(ctx context.Context, m webhook.Message) webhook.Response {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return webhook.Response{Error: "the URL cannot be called"}
	}
	request.Header = m.Header
	response, err := c.http.Do(request)
	if err != nil {
		return webhook.Response{Error: errorText(err)}
	}
	// A body that goes on is not drained: to close it closes the connection.
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxResponseBody)) // what there is of it: the status has said what counts
	if len(text) == maxResponseBody {
		_, _ = response.Body.Read(make([]byte, 1)) // the end, if this was all, so that the connection can be kept
	}
	return webhook.Response{Status: response.StatusCode, Body: sanitize(string(text)), RetryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now())}
}

// Close lets go of the connections that wait.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// errorText says in a few words why there was no answer.
func errorText(err error) string {
	var (
		refused *blockedAddressError
		dns     *net.DNSError
		badTLS  *tls.CertificateVerificationError
		around  *url.Error // repeats the URL
	)
	switch {
	case errors.As(err, &refused):
		return refused.sentence
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
	case errors.As(err, &around):
		err = around.Err
	}
	text := sanitize(err.Error())
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "")
	}
	return text
}

// sanitize makes text that every database takes.
func sanitize(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
