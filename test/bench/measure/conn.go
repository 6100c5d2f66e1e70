package measure

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// conn is one keep-alive connection. It implements HTTP/1.1 itself, because the load generator
// shares the cores with the server, and net/http's client needs more processor time than most
// of the measured servers.
type conn struct {
	net.Conn
	status    string // expected in every response
	out       []byte
	in        []byte
	latencies []time.Duration
}

// StatusError is the error of a response with an unexpected status.
type StatusError struct{ Status, Response string }

// Error returns a text with the whole response.
func (e *StatusError) Error() string { return "unexpected status: " + e.Response }

// maxResponseBytes is the maximum length of a response; those measured here are far smaller.
const maxResponseBytes = 64 << 10

// These are the header of a response without a known length, and the end of its body. No
// measured response contains that end, because JSON escapes line breaks.
var (
	chunkedHeader = []byte("\r\nTransfer-Encoding: chunked\r\n")
	lastChunk     = []byte("\r\n0\r\n\r\n")
)

func dial(address, status string) (*conn, error) {
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, status: status, in: make([]byte, maxResponseBytes)}, nil
}

// exchange sends the request in c.out and returns the body of the response, which is valid
// until the next exchange. The body is not decoded if it is chunked.
func (c *conn) exchange() ([]byte, error) {
	if _, err := c.Write(c.out); err != nil {
		return nil, err
	}
	received, head, length, chunked := 0, -1, 0, false
	for head < 0 || received < head+length || chunked && !bytes.HasSuffix(c.in[:received], lastChunk) {
		if received == len(c.in) {
			return nil, fmt.Errorf("a response of more than %d bytes", len(c.in))
		}
		n, err := c.Read(c.in[received:])
		if err != nil {
			return nil, err
		}
		received += n
		if head >= 0 {
			continue
		}
		end := bytes.Index(c.in[:received], []byte("\r\n\r\n"))
		if end < 0 {
			continue
		}
		head = end + 4
		if chunked = bytes.Contains(c.in[:head], chunkedHeader); chunked {
			continue
		}
		if length, err = contentLength(c.in[:head]); err != nil {
			return nil, err
		}
	}
	if !chunked && received > head+length {
		return nil, errors.New("a response is longer than its Content-Length")
	}
	if status := string(c.in[len("HTTP/1.1 "):][:3]); status != c.status {
		return nil, &StatusError{Status: status, Response: string(c.in[:received])}
	}
	return c.in[head:received], nil
}

func contentLength(head []byte) (int, error) {
	name := []byte("\r\nContent-Length: ")
	index := bytes.Index(head, name)
	if index < 0 {
		return 0, fmt.Errorf("a response without Content-Length: %s", head)
	}
	value, _, _ := bytes.Cut(head[index+len(name):], []byte("\r\n"))
	return strconv.Atoi(string(value))
}
