package measure

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// conn is one keep-alive connection. HTTP/1.1 is spoken by hand: a generator
// that runs beside the server has to leave it the cores, and net/http's client
// costs more than most of the servers measured here.
type conn struct {
	net.Conn
	status    string // that every answer has to have
	out       []byte
	in        []byte
	latencies []time.Duration
}

// StatusError is an answer with another status than it has to have.
type StatusError struct{ Status, Response string }

// Error implements error.
func (e *StatusError) Error() string { return "another status than expected: " + e.Response }

// Largest answer taken; those measured here are far smaller.
const maxResponseBytes = 16 << 10

func dial(address, status string) (*conn, error) {
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, status: status, in: make([]byte, maxResponseBytes)}, nil
}

// exchange sends what stands in c.out and returns the body of the answer,
// which is valid until the next exchange.
func (c *conn) exchange() ([]byte, error) {
	if _, err := c.Write(c.out); err != nil {
		return nil, err
	}
	have, head, length := 0, -1, 0
	for head < 0 || have < head+length {
		if have == len(c.in) {
			return nil, fmt.Errorf("an answer of more than %d bytes", len(c.in))
		}
		n, err := c.Read(c.in[have:])
		if err != nil {
			return nil, err
		}
		have += n
		if head >= 0 {
			continue
		}
		end := bytes.Index(c.in[:have], []byte("\r\n\r\n"))
		if end < 0 {
			continue
		}
		head = end + 4
		if length, err = contentLength(c.in[:head]); err != nil {
			return nil, err
		}
	}
	if have > head+length {
		return nil, errors.New("more bytes than the answer said it has")
	}
	if status := string(c.in[len("HTTP/1.1 "):][:3]); status != c.status {
		return nil, &StatusError{Status: status, Response: string(c.in[:have])}
	}
	return c.in[head:have], nil
}

func contentLength(head []byte) (int, error) {
	name := []byte("\r\nContent-Length: ")
	at := bytes.Index(head, name)
	if at < 0 {
		return 0, fmt.Errorf("an answer without Content-Length: %s", head)
	}
	value, _, _ := bytes.Cut(head[at+len(name):], []byte("\r\n"))
	return strconv.Atoi(string(value))
}
